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

// A receiver that does not answer delays deliveries to other receivers only until its first
// time-out.
func TestReceiverWithoutAnswerDoesNotOccupySlots(t *testing.T) {
	const jobs = 40
	rota.DeliveryPolicy.Backoff = policy.Backoff // so that what fails waits, as it does for users
	t.Cleanup(func() { rota.DeliveryPolicy.Backoff = 0 })
	w := newDeliveryEnv(t, func(c *SenderConfig) { c.HeadMax = 500 * time.Millisecond })
	var hung atomic.Int64
	dead := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		hung.Add(1)
		_, _ = io.Copy(io.Discard, r.Body) // so that it hears when it is given up
		<-r.Context().Done()
	}))
	t.Cleanup(dead.Close)
	healthy := newReceiver(t, always(200))
	w.setWebhooks(rota.Webhook{URL: dead.URL, Secret: secret, Events: completed}, rota.Webhook{URL: healthy.URL, Secret: secret, Events: completed})
	for range jobs {
		w.enqueue(rota.NewJob{Type: "noop"})
	}
	healthy.wait(t, jobs)
	if n := hung.Load(); n > 2*deliveryWorkers {
		t.Errorf("it was waited for %d times", n)
	}
	codes := map[string]int{}
	for deadline := time.Now().Add(waitMax); codes[codeDown]+codes[codeLate] < jobs && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		codes = w.codes()
	}
	if codes[codeDown] < jobs/2 || codes[codeLate] == 0 {
		t.Errorf("they ended with %v", codes)
	}
}

// codes are those that attempts of deliveries ended with, and how many did.
func (w *testEnv) codes() map[string]int {
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

var errSilent = failed(codeLate, "silent")

// TestBreakerProbesAfterThePauseOfAnOutage from the first silence to the first answer.
func TestBreakerProbesAfterThePauseOfAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &breaker{}
		enter := func() func(error) {
			t.Helper()
			leave, may := b.acquire("a")
			if !may {
				t.Fatal("nobody finds out")
			}
			return leave
		}
		closed := func() {
			t.Helper()
			if _, may := b.acquire("a"); may {
				t.Error("a second one is let through")
			}
		}
		first, second, third := enter(), enter(), enter()
		first(errSilent)
		second(errSilent) // was under way already, and makes no pause longer
		closed()
		if _, may := b.acquire("b"); !may {
			t.Error("another address suffers")
		}
		for _, pause := range []time.Duration{5, 10, 20, 40, 60, 60} {
			time.Sleep(pause*time.Second - 1)
			closed()
			time.Sleep(time.Nanosecond)
			probe := enter()
			closed()
			probe(errSilent)
			closed()
		}
		time.Sleep(pauseMax)
		enter()(errors.New("the store is away")) // which says nothing
		probe := enter()
		closed()
		third(nil) // any answer will do
		probe(errSilent)
		enter()(failed(codeRefused, "which is none of its doing"))
		enter()(nil)
	})
}

// TestOutagesAreBounded: a stranger cannot fill the memory with addresses.
func TestOutagesAreBounded(t *testing.T) {
	b := &breaker{}
	for i := range 2 * outagesMax {
		leave, _ := b.acquire(fmt.Sprint(i))
		leave(errSilent)
	}
	if n := len(b.down); n > outagesMax {
		t.Errorf("%d are kept", n)
	}
	if _, may := b.acquire(fmt.Sprint(2*outagesMax - 1)); may {
		t.Error("the last one is forgotten")
	}
}
