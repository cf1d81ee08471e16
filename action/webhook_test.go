package action

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

var deliveryPolicy = rota.DeliveryPolicy // as in production, before TestMain removes the backoff

const secret = "whsec_a_text_that_is_hard_to_guess"

// receiver is a webhook that records deliveries and verifies their signatures.
type receiver struct {
	*httptest.Server
	answer func(n int) int // status of the answer to the n-th delivery

	mu       sync.Mutex
	received []receivedDelivery
	answered chan struct{}
}

type receivedDelivery struct {
	id, event, body string
	header          http.Header
	verified        error
}

func newReceiver(t *testing.T, answer func(n int) int) *receiver {
	t.Helper()
	r := &receiver{answer: answer, answered: make(chan struct{}, 1_000)}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	r.mu.Lock()
	r.received = append(r.received, receivedDelivery{
		id: q.Header.Get(HeaderDelivery), event: q.Header.Get(HeaderEvent), body: string(body), header: q.Header,
		verified: Verify(secret, q.Header.Get(HeaderSignature), body, time.Now(), 0),
	})
	n := len(r.received)
	r.mu.Unlock()
	w.WriteHeader(r.answer(n))
	r.answered <- struct{}{}
}

// wait waits for n deliveries.
func (r *receiver) wait(t *testing.T, n int) []receivedDelivery {
	t.Helper()
	timeout := time.After(waitMax)
	for range n {
		select {
		case <-r.answered:
		case <-timeout:
			t.Fatalf("received %d deliveries, want %d", len(r.received), n)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received)
}

// newDeliveryEnv runs user jobs in one engine, and deliveries in another.
func newDeliveryEnv(t *testing.T, change ...func(*SenderConfig)) *testEnv {
	t.Helper()
	w := newTestEnv(t, func(reg *engine.Registry, _ rota.Store) { engine.Builtins(reg) })
	sender := SenderConfig{Guard: &Guard{Allow: allow(t, "loopback")}, Version: "1.2.3"}
	for _, f := range change {
		f(&sender)
	}
	reg := engine.NewRegistry()
	Deliveries(reg, WebhookConfig{
		Store: w.store, Sender: NewSender(sender),
		Compose: func(_ context.Context, id string, d rota.Delivery) ([]byte, error) {
			return json.Marshal(map[string]any{"id": id, "delivery": d})
		},
	})
	w.runDeliveryEngine(reg)
	return w
}

// setWebhooks sets the webhooks of the server.
func (w *testEnv) setWebhooks(hooks ...rota.Webhook) {
	w.Helper()
	if _, err := rota.Do[*rota.WebhooksPut](context.Background(), w.store, &rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: hooks}); err != nil {
		w.Fatal(err)
	}
}

// deliveries returns the last attempt of each delivery, oldest first.
func (w *testEnv) deliveries() (tails []*rota.Job) {
	w.Helper()
	tails, err := w.store.Jobs(context.Background(), rota.JobQuery{Type: rota.TypeWebhook, Tails: true})
	if err != nil {
		w.Fatal(err)
	}
	slices.Reverse(tails)
	return tails
}

// waitDeliveries waits until there are n deliveries, and all have ended.
func (w *testEnv) waitDeliveries(n int) []*rota.Job {
	w.Helper()
	for deadline := time.Now().Add(waitMax); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		tails := w.deliveries()
		open := slices.ContainsFunc(tails, func(j *rota.Job) bool { return j.Run == nil || j.Run.Open() })
		if len(tails) == n && !open {
			return tails
		}
	}
	w.Fatalf("there are %d deliveries, or one has not ended; want %d", len(w.deliveries()), n)
	return nil
}

var completed = []rota.EventKind{rota.EventJobCompleted}

func alwaysStatus(status int) func(int) int { return func(int) int { return status } }

