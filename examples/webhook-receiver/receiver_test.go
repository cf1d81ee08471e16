// Package receiver tests receiver.py against a server.
package receiver

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/node"
)

const (
	secret  = "whsec_a_secret_of_the_test"
	timeout = time.Minute
)

// TestMain removes the backoff, so that deliveries are retried at once.
func TestMain(m *testing.M) {
	rota.DeliveryPolicy.Backoff = 0
	os.Exit(m.Run())
}

// receiver is a running receiver.py. Each line that it prints after the first is a
// processed delivery.
type receiver struct {
	url       string
	processed chan string
}

func startReceiver(t *testing.T) *receiver {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.Command(program, "receiver.py", "0")
	cmd.Env = append(os.Environ(), "ROTA_WEBHOOK_SECRET="+secret)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the receiver did not start")
	}
	_, address, _ := strings.Cut(lines.Text(), "listening on ")
	p := &receiver{url: address, processed: make(chan string, 100)}
	go func() {
		for lines.Scan() {
			p.processed <- lines.Text()
		}
	}()
	return p
}

// next waits for the next processed delivery.
func (p *receiver) next(t *testing.T) (processed struct{ Event, Job string }) {
	t.Helper()
	select {
	case line := <-p.processed:
		if err := json.Unmarshal([]byte(line), &processed); err != nil {
			t.Fatal(err)
		}
	case <-time.After(timeout):
		t.Fatal("the receiver processed no delivery")
	}
	return processed
}

// send posts a body with a signature, and with a delivery id in a header that is not
// signed.
func (p *receiver) send(t *testing.T, signature, id, body string) int {
	t.Helper()
	r, err := http.NewRequest("POST", p.url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set(action.HeaderSignature, signature)
	r.Header.Set(action.HeaderDelivery, id)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// server is a Rota server, as rota serve runs it.
type server struct{ url, token string }

func startServer(t *testing.T) *server {
	t.Helper()
	n, err := node.Open(t.Context(), node.Config{
		Data: t.TempDir(), HTTP: "127.0.0.1:0", SQL: "127.0.0.1:0", HTTPAllow: "loopback", Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	over := make(chan error, 1)
	go func() { over <- n.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	select {
	case <-n.Ready():
	case <-time.After(timeout):
		t.Fatal("the server is not ready")
	}
	token, err := os.ReadFile(n.TokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return &server{url: "http://" + n.Addresses()["http"], token: strings.TrimSpace(string(token))}
}

// do sends a request to the API.
func (s *server) do(t *testing.T, method, path, body string) (answer map[string]any) {
	t.Helper()
	r, err := http.NewRequest(method, s.url+"/api/v1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.token)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || res.StatusCode >= 300 {
		t.Fatalf("%s %s: %d %v %v", method, path, res.StatusCode, answer, err)
	}
	return answer
}

func TestReceiverAcceptsSignedDelivery(t *testing.T) {
	p, s := startReceiver(t), startServer(t)
	s.do(t, "POST", "/templates", `{"name": "report", "type": "noop", "webhooks": [{"url": "`+p.url+`", "events": ["job.completed"], "secret": "`+secret+`"}]}`)
	job := s.do(t, "POST", "/jobs", `{"template": "report"}`)
	if got := p.next(t); got.Event != "job.completed" || got.Job != job["id"] {
		t.Errorf("%+v, not %v", got, job["id"])
	}
	if got := s.do(t, "POST", "/webhooks/test", `{"url": "`+p.url+`", "template": "report"}`); got["delivered"] != true {
		t.Error(got)
	}
	if got := p.next(t); got.Event != "webhook.test" {
		t.Errorf("%+v", got)
	}
}

// A proxy in front of the receiver fails twice.
func TestDeliveryIsRetriedUntilAccepted(t *testing.T) {
	p, s := startReceiver(t), startServer(t)
	to, err := url.Parse(p.url)
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int64
	forward := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) <= 2 {
			http.Error(w, "not now", http.StatusBadGateway)
			return
		}
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s.do(t, "PUT", "/webhooks", `{"webhooks": [{"url": "`+front.URL+`", "events": ["job.completed"], "secret": "`+secret+`"}]}`)
	job := s.do(t, "POST", "/jobs", `{"type": "noop"}`)
	if got := p.next(t); got.Job != job["id"] || n.Load() != 3 {
		t.Errorf("%+v after %d attempts", got, n.Load())
	}
}

// The receiver refuses changed bodies, other secrets and old signatures, and processes a
// repeated delivery once.
func TestReceiverRefusesInvalidSignaturesAndReplays(t *testing.T) {
	p := startReceiver(t)
	const body = `{"id": "d-1", "event": "job.completed", "job_id": "1"}`
	now := time.Now()
	right := action.Sign(secret, now, []byte(body))
	for name, test := range map[string]struct{ signature, body string }{
		"changed":           {right, strings.Replace(body, "d-1", "d-2", 1)},
		"another secret":    {action.Sign("another", now, []byte(body)), body},
		"old":               {action.Sign(secret, now.Add(-6*time.Minute), []byte(body)), body},
		"from the future":   {action.Sign(secret, now.Add(6*time.Minute), []byte(body)), body},
		"with another time": {strings.Replace(right, "t=", "t=1", 1), body},
		"not signed":        {"", body},
		"no time":           {right[strings.Index(right, "v1="):], body},
		"two times":         {"t=1," + right, body},
		"no digits":         {"t=²,v1=00", body},
		"no signature":      {"t=1", body},
		"no text":           {right + "é", body},
	} {
		if status := p.send(t, test.signature, "id", test.body); status != 401 {
			t.Errorf("%s: %d", name, status)
		}
	}
	for i, signature := range []string{right, "t=1793862000", "v1=00," + right, action.Sign(secret, now.Add(-4*time.Minute), []byte(body))} {
		if want, status := map[bool]int{true: 200, false: 401}[strings.Contains(signature, "v1=")], p.send(t, signature, fmt.Sprint("replay-", i), body); status != want {
			t.Errorf("%s: %d", signature, status)
		}
	}
	for body, want := range map[string]int{`[]`: 500, `no JSON`: 500, `{"id": "d-3"}`: 500} { // a delivery that fails is retried
		for range 2 {
			if status := p.send(t, action.Sign(secret, now, []byte(body)), "d-3", body); status != want {
				t.Errorf("%s: %d", body, status)
			}
		}
	}
	const last = `{"id": "d-3", "event": "last", "job_id": null}`
	p.send(t, action.Sign(secret, now, []byte(last)), "d-1", last)
	if first, second := p.next(t), p.next(t); first.Event != "job.completed" || second.Event != "last" {
		t.Errorf("a delivery was processed twice: %v, %v", first, second)
	}
}

// An empty secret would accept deliveries of any sender.
func TestReceiverRequiresSecret(t *testing.T) {
	program, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed")
	}
	cmd := exec.CommandContext(t.Context(), program, "receiver.py", "0")
	cmd.Env = append(os.Environ(), "ROTA_WEBHOOK_SECRET=")
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "set ROTA_WEBHOOK_SECRET") {
		t.Errorf("%s, %v", out, err)
	}
}

func TestReceiverIsShort(t *testing.T) {
	text, err := os.ReadFile("receiver.py")
	if n := strings.Count(string(text), "\n"); err != nil || n >= 60 {
		t.Errorf("receiver.py has %d lines, %v", n, err)
	}
}
