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

// TestWebhooksFromTheCommandLine has a receiver that knows only the secret that the command printed.
func TestWebhooksFromTheCommandLine(t *testing.T) {
	server := startServer(t, "--http-allow", "loopback")
	type delivery struct {
		header http.Header
		body   []byte
	}
	got := make(chan delivery, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- delivery{r.Header, body}
	}))
	defer receiver.Close()

	out := server.must("webhook add " + receiver.URL + " --event job.completed")
	secret := regexp.MustCompile(`whsec_\w{40,}`).FindString(out)
	if secret == "" {
		t.Fatalf("no secret was made: %s", out)
	}
	take := func(event string) {
		t.Helper()
		select {
		case d := <-got:
			if err := action.Verify(secret, d.header.Get(action.HeaderSignature), d.body, time.Now(), 0); err != nil || d.header.Get(action.HeaderEvent) != event {
				t.Errorf("%s: %v", d.header.Get(action.HeaderEvent), err)
			}
		case <-time.After(time.Minute):
			t.Fatal("nothing was told")
		}
	}
	server.must("job create noop --wait")
	take("job.completed")
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		list := server.must("webhook deliveries")
		if regexp.MustCompile(`job\.completed +completed +1/`).MatchString(list) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the delivery does not end:\n%s", list)
		}
	}
	if jobs := server.must("job list"); strings.Contains(jobs, "webhook") {
		t.Errorf("a delivery stands among the jobs:\n%s", jobs)
	}

	if out := server.must("webhook test " + receiver.URL); !strings.Contains(out, "it was taken, with 200") {
		t.Error(out)
	}
	take("webhook.test")
	receiver.Close()
	if out, errs, code := server.run("webhook test " + receiver.URL); code != exitFailed || !strings.Contains(out, "it was not taken") || !strings.Contains(errs, "refused") {
		t.Errorf("%d %s%s", code, out, errs)
	}
	if out, errs, code := server.run("webhook test http://10.0.0.1/ --secret s"); code != exitFailed || !strings.Contains(errs, "http_allow") {
		t.Errorf("%d %s%s", code, out, errs)
	}

	// The address that is there keeps its secret, and none is made.
	if out := server.must("webhook add " + receiver.URL + " --event job.dead"); strings.Contains(out, "secret") {
		t.Error(out)
	}
	if list := server.must("webhook list"); strings.Contains(list, secret) || !strings.Contains(list, "job.dead") {
		t.Error(list)
	}
}