func TestDeliveryIsSignedAndSent(t *testing.T) {
	w := newDeliveryEnv(t)
	r := newReceiver(t, alwaysStatus(200))
	w.setWebhooks(rota.Webhook{URL: r.URL + "/hook?a=b", Secret: secret, Events: completed})
	job := w.enqueue(rota.NewJob{Type: "noop"})
	got := r.wait(t, 1)[0]
	if got.verified != nil {
		t.Error(got.verified)
	}
	tail := w.waitDeliveries(1)[0]
	if got.event != "job.completed" || got.id != tail.ExecutionID.String() || !strings.Contains(got.body, job.String()) ||
		got.header.Get("Content-Type") != "application/json" || got.header.Get("User-Agent") != "rota/1.2.3" {
		t.Errorf("%+v", got)
	}
	if tail.Run.Outcome != rota.OutcomeCompleted || result[Receipt](w, tail).Status != 200 {
		t.Errorf("%s %s", tail.Run.Outcome, tail.Run.Result)
	}
	if strings.Contains(w.log.String(), secret) || strings.Contains(string(tail.Params), secret) {
		t.Error("the log or the params contain the secret")
	}
	if strings.Contains(w.log.String(), tail.ID.String()) {
		t.Error("a delivery writes to the log")
	}
	if err := Verify(secret, got.header.Get(HeaderSignature), []byte(got.body+" "), time.Now(), 0); err == nil {
		t.Error("the signature is accepted for another body")
	}
	if err := Verify(secret, got.header.Get(HeaderSignature), []byte(got.body), time.Now().Add(6*time.Minute), 0); err == nil {
		t.Error("the signature is accepted six minutes later")
	}
}

// A failed delivery is retried until it succeeds, with the same id and a new signature.
func TestFailedDeliveryIsRetried(t *testing.T) {
	var clock atomic.Int64
	w := newDeliveryEnv(t, func(c *SenderConfig) {
		c.Clock = func() time.Time { return time.Now().Add(time.Duration(clock.Add(1)) * time.Second) }
	})
	answers := []int{500, 404, 302, 429, 204}
	r := newReceiver(t, func(n int) int { return answers[min(n, len(answers))-1] })
	w.setWebhooks(rota.Webhook{URL: r.URL, Secret: secret, Events: completed})
	w.enqueue(rota.NewJob{Type: "noop"})
	got := r.wait(t, len(answers))
	signatures := map[string]bool{}
	for _, delivery := range got {
		if !strings.Contains(delivery.body, `"id":"`+delivery.id+`"`) {
			t.Errorf("the signed body does not contain the id %s: %s", delivery.id, delivery.body)
		}
		if delivery.id != got[0].id || delivery.id == "" || delivery.body != got[0].body || delivery.verified != nil {
			t.Errorf("%+v", delivery)
		}
		signatures[delivery.header.Get(HeaderSignature)] = true
	}
	if len(signatures) != len(answers) {
		t.Error("a retry has the signature of an earlier attempt")
	}
	tail := w.waitDeliveries(1)[0]
	if tail.Attempt != len(answers) || tail.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("attempt %d, %s", tail.Attempt, tail.Run.Outcome)
	}
	attempts := w.waitAttempts(tail.ExecutionID)
	for i, status := range answers[:4] {
		if run := attempts[i].Run; run.ErrorCode != fmt.Sprintf("http_%d", status) || !strings.Contains(run.Error, fmt.Sprint("returned ", status)) {
			t.Errorf("%d: %q %s", status, run.ErrorCode, run.Error)
		}
	}
	if tail.Policy.MaxAttempts != rota.DeliveryPolicy.MaxAttempts || tail.Policy.Timeout != rota.DeliveryPolicy.Timeout {
		t.Errorf("%+v", tail.Policy)
	}
}

// TestAnswerHeadDecidesDelivery: a delivery without an answer head ends at the timeout,
// and a delivery with one does not wait for the rest of the body.
func TestAnswerHeadDecidesDelivery(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		var answer int
		if fmt.Sscan(r.URL.Query().Get("answer"), &answer); answer > 0 {
			w.WriteHeader(answer)
			_, _ = io.WriteString(w, "so far")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(s.Close)
	sender := NewSender(SenderConfig{Guard: &Guard{Allow: allow(t, "loopback")}, HeadMax: waitMax})
	for answer, body := range map[int]string{200: "", 500: "so far"} {
		begun := time.Now()
		got, err := sender.Send(t.Context(), Message{URL: fmt.Sprint(s.URL, "?answer=", answer), Secret: secret})
		if err != nil || got.Status != answer || got.Body != body {
			t.Errorf("%d: %+v, %v", answer, got, err)
		}
		if took := time.Since(begun); took > waitMax/2 {
			t.Errorf("%d took %v", answer, took)
		}
	}
	sender = NewSender(SenderConfig{Guard: &Guard{Allow: allow(t, "loopback")}, HeadMax: 50 * time.Millisecond})
	_, err := sender.Send(t.Context(), Message{URL: s.URL, Secret: secret})
	if !isNoAnswer(err) || !strings.Contains(err.Error(), "more than 50ms") || rota.IsPermanent(err) {
		t.Error(err)
	}
}

// TestDeliveryFollowsNoRedirect: the secret and the events are for one address only.
func TestDeliveryFollowsNoRedirect(t *testing.T) {
	w := newDeliveryEnv(t)
	other := newReceiver(t, alwaysStatus(200))
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 1 {
			http.Redirect(w, r, other.URL, http.StatusPermanentRedirect)
		}
	}))
	t.Cleanup(s.Close)
	w.setWebhooks(rota.Webhook{URL: s.URL, Secret: secret, Events: completed})
	w.enqueue(rota.NewJob{Type: "noop"})
	if tail := w.waitDeliveries(1)[0]; tail.Attempt != 2 || tail.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("attempt %d: %s", tail.Attempt, tail.Run.Outcome)
	}
	if len(other.received) != 0 {
		t.Error("the target of the redirect received the delivery")
	}
}

