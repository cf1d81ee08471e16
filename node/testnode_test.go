package node

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// waitMax is how long a test waits for something that normally takes milliseconds.
const waitMax = 20 * time.Second

// testNode is a running node with a client of its API.
type testNode struct {
	*Node
	t    *testing.T
	stop context.CancelFunc
	task *task
}

// start runs a node in a directory, on a free port.
func start(t *testing.T, config Config) *testNode {
	t.Helper()
	return startWith(t, config, func(*Node) {})
}

// startWith is start with a function that changes the node before it runs.
func startWith(t *testing.T, config Config, before func(*Node)) *testNode {
	t.Helper()
	config.HTTP, config.Logger = "127.0.0.1:0", quiet
	n, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	before(n)
	ctx, stop := context.WithCancel(context.Background())
	l := &testNode{n, t, stop, startTask(func() error { return n.Run(ctx) })}
	t.Cleanup(func() {
		stop()
		n.Cut()
		l.wait()
	})
	select {
	case <-n.Ready():
	case <-l.task.done:
		t.Fatal("the node ended before it was ready:", l.task.err)
	case <-time.After(waitMax):
		t.Fatal("the node does not become ready")
	}
	return l
}

// wait waits until the node has ended and returns its error.
func (l *testNode) wait() error {
	l.t.Helper()
	select {
	case <-l.task.done:
		return l.task.err
	case <-time.After(waitMax):
		l.t.Fatal("the node does not end")
		return nil
	}
}

// stopCleanly stops the node and fails the test if it returns an error.
func (l *testNode) stopCleanly() {
	l.t.Helper()
	l.stop()
	if err := l.wait(); err != nil {
		l.t.Fatal(err)
	}
}

// request sends a request and reads the whole response.
func (l *testNode) request(method, path, body string) (*http.Response, string) {
	l.t.Helper()
	response := l.open(method, path, body)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		l.t.Fatal(err)
	}
	return response, string(text)
}

func (l *testNode) open(method, path, body string) *http.Response {
	l.t.Helper()
	request, err := http.NewRequestWithContext(l.t.Context(), method, "http://"+l.Addresses()["http"]+path, bytes.NewBufferString(body))
	if err != nil {
		l.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		l.t.Fatal(err)
	}
	return response
}

// enqueue enqueues a job over HTTP.
func (l *testNode) enqueue(body string) rota.ID {
	l.t.Helper()
	response, text := l.request("POST", "/api/v1/jobs", body)
	var job struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(text), &job); response.StatusCode != http.StatusCreated || err != nil {
		l.t.Fatalf("%d %s", response.StatusCode, text)
	}
	id, err := rota.ParseID(job.ID)
	if err != nil {
		l.t.Fatal(err)
	}
	return id
}

// await waits for an event of a job.
func (l *testNode) await(kind rota.EventKind, id rota.ID) rota.Event {
	l.t.Helper()
	late := time.After(waitMax)
	for seq := uint64(0); ; {
		changed := l.events.Changed()
		entries, _ := l.events.Since(seq)
		for _, entry := range entries {
			seq = entry.Seq
			if entry.Kind == kind && entry.ExecutionID == id {
				return entry.Event
			}
		}
		select {
		case <-changed:
		case <-late:
			l.t.Fatalf("no %s of %s", kind, id)
		}
	}
}

// status is the status code of a GET request.
func (l *testNode) status(path string) int {
	l.t.Helper()
	response, _ := l.request("GET", path, "")
	return response.StatusCode
}

// metric is the value of one metric, as /metrics shows it.
func (l *testNode) metric(name string) string {
	l.t.Helper()
	_, text := l.request("GET", "/metrics", "")
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, name+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return "missing"
}
