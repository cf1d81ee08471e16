package node

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// letter is the payload of the jobs here. Its Validate is the only check of its field.
type letter struct {
	To string `json:"to"`
}

func (letter) JobType() string { return "letter" }

func (l letter) Validate() error {
	if l.To == "nobody" {
		return rota.Invalidf("to", "is nobody")
	}
	return nil
}

// endOf waits until an execution has ended and returns its last attempt.
func endOf(t *testing.T, c *rota.Client, id rota.ID) *rota.Job {
	t.Helper()
	for end := time.Now().Add(waitMax); ; time.Sleep(5 * time.Millisecond) {
		attempts, err := c.Execution(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if last := attempts[len(attempts)-1]; last.Ended() {
			return last
		}
		if time.Now().After(end) {
			t.Fatal("the job does not end")
		}
	}
}

func TestNodeGivesItsClient(t *testing.T) {
	config := Config{Data: t.TempDir(), SQL: "none", Register: func(reg *engine.Registry) {
		engine.Handle(reg, func(ctx context.Context, l letter) error { return engine.Result(ctx, l.To) })
	}}
	var early *rota.Job
	n := startWith(t, config, func(n *Node) { // before Run
		job, err := n.Client().Enqueue(t.Context(), letter{"ada"})
		if err != nil {
			t.Fatal(err)
		}
		early = job
	})
	done := endOf(t, n.Client(), early.ID)
	if done.State() != rota.StateCompleted || string(done.Run.Result) != `"ada"` || done.CreatedBy != "admin" {
		t.Errorf("the job is %s by %s: %s", done.State(), done.CreatedBy, done.Run.Result)
	}
	_, err := n.Client().RunAgain(t.Context(), early.ID, rota.SetParams(letter{"nobody"}))
	var invalid *rota.Error
	if !errors.As(err, &invalid) || invalid.Field != "params.to" {
		t.Errorf("the client does not know the Go type of the handler: %v", err)
	}
}

// openQueue runs an embedded queue and returns its client and its engine.
func openQueue(t *testing.T) (*rota.Client, *engine.Engine) {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "app.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	c, reg := rota.New(store), engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, l letter) error { return engine.Result(ctx, l.To) })
	e := engine.New(c, reg, engine.Config{Workers: 2, Logger: quiet})
	ctx, stop := context.WithCancel(context.Background())
	running := startTask(func() error { return e.Run(ctx) })
	t.Cleanup(func() { stop(); <-running.done })
	return c, e
}

// serveQueue starts Serve and returns its address.
func serveQueue(t *testing.T, ctx context.Context, c *rota.Client, e *engine.Engine, config ServeConfig) (string, *task) {
	t.Helper()
	ready := make(chan string, 1)
	config.HTTP, config.Logger, config.OnReady = "127.0.0.1:0", quiet, func(address string) { ready <- address }
	serving := startTask(func() error { return Serve(ctx, c, e, config) })
	select {
	case address := <-ready:
		return address, serving
	case <-serving.done:
		t.Fatal("Serve ended:", serving.err)
	case <-time.After(waitMax):
		t.Fatal("Serve does not become ready")
	}
	return "", nil
}

func TestServeGivesEmbeddedQueueToRemoteClients(t *testing.T) {
	c, e := openQueue(t)
	data := filepath.Join(t.TempDir(), "app-data")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	address, serving := serveQueue(t, ctx, c, e, ServeConfig{Data: data})

	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(data, "admin.token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token file: %v, %v", info, err)
	}
	if text, err := os.ReadFile(filepath.Join(data, "rota.addr")); err != nil || strings.TrimSpace(string(text)) != `{"http":"`+address+`"}` {
		t.Errorf("the address file holds %s, %v", text, err)
	}
	remote, err := client.Dial("http://"+address, strings.TrimSpace(string(token)))
	if err != nil {
		t.Fatal(err)
	}
	job, err := remote.Enqueue(t.Context(), letter{"ada"})
	if err != nil {
		t.Fatal(err)
	}
	if done := endOf(t, remote, job.ID); done.State() != rota.StateCompleted || done.CreatedBy != "admin" {
		t.Errorf("the job is %s by %s", done.State(), done.CreatedBy)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = "evil.example"
	if response, err := http.DefaultClient.Do(r); err != nil || response.Body.Close() != nil || response.StatusCode != http.StatusMisdirectedRequest {
		t.Errorf("a foreign host is answered with %v, %v", response, err)
	}
	if err := Serve(t.Context(), c, e, ServeConfig{Data: data, HTTP: "127.0.0.1:0", Logger: quiet}); rota.CodeOf(err) != rota.Busy {
		t.Errorf("a second server in the directory: %v", err)
	}

	stop()
	<-serving.done
	if serving.err != nil {
		t.Error(serving.err)
	}
	if _, err := os.Stat(filepath.Join(data, "rota.addr")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the address file stays: %v", err)
	}
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the address is still served")
	}
	again, stopAgain := context.WithCancel(t.Context())
	_, serving = serveQueue(t, again, c, nil, ServeConfig{Data: data}) // without an engine, with the same token
	stopAgain()
	<-serving.done
	if kept, err := os.ReadFile(filepath.Join(data, "admin.token")); err != nil || string(kept) != string(token) {
		t.Errorf("the token changed: %v", err)
	}
}

// An event stream has no end, and does not delay the end of Serve.
func TestServeEndsWithOpenStreams(t *testing.T) {
	c, e := openQueue(t)
	data := t.TempDir()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	address, serving := serveQueue(t, ctx, c, e, ServeConfig{Data: data})
	token, err := os.ReadFile(filepath.Join(data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	response, err := http.DefaultClient.Do(r)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response, err)
	}
	defer response.Body.Close()
	stop()
	select {
	case <-serving.done:
	case <-time.After(waitMax):
		t.Fatal("Serve does not end")
	}
	if serving.err != nil {
		t.Error(serving.err)
	}
}

func TestServeReportsAddressInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	c, e := openQueue(t)
	err = Serve(t.Context(), c, e, ServeConfig{Data: t.TempDir(), HTTP: taken.Addr().String(), Logger: quiet})
	if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "ServeConfig.HTTP") {
		t.Errorf("the address is in use: %v", err)
	}
}