func TestStatusGoneIsPermanent(t *testing.T) {
	w := newDeliveryEnv(t)
	r := newReceiver(t, alwaysStatus(410))
	w.setWebhooks(rota.Webhook{URL: r.URL, Secret: secret, Events: completed})
	w.enqueue(rota.NewJob{Type: "noop"})
	tail := w.waitDeliveries(1)[0]
	if tail.Attempt != 1 || tail.Sequel != rota.SequelDead || tail.Run.ErrorCode != "gone" || !strings.Contains(tail.Run.Error, "remove the webhook") {
		t.Errorf("attempt %d: %s %s", tail.Attempt, tail.Sequel, tail.Run.Error)
	}
}

// TestRemovedWebhookGetsNoDelivery: a delivery that waits for its retry is not sent any
// more, either.
func TestRemovedWebhookGetsNoDelivery(t *testing.T) {
	for name, change := range map[string]func(w *testEnv, hook rota.Webhook){
		"was removed before": func(w *testEnv, _ rota.Webhook) { w.setWebhooks() },
		"is no longer subscribed to job.completed": func(w *testEnv, hook rota.Webhook) {
			hook.Events = []rota.EventKind{rota.EventJobDead}
			w.setWebhooks(hook)
		},
	} {
		w := newDeliveryEnv(t)
		var hook rota.Webhook
		r := newReceiver(t, func(int) int { change(w, hook); return 500 })
		hook = rota.Webhook{URL: r.URL, Secret: secret, Events: completed}
		w.setWebhooks(hook)
		w.enqueue(rota.NewJob{Type: "noop"})
		tail := w.waitDeliveries(1)[0]
		if tail.Attempt != 2 || tail.Sequel != rota.SequelDead || tail.Run.ErrorCode != "gone" || !strings.Contains(tail.Run.Error, name) {
			t.Errorf("attempt %d: %s %q %s", tail.Attempt, tail.Sequel, tail.Run.ErrorCode, tail.Run.Error)
		}
		if n := len(r.wait(t, 1)); n != 1 {
			t.Errorf("the webhook received %d deliveries", n)
		}
	}
}

// TestDeliveryUsesCurrentSecret: a retry uses the secret that is set at its time.
func TestDeliveryUsesCurrentSecret(t *testing.T) {
	w := newDeliveryEnv(t)
	var hook rota.Webhook
	r := newReceiver(t, func(n int) int {
		if n > 1 {
			return 200
		}
		hook.Secret = secret
		w.setWebhooks(hook)
		return 401
	})
	hook = rota.Webhook{URL: r.URL, Secret: "an earlier secret", Events: completed}
	w.setWebhooks(hook)
	w.enqueue(rota.NewJob{Type: "noop"})
	if got := r.wait(t, 2); got[0].verified == nil || got[1].verified != nil {
		t.Errorf("%v, %v", got[0].verified, got[1].verified)
	}
}

