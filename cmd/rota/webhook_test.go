package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/action"
)

// TestWebhookAddTestAndDeliveries uses a receiver that checks signatures with the secret that the command printed.
func TestWebhookAddTestAndDeliveries(t *testing.T) {
	server := startServer(t, "--http-allow", "loopback")
	type delivery struct {
		header http.Header
		body   []byte
	}
	got := make(chan delivery, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/refuse" {
			http.Error(w, "the signature is\twrong", http.StatusUnauthorized)
			return
		}
		body, _ := io.ReadAll(r.Body)
		got <- delivery{r.Header, body}
	}))
	defer receiver.Close()

	out := server.must("webhook add " + receiver.URL + " --event job.completed")
	secret := regexp.MustCompile(`whsec_\w{40,}`).FindString(out)
	if secret == "" {
		t.Fatalf("no secret was generated: %s", out)
	}
	take := func(event string) {
		t.Helper()
		select {
		case d := <-got:
			if err := action.Verify(secret, d.header.Get(action.HeaderSignature), d.body, time.Now(), 0); err != nil || d.header.Get(action.HeaderEvent) != event {
				t.Errorf("%s: %v", d.header.Get(action.HeaderEvent), err)
			}
		case <-time.After(time.Minute):
			t.Fatal("no event was delivered")
		}
	}
	job := idShape.FindString(server.must("job create noop --wait"))
	take("job.completed")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		list := server.must("webhook deliveries")
		if regexp.MustCompile(`job\.completed +` + job + ` +completed +1/21 +- `).MatchString(list) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the delivery did not complete:\n%s", list)
		}
	}
	if jobs := server.must("job list"); strings.Contains(jobs, "webhook") {
		t.Errorf("the list of jobs has a delivery:\n%s", jobs)
	}

	if out := server.must("webhook test " + receiver.URL); !strings.Contains(out, "delivered: status 200") {
		t.Error(out)
	}
	take("webhook.test")
	if out, errs, code := server.run("webhook test " + receiver.URL + "/refuse --secret s"); code != exitFailed ||
		!strings.Contains(out, "not delivered; the receiver answered: the signature is wrong") || !strings.Contains(errs, "401") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	receiver.Close()
	// A kept-alive connection may close just when it is used again.
	connectionLost := regexp.MustCompile(`refused|EOF|reset`)
	if out, errs, code := server.run("webhook test " + receiver.URL); code != exitFailed || !strings.Contains(out, "not delivered") || !connectionLost.MatchString(errs) {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, errs, code := server.run("webhook test http://10.0.0.1/ --secret s"); code != exitFailed || !strings.Contains(errs, "http_allow") {
		t.Errorf("%d %s%s", code, out, errs)
	}

	// An empty variable of a script must not generate a secret.
	if _, errs, code := server.run("webhook add " + receiver.URL + "/other --secret="); code != exitUsage || !strings.Contains(errs, "the secret is empty") {
		t.Errorf("%d %s", code, errs)
	}

	// An existing webhook keeps its secret, and none is generated.
	if out := server.must("webhook add " + receiver.URL + " --event job.dead"); strings.Contains(out, "secret") {
		t.Error(out)
	}
	if list := server.must("webhook list"); strings.Contains(list, secret) || !strings.Contains(list, "job.dead") {
		t.Error(list)
	}
}

// TestWaitingDeliveryShowsNextAttempt: after a failed delivery the list has the next attempt and its time.
func TestWaitingDeliveryShowsNextAttempt(t *testing.T) {
	server := startServer(t, "--http-allow", "loopback")
	receiver := httptest.NewServer(http.NotFoundHandler())
	defer receiver.Close()
	server.must("webhook add " + receiver.URL + " --event job.completed")
	job := idShape.FindString(server.must("job create noop --wait"))
	waits := regexp.MustCompile(`job\.completed +` + job + ` +scheduled +2/21 +in \d+s `)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		list := server.must("webhook deliveries")
		if waits.MatchString(list) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no attempt is waiting:\n%s", list)
		}
	}
}
