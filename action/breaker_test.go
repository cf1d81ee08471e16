package action

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
)

// A receiver that does not answer delays deliveries to other receivers only until its
// first timeout.
func TestReceiverWithoutAnswerDoesNotOccupySlots(t *testing.T) {
	const jobs = 40
	rota.DeliveryPolicy.Backoff = deliveryPolicy.Backoff // failed deliveries wait before the retry, as in production
	t.Cleanup(func() { rota.DeliveryPolicy.Backoff = 0 })
	w := newDeliveryEnv(t, func(c *SenderConfig) { c.HeadMax = 500 * time.Millisecond })
	var waiting atomic.Int64
	dead := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		waiting.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // the server notices the end of the request only after it has read the body
		<-r.Context().Done()
	}))
	t.Cleanup(dead.Close)
	healthy := newReceiver(t, alwaysStatus(200))
	w.setWebhooks(rota.Webhook{URL: dead.URL, Secret: secret, Events: completed}, rota.Webhook{URL: healthy.URL, Secret: secret, Events: completed})
	for range jobs {
		w.enqueue(rota.NewJob{Type: "noop"})
	}
	healthy.wait(t, jobs)
	if n := waiting.Load(); n > 2*deliveryWorkers {
		t.Errorf("%d deliveries waited for the receiver that does not answer", n)
	}
	codes := map[string]int{}
	for deadline := time.Now().Add(waitMax); codes[codeDown]+codes[codeLate] < jobs && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		codes = w.errorCodes()
	}
	if codes[codeDown] < jobs/2 || codes[codeLate] == 0 {
		t.Errorf("the attempts ended with the error codes %v", codes)
	}
}

// errorCodes counts the ended attempts of deliveries by error code.
func (w *testEnv) errorCodes() map[string]int {
	w.Helper()
	attempts, err := w.store.Jobs(context.Background(), rota.JobQuery{Type: rota.TypeWebhook, Limit: rota.PageMax})
	if err != nil {
		w.Fatal(err)
	}
	codes := map[string]int{}
	for _, job := range attempts {
		if job.Run != nil && !job.Run.Open() {
			codes[job.Run.ErrorCode]++
		}
	}
	return codes
}

var errNoAnswer = failed(codeLate, "no answer")

// TestBreakerProbesOnceAfterEachPause goes through an outage from the first failure to
// the first answer.
func TestBreakerProbesOnceAfterEachPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{}
		mustAcquire := func() func(error) {
			t.Helper()
			record, ok := b.acquire("a")
			if !ok {
				t.Fatal("no delivery may probe the address")
			}
			return record
		}
		mustRefuse := func() {
			t.Helper()
			if _, ok := b.acquire("a"); ok {
				t.Error("a delivery is sent during the outage")
			}
		}
		first, second, third := mustAcquire(), mustAcquire(), mustAcquire()
		first(errNoAnswer)
		second(errNoAnswer) // it began before the outage, so it does not extend the pause
		mustRefuse()
		if _, ok := b.acquire("b"); !ok {
			t.Error("a delivery to another address is refused")
		}
		for _, pause := range []time.Duration{5, 10, 20, 40, 60, 60} {
			time.Sleep(pause*time.Second - 1)
			mustRefuse()
			time.Sleep(time.Nanosecond)
			probe := mustAcquire()
			mustRefuse()
			probe(errNoAnswer)
			mustRefuse()
		}
		time.Sleep(pauseMax)
		mustAcquire()(errors.New("the store is down")) // a local error does not change the outage
		probe := mustAcquire()
		mustRefuse()
		third(nil) // any answer ends the outage
		probe(errNoAnswer)
		mustAcquire()(failed(codeRefused, "refused by the guard"))
		mustAcquire()(nil)
	})
}

// TestBreakerKeepsLimitedNumberOfOutages: webhooks with many addresses cannot fill the
// memory.
func TestBreakerKeepsLimitedNumberOfOutages(t *testing.T) {
	b := &breaker{}
	for i := range 2 * outagesMax {
		record, _ := b.acquire(fmt.Sprint(i))
		record(errNoAnswer)
	}
	if n := len(b.down); n > outagesMax {
		t.Errorf("the breaker keeps %d outages", n)
	}
	if _, ok := b.acquire(fmt.Sprint(2*outagesMax - 1)); ok {
		t.Error("the newest outage is not kept")
	}
}