func TestTemplateWebhookReceivesDeliveries(t *testing.T) {
	w := newDeliveryEnv(t)
	r := newReceiver(t, alwaysStatus(200))
	_, err := rota.Do[*rota.TemplatePut](context.Background(), w.store, &rota.PutTemplate{
		Meta: rota.NewMeta("ada"), Name: "mail", Spec: rota.TemplateSpec{Type: "noop", Webhooks: []rota.Webhook{{URL: r.URL, Secret: secret, Events: completed}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w.waitEnded(w.enqueue(rota.NewJob{Type: "noop"}))
	id := w.enqueue(rota.NewJob{Template: "mail"})
	got := r.wait(t, 1)
	if len(got) != 1 || got[0].verified != nil || !strings.Contains(got[0].body, id.String()) {
		t.Errorf("%+v", got)
	}
	w.waitDeliveries(1)
}

// The delivery fails with a hint for the administrator and is retried for a day.
func TestWebhookCannotReachInternalAddresses(t *testing.T) {
	w := newDeliveryEnv(t, func(c *SenderConfig) { c.Guard = &Guard{} })
	r := newReceiver(t, alwaysStatus(200))
	w.setWebhooks(rota.Webhook{URL: r.URL, Secret: secret, Events: completed})
	w.enqueue(rota.NewJob{Type: "noop"})
	tail := w.waitDeliveries(1)[0]
	if tail.Attempt != rota.DeliveryPolicy.MaxAttempts || tail.Run.ErrorCode != "guard" || !strings.Contains(tail.Run.Error, "http_allow") {
		t.Errorf("attempt %d: %q %s", tail.Attempt, tail.Run.ErrorCode, tail.Run.Error)
	}
	if len(r.received) != 0 {
		t.Error("the internal receiver received the delivery")
	}
}

// As many receivers hang as the delivery engine has slots; the jobs of users still run.
func TestSlowReceiversDoNotDelayJobs(t *testing.T) {
	w := newDeliveryEnv(t, func(c *SenderConfig) { c.HeadMax = time.Hour }) // no delivery reaches its timeout
	unanswered, release := make(chan struct{}, 100), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		unanswered <- struct{}{}
		<-release
	}))
	t.Cleanup(s.Close)
	t.Cleanup(func() { close(release) })
	w.setWebhooks(rota.Webhook{URL: s.URL, Secret: secret, Events: completed})
	for range 8 {
		w.enqueue(rota.NewJob{Type: "noop"})
	}
	for range deliveryWorkers {
		select {
		case <-unanswered:
		case <-time.After(waitMax):
			t.Fatal("fewer deliveries than slots wait for an answer")
		}
	}
	for range 20 {
		w.waitEnded(w.enqueue(rota.NewJob{Type: "noop"}))
	}
	if tails := w.deliveries(); len(tails) != 28 {
		t.Errorf("the store has %d deliveries", len(tails))
	}
}

// TestDeliveryIsRetriedAfterStoreError: the store cannot be read when the delivery is
// composed.
func TestDeliveryIsRetriedAfterStoreError(t *testing.T) {
	var n atomic.Int64
	w := newTestEnv(t, func(reg *engine.Registry, _ rota.Store) { engine.Builtins(reg) })
	reg := engine.NewRegistry()
	Deliveries(reg, WebhookConfig{
		Store: w.store, Sender: NewSender(SenderConfig{Guard: &Guard{Allow: allow(t, "loopback")}}),
		Compose: func(context.Context, string, rota.Delivery) ([]byte, error) {
			if n.Add(1) == 1 {
				return nil, errors.New("the disk cannot be read")
			}
			return []byte("{}"), nil
		},
	})
	w.runDeliveryEngine(reg)
	r := newReceiver(t, alwaysStatus(200))
	w.setWebhooks(rota.Webhook{URL: r.URL, Secret: secret, Events: completed})
	w.enqueue(rota.NewJob{Type: "noop"})
	r.wait(t, 1)
	if tail := w.waitDeliveries(1)[0]; tail.Attempt != 2 || tail.Run.Outcome != rota.OutcomeCompleted {
		t.Errorf("attempt %d: %s", tail.Attempt, tail.Run.Outcome)
	}
}

// TestLongAnswerIsTruncatedInReceipt: a receiver with an endless answer cannot fill the
// store or the memory.
func TestLongAnswerIsTruncatedInReceipt(t *testing.T) {
	var sent atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(500)
		for r.Context().Err() == nil {
			n, err := w.Write([]byte(strings.Repeat("no \x00", 1024)))
			if sent.Add(int64(n)); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)
	receipt, err := NewSender(SenderConfig{Guard: &Guard{Allow: allow(t, "loopback")}}).Send(t.Context(), Message{URL: s.URL, Secret: secret})
	if err != nil || receipt.Status != 500 || len(receipt.Body) > 4*replyKept || strings.ContainsRune(receipt.Body, 0) || receipt.Delivered() {
		t.Errorf("%+v, %v", receipt, err)
	}
	if sent.Load() > 64<<20 {
		t.Errorf("the sender read %d bytes", sent.Load())
	}
}

func TestSendRefusesInvalidURL(t *testing.T) {
	s := NewSender(SenderConfig{})
	for _, url := range []string{"", "::", "ftp://a", "http://", "/path", "http://ada:pw@a/"} {
		if _, err := s.Send(t.Context(), Message{URL: url}); err == nil || !rota.IsPermanent(err) || strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: %v", url, err)
		}
	}
}
