package node

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	zombie "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// talk registers a handler that writes to its log.
func talk(reg *engine.Registry) {
	reg.Func("talk", rota.TypeSpec{}, func(ctx context.Context, job *rota.Job) error {
		engine.Log(ctx).Info("hello from the handler", "job", job.ID.String())
		return engine.Result(ctx, map[string]int{"answer": 42})
	})
}

// gated registers a handler that signals begun, and returns when release is closed
// or its context ends.
func gated(begun, release chan struct{}) func(*engine.Registry) {
	return func(reg *engine.Registry) {
		reg.Func("gated", rota.TypeSpec{}, func(ctx context.Context, _ *rota.Job) error {
			begun <- struct{}{}
			select {
			case <-release:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}
}

// jobIn reads the attempts of a job from a store that no node has open.
func jobIn(t *testing.T, data string, id rota.ID) []*rota.Job {
	t.Helper()
	store, err := sqlite.OpenWith(filepath.Join(data, "rota.db"), sqlite.Config{ReadOnly: true, Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	for v, err := range store.Verify(t.Context()) {
		t.Errorf("the store violates %s: %s %v", v.Check, v.Detail, err)
	}
	attempts, err := store.Execution(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return attempts
}

func TestJobRunIsVisibleInAPIMetricsAndLog(t *testing.T) {
	n := start(t, Config{Data: filepath.Join(t.TempDir(), "data"), Register: talk})
	if n.status("/healthz") != 200 || n.status("/readyz") != 200 {
		t.Error("/readyz does not report that the node is ready")
	}
	var addresses map[string]string
	text, err := os.ReadFile(n.path(addrName))
	if err != nil || json.Unmarshal(text, &addresses) != nil || addresses["http"] != n.Addresses()["http"] || addresses["sql"] != n.Addresses()["sql"] || len(addresses) != 2 {
		t.Errorf("rota.addr is %q, %v", text, err)
	}

	id := n.enqueue(`{"type": "talk"}`)
	n.await(rota.EventJobCompleted, id)
	job, err := n.store.Job(t.Context(), id)
	if err != nil || string(job.Run.Result) != `{"answer":42}` || job.Run.LogPath != n.logs.Path(job) {
		t.Errorf("%+v, %v", job.Run, err)
	}
	if response, text := n.request("GET", "/api/v1/jobs/"+id.String()+"/log", ""); response.StatusCode != 200 || !strings.Contains(text, "hello from the handler") {
		t.Errorf("the log of the job: %d %s", response.StatusCode, text)
	}
	for name, want := range map[string]string{
		`rota_enqueued_total{type="talk"}`: "1", `rota_started_total{type="talk"}`: "1",
		`rota_finished_total{outcome="completed",type="talk"}`: "1", "job_run_latency_ms_count": "1", "rota_pool_slots": "16",
	} {
		if got := n.metric(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if n.metric("rota_store_apply_seconds_count") == "0" || n.metric("go_goroutines") == "missing" || n.metric("scheduler_queue_depth") == "missing" {
		t.Error("metrics of the store, the process or the queue are missing")
	}
	for path, want := range map[string]os.FileMode{
		"": 0o700, "logs": 0o700, scratchName: 0o700, "admin.token": 0o600, "rota.lock": 0o600, "rota.addr": 0o600,
	} {
		if got := mode(t, n.path(path)); got != want {
			t.Errorf("%q has mode %v, want %v", path, got, want)
		}
	}
	n.stopCleanly()
}

func TestRestartKeepsJobs(t *testing.T) {
	config := Config{Data: t.TempDir()}
	first := start(t, config)
	done := first.enqueue(`{"type": "noop"}`)
	first.await(rota.EventJobCompleted, done)
	later := first.enqueue(`{"type": "noop", "delay": "1h"}`)
	token := first.token
	first.stopCleanly()

	second := start(t, config)
	if second.token != token {
		t.Error("the restart changed the token")
	}
	for id, want := range map[rota.ID]rota.State{done: rota.StateCompleted, later: rota.StateScheduled} {
		if job, err := second.store.Job(t.Context(), id); err != nil || job.State() != want {
			t.Errorf("job %s: %v, want it %s", id, err, want)
		}
	}
	second.stopCleanly()
}

func TestSecondServerOnDataDirectoryIsRefused(t *testing.T) {
	config := Config{Data: t.TempDir()}
	first := start(t, config)
	config.HTTP, config.Logger = "127.0.0.1:0", quiet
	_, err := Open(t.Context(), config)
	if rota.CodeOf(err) != rota.Busy || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("%v, want Busy with the process id of the holder", err)
	}
	if _, err := os.Stat(first.path(addrName)); err != nil {
		t.Error("the refused server removed the address file of the first:", err)
	}
	config.Data, config.Store = t.TempDir(), "sqlite:"+filepath.Join(first.config.Data, "rota.db")
	if _, err := Open(t.Context(), config); rota.CodeOf(err) != rota.Busy {
		t.Errorf("with another directory and the same store: %v", err)
	}
	first.stopCleanly()
}

func TestFailedListenReleasesLockAndStore(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	config := Config{Data: t.TempDir(), HTTP: taken.Addr().String(), Logger: quiet}
	if _, err := Open(t.Context(), config); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), config.HTTP) {
		t.Errorf("%v", err)
	}
	start(t, config).stopCleanly() // on another port
}

// TestStopFinishesJobsBeforeClosingAPI checks a node while it stops.
func TestStopFinishesJobsBeforeClosingAPI(t *testing.T) {
	begun, release := make(chan struct{}), make(chan struct{})
	config := Config{Data: t.TempDir(), Register: gated(begun, release)}
	n := start(t, config)
	id := n.enqueue(`{"type": "gated"}`)
	<-begun
	waits := n.enqueue(`{"type": "noop", "delay": "1h"}`)
	stream := n.open("GET", "/api/v1/events", "")
	defer stream.Body.Close()

	n.stop()
	for n.status("/readyz") != http.StatusServiceUnavailable { // the stop has begun
		continue
	}
	if n.status("/healthz") != 200 || n.status("/api/v1/jobs/"+id.String()) != 200 {
		t.Error("the API does not answer while the node waits for its jobs")
	}
	if _, err := os.Stat(n.path(addrName)); err != nil {
		t.Error("rota.addr is missing while the API answers:", err)
	}
	other := config
	other.HTTP, other.Logger = "127.0.0.1:0", quiet
	if _, err := Open(t.Context(), other); rota.CodeOf(err) != rota.Busy {
		t.Errorf("the data directory is unlocked before the node has ended: %v", err)
	}
	during := n.enqueue(`{"type": "noop"}`) // accepted, and runs after the next start
	close(release)
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
	if lines := bufio.NewScanner(stream.Body); !ends(lines) {
		t.Error("the stream is still open")
	}
	if _, err := os.Stat(n.path(addrName)); !errors.Is(err, os.ErrNotExist) {
		t.Error("rota.addr was not removed:", err)
	}
	for id, want := range map[rota.ID]rota.State{id: rota.StateCompleted, waits: rota.StateScheduled, during: rota.StateQueued} {
		if got := jobIn(t, config.Data, id)[0].State(); got != want {
			t.Errorf("a job is %s, want %s", got, want)
		}
	}
}

// ends reads a stream to its end.
func ends(lines *bufio.Scanner) bool {
	end := startTask(func() error {
		for lines.Scan() {
			continue
		}
		return nil
	})
	select {
	case <-end.done:
		return true
	case <-time.After(waitMax):
		return false
	}
}

func TestCutEndsGracePeriod(t *testing.T) {
	begun := make(chan struct{})
	config := Config{Data: t.TempDir(), Register: gated(begun, nil), ShutdownGrace: time.Hour}
	n := start(t, config)
	id := n.enqueue(`{"type": "gated", "max_retries": 3}`)
	<-begun
	n.stop()
	n.Cut()
	if err := n.wait(); err != nil {
		t.Fatal(err)
	}
	attempts := jobIn(t, config.Data, id)
	if len(attempts) != 2 || attempts[0].Run.ErrorCode != rota.CodeShutdown || attempts[0].State() != rota.StateFailed || attempts[1].State() != rota.StateQueued {
		t.Errorf("%d attempts, the first %+v; want it FAILED with the code shutdown, and its retry waiting", len(attempts), attempts[0].Run)
	}
}

func TestStartingNodeAnswersUnavailable(t *testing.T) {
	n, err := Open(t.Context(), Config{Data: t.TempDir(), HTTP: "127.0.0.1:0", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	for path, want := range map[string]int{"/healthz": 200, "/metrics": 200, "/readyz": 503, "/api/v1/jobs": 503, "/": 503} {
		answer := httptest.NewRecorder()
		n.server.Handler.ServeHTTP(answer, httptest.NewRequest("GET", "http://localhost"+path, nil))
		if answer.Code != want {
			t.Errorf("%s is %d, want %d", path, answer.Code, want)
		}
		if want == 503 && (!strings.Contains(answer.Body.String(), "starting") || !json.Valid(answer.Body.Bytes())) {
			t.Errorf("%s: %s", path, answer.Body)
		}
	}
}

func TestUnopenableStoreNamesCause(t *testing.T) {
	newer := filepath.Join(t.TempDir(), "newer.db")
	file, err := sqlite.Open(newer)
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	conn, err := zombie.OpenConn(newer)
	if err != nil {
		t.Fatal(err)
	}
	if err := sqlitex.ExecuteTransient(conn, `UPDATE rota_meta SET value = '999' WHERE key = 'version'`, nil); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	garbage := filepath.Join(t.TempDir(), "garbage.db")
	if err := os.WriteFile(garbage, []byte(strings.Repeat("not a database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]struct {
		code rota.Code
		text string
	}{
		newer:                       {rota.Conflict, "newer version of Rota"},
		garbage:                     {rota.Internal, "not an SQLite database"},
		t.TempDir():                 {rota.Unavailable, "directory"},
		"/proc/no/such/dir/rota.db": {rota.Unavailable, "cannot be created"},
	} {
		data := t.TempDir()
		_, err := Open(t.Context(), Config{Data: data, Store: "sqlite:" + path, HTTP: "127.0.0.1:0", Logger: quiet})
		if rota.CodeOf(err) != want.code || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: %v, want %s and %q", path, err, want.code, want.text)
		}
		if lock, err := lockData(data); err != nil {
			t.Errorf("%s: the directory is still locked: %v", path, err)
		} else {
			_ = lock.release()
		}
	}
}

func TestOffsetClockFollowsFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offset")
	now := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	c := newOffsetClock(path, func() time.Time { return now }, quiet)
	for _, row := range []struct {
		text string
		want time.Duration
	}{{"12h\n", 12 * time.Hour}, {"-1h30m", -90 * time.Minute}, {"nonsense", -90 * time.Minute}, {"", -90 * time.Minute}, {"0", 0}} {
		if err := os.WriteFile(path, []byte(row.text), 0o600); err != nil {
			t.Fatal(err)
		}
		c.read()
		if got := c.now().Sub(now); got != row.want {
			t.Errorf("with %q the clock is off by %v, want %v", row.text, got, row.want)
		}
	}
	_ = os.WriteFile(path, []byte("1h"), 0o600)
	c.read()
	_ = os.Remove(path)
	c.read()
	if !c.now().Equal(now) {
		t.Error("without the file the clock is still off")
	}
}

func TestNodeUsesConfiguredClock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offset")
	if err := os.WriteFile(path, []byte("48h"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, Config{Data: t.TempDir(), ClockOffsetFile: path, Register: talk})
	id := n.enqueue(`{"type": "talk"}`)
	n.await(rota.EventJobCompleted, id)
	job, err := n.store.Job(t.Context(), id)
	if err != nil || time.Until(job.CreatedAt) < 47*time.Hour || time.Until(job.Run.StartedAt) < 47*time.Hour {
		t.Errorf("created %v, %v", job.CreatedAt, err)
	}
	n.stopCleanly()
}
