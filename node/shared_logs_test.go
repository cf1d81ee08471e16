package node

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// logPair is two nodes on one store. Only the first runs jobs of the type talk, which write
// what lines sends, until the channel is closed.
type logPair struct {
	runs, reads *testNode
	lines       chan string
	url         string
}

func startLogPair(t *testing.T, url string) *logPair {
	t.Helper()
	p := &logPair{lines: make(chan string), url: url}
	talk := func(reg *engine.Registry) {
		reg.Func("talk", rota.TypeSpec{}, func(ctx context.Context, _ *rota.Job) error {
			for {
				select {
				case line, more := <-p.lines:
					if !more {
						return nil
					}
					_, _ = io.WriteString(engine.Output(ctx), line)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
		})
	}
	p.runs = start(t, Config{Data: t.TempDir(), Store: p.url, Register: talk, LogMax: 4096})
	p.reads = start(t, Config{Data: t.TempDir(), Store: p.url})
	return p
}

func logOf(id rota.ID) string { return "/api/v1/jobs/" + id.String() + "/log" }

// TestLogIsReadAtOtherNode follows a log at a node that does not run the job, sees each line before the
// run ends, and reads the whole log of the finished run there.
func TestLogIsReadAtOtherNode(t *testing.T) {
	onSharedStores(t, testLogIsReadAtOtherNode)
}

func testLogIsReadAtOtherNode(t *testing.T, kind sharedKind) {
	p := startLogPair(t, kind.url(t))
	id := p.runs.enqueue(`{"type": "talk"}`)
	response := p.reads.open("GET", logOf(id)+"?follow=true", "")
	defer response.Body.Close()
	followed := bufio.NewReader(response.Body)
	want := ""
	for i := range 2 {
		line := fmt.Sprintf("line %d\n", i)
		p.lines <- line
		want += line
		if got, err := followed.ReadString('\n'); got != line || err != nil {
			t.Fatalf("the other node sends %q, %v; want %q", got, err, line)
		}
	}
	if _, text := p.reads.request("GET", logOf(id), ""); text != want {
		t.Errorf("the log of the running job is %q at the other node, want %q", text, want)
	}
	p.lines <- "last"
	close(p.lines)
	if rest, err := io.ReadAll(followed); string(rest) != "last" || err != nil {
		t.Errorf("the other node ends with %q, %v", rest, err)
	}
	p.runs.await(rota.EventJobCompleted, id)
	for _, n := range []*testNode{p.runs, p.reads} {
		if response, text := n.request("GET", logOf(id), ""); response.StatusCode != 200 || text != want+"last" {
			t.Errorf("%d %q", response.StatusCode, text)
		}
		if _, text := n.request("GET", logOf(id)+"?tail=1", ""); text != "last" {
			t.Errorf("its last line is %q", text)
		}
	}
	if job, err := p.reads.store.Job(t.Context(), id); err != nil || job.Run.LogPath != logOf(id) {
		t.Errorf("log_path is %q, %v; want the path of the API", job.Run.LogPath, err)
	}
	if files, _ := filepath.Glob(filepath.Join(p.runs.config.Data, logsName, "*", "*")); len(files) > 0 {
		t.Errorf("there are files, too: %v", files)
	}
}

// TestFullLogAtOtherNode: log_max limits a log in the store as it limits a file.
func TestFullLogAtOtherNode(t *testing.T) {
	onSharedStores(t, testFullLogAtOtherNode)
}

func testFullLogAtOtherNode(t *testing.T, kind sharedKind) {
	p := startLogPair(t, kind.url(t))
	id := p.runs.enqueue(`{"type": "talk"}`)
	for range 200 {
		p.lines <- "a line of a log that repeats itself and compresses well\n"
	}
	close(p.lines)
	p.runs.await(rota.EventJobCompleted, id)
	_, text := p.reads.request("GET", logOf(id), "")
	if !strings.HasSuffix(text, "[rota: the log is full at 4KiB; later lines are not stored]\n") || len(text) > 4096+128 || len(text) < 4000 {
		t.Errorf("%d bytes, ending in %q", len(text), text[max(0, len(text)-100):])
	}
	if kind.name != "postgres" {
		return
	}
	stored := pgtest.Query(t, p.url, `SELECT sum(length), sum(octet_length(data)) < sum(length) / 10 FROM rota.log_chunks`)[0]
	if stored[0] != fmt.Sprint(len(text)) || stored[1] != "t" {
		t.Errorf("the chunks have %s bytes of text; compressed to less than a tenth: %s", stored[0], stored[1])
	}
}

// TestLogOfRemoteWorkerAtOtherNode: a worker sends the log to one node, and the other shows it.
func TestLogOfRemoteWorkerAtOtherNode(t *testing.T) {
	onSharedStores(t, testLogOfRemoteWorkerAtOtherNode)
}

func testLogOfRemoteWorkerAtOtherNode(t *testing.T, kind sharedKind) {
	p := startLogPair(t, kind.url(t))
	p.runs.request("PUT", "/api/v1/types/remote", `{}`)
	id := p.runs.enqueue(`{"type": "remote"}`)
	var claimed struct{ Items []api.ClaimedJob }
	_, text := p.runs.request("POST", "/api/v1/claim", `{"worker": "far", "types": ["remote"], "limit": 1}`)
	if err := json.Unmarshal([]byte(text), &claimed); err != nil || len(claimed.Items) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	job := claimed.Items[0]
	body := fmt.Sprintf(`{"items": [{"job_id": %q, "run_id": %q, "lease_token": %q, "outcome": "completed", "log": "from afar\n"}]}`, job.Job.ID, job.RunID, job.LeaseToken)
	if response, text := p.runs.request("POST", "/api/v1/finish", body); response.StatusCode != 200 {
		t.Fatalf("%d %s", response.StatusCode, text)
	}
	for _, n := range []*testNode{p.runs, p.reads} {
		if _, text := n.request("GET", logOf(id), ""); text != "from afar\n" {
			t.Errorf("the log is %q", text)
		}
	}
}

// TestLogFileOfEarlierVersionIsServed: a server on PostgreSQL kept logs in files before.
func TestLogFileOfEarlierVersionIsServed(t *testing.T) {
	p := startLogPair(t, newSharedStore(t))
	id := p.runs.enqueue(`{"type": "talk"}`)
	close(p.lines)
	p.runs.await(rota.EventJobCompleted, id)
	job, err := p.runs.store.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.runs.config.Data, logsName, job.Run.StartedAt.UTC().Format(time.DateOnly), id.String()+".log")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("from before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, text := p.runs.request("GET", logOf(id), ""); text != "from before\n" {
		t.Errorf("the log is %q", text)
	}
}
