//go:build unix

package examples_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/worker/workertest"
)

// sentryServer keeps what it receives.
type sentryServer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *sentryServer) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text.Write(body)
}

func (s *sentryServer) received() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

func TestDynamoDBRunsEachJobOnce(t *testing.T) {
	t.Parallel()
	server := dyntest.Shared(t, dyntest.Dynoxide)
	table := server.TableName(t)
	url := server.URL(table) + "&skew=2s&poll=200ms"
	reports := &sentryServer{}
	sentry := httptest.NewServer(reports)
	defer sentry.Close()
	program := build(t, "dynamodb")
	env := []string{"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "SENTRY_DSN=" + strings.Replace(sentry.URL, "://", "://key@", 1) + "/7"}
	start := func(users string) *workertest.Process {
		return workertest.Start(t, exec.Command(program, "-store", url, "-dir", t.TempDir(), "-users", users), env...)
	}
	all := []*workertest.Process{start("ada,grace"), start("ada,grace")}
	output := func() (text string) {
		for _, p := range all {
			text += p.Output()
		}
		return text
	}
	await := func(line string, times int) {
		t.Helper()
		deadline := time.Now().Add(20 * time.Second)
		for strings.Count(output(), line) < times && time.Now().Before(deadline) {
			time.Sleep(20 * time.Millisecond)
		}
		if n := strings.Count(output(), line); n != times {
			t.Fatalf("%q was printed %d times; want %d:\n%s", line, n, times, output())
		}
	}
	await("summary of ", 2)
	await("sync of ", 2)

	script := exec.Command(interpreter(t), "dynamodb/put_jobs.py", table, "user_sync", "-")
	script.Env = []string{"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_REGION=" + server.Region(), "AWS_ENDPOINT_URL=" + server.Endpoint()}
	script.Stdin = strings.NewReader("{\"user\": \"ada\"}\tada\n{\"user\": \"lin\"}\tlin\n{\"user\": \"lin\"}\tlin\n{\"user\": \"\"}\tnone\n")
	out, err := script.CombinedOutput()
	if err != nil || !regexp.MustCompile("^duplicate ada\nput .*\nduplicate lin\nput .*\n$").Match(out) {
		t.Fatalf("the script prints %v:\n%s", err, out)
	}
	await("sync of lin ", 1)

	all = append(all, start("ada,lin,nobody")) // the others have run
	await("summary of ", 4)
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(reports.received(), "there is no user nobody") && time.Now().Before(deadline) {
		time.Sleep(20 * time.Millisecond)
	}
	report := reports.received()
	for _, part := range []string{"there is no user nobody", `"user_sync"`, `"id"`, `"user":"nobody"`, "[hidden]", "syncUser"} {
		if !strings.Contains(report, part) {
			t.Errorf("the report lacks %s:\n%s", part, report)
		}
	}
	if strings.Contains(report, "hunter2") {
		t.Error("the report contains the password")
	}
	time.Sleep(time.Second)
	await("sync of ada ", 1)
	await("sync of lin ", 1)
	for _, p := range all {
		p.Stop()
	}
}
