package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// answer is what Direct returns.
type answer struct {
	job *rota.Job
	err error
}

// direct calls Direct in a goroutine.
func (r *runningEngine) direct(ctx context.Context, name string, wait time.Duration) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		job, err := r.Direct(ctx, rota.NewJob{Type: "work", Name: name}, wait)
		answers <- answer{job, err}
	}()
	return answers
}

func (h *harness) awaitAnswer(answers <-chan answer) answer {
	h.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(waitMax):
		h.Fatalf("Direct did not return within %v", waitMax)
		return answer{}
	}
}

// activeReservation returns the active reservation, nil if there is none.
func (h *harness) activeReservation() *rota.Reservation {
	h.Helper()
	all, err := h.store.Reservations(context.Background(), rota.ID{}, 100)
	if err != nil {
		h.Fatal(err)
	}
	for _, r := range all {
		if r.Status == rota.ReservationActive {
			return r
		}
	}
	return nil
}

func TestDirectRunReturnsResult(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, p letter) error {
		if p.To == "" {
			return errors.New("no address")
		}
		return engine.Result(ctx, "to "+p.To)
	})
	r := h.start(reg, engine.Config{Workers: 1, Name: "kitchen"})
	for params, want := range map[string]string{`{"to":"ada"}`: `"to ada" `, `{"to":""}`: ` no address`} {
		job, err := r.Direct(context.Background(), rota.NewJob{Type: "letter", Params: json.RawMessage(params)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s", job.Run.Result, job.Run.Error); got != want || !job.Ended() || job.Run.Runner != "kitchen" || !job.Run.Token.IsZero() {
			t.Errorf("%s: %q by %s, want %q", params, got, job.Run.Runner, want)
		}
	}
	if held := h.activeReservation(); held != nil {
		t.Errorf("the reservation is still active: %+v", held)
	}
}

func TestDirectRunHoldsQueueAndKeepsItsOrder(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Workers: 3})
	answers := r.direct(context.Background(), "direct", 0)
	job := s.awaitStart(h)
	ids := h.add(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
	h.add(rota.NewJob{Delay: time.Hour}) // another wake-up
	time.Sleep(50 * time.Millisecond)    // for a start that must not happen
	s.checkNoneStarted(h)
	if queue := h.queue(); len(queue) != 3 || queue[0].ID != ids[0] || queue[2].ID != ids[2] {
		t.Errorf("the queue: %v", queue)
	}
	s.results <- nil
	if a := h.awaitAnswer(answers); a.err != nil || a.job.ID != job.ID || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
	for range 3 { // all slots are free again
		if next := s.awaitStart(h); !slices.Contains(ids, next.ID) {
			t.Errorf("job %s started", next.ID)
		}
	}
}

func TestSecondDirectRunIsBusyOrWaits(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	first := r.direct(context.Background(), "first", 0)
	s.awaitStart(h)
	for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
		if a := h.awaitAnswer(r.direct(context.Background(), "second", wait)); rota.CodeOf(a.err) != rota.Busy {
			t.Errorf("after %v: %v, want Busy", wait, a.err)
		}
	}
	third := r.direct(context.Background(), "third", waitMax)
	s.results <- nil
	if a := h.awaitAnswer(first); a.err != nil {
		t.Error(a.err)
	}
	if job := s.awaitStart(h); job.Name != "third" {
		t.Errorf("job %s started", job.Name)
	}
	s.results <- nil
	if a := h.awaitAnswer(third); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestDirectRunsStartInOrderOfCallers(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	names := []string{"a", "b", "c", "d", "e"}
	var callers []<-chan answer
	for _, name := range names {
		callers = append(callers, r.direct(context.Background(), name, waitMax))
		h.pause(50 * time.Millisecond) // for it to wait for its turn, which no channel signals
	}
	for i, name := range names {
		if job := s.awaitStart(h); job.Name != name {
			t.Errorf("job %s started, want %s", job.Name, name)
		}
		s.results <- nil
		h.awaitAnswer(callers[i])
	}
}

func TestDirectRunWaitsForSlotWithinWait(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Workers: 1})
	plug, waits := h.addOne(), h.addOne()
	s.awaitStart(h)
	if a := h.awaitAnswer(r.direct(context.Background(), "impatient", 0)); rota.CodeOf(a.err) != rota.Busy {
		t.Errorf("%v, want Busy", a.err)
	}
	if held := h.activeReservation(); held != nil {
		t.Errorf("the reservation was not released: %+v", held)
	}
	answers := r.direct(context.Background(), "patient", waitMax)
	h.eventually("it has a reservation", func() bool { return h.activeReservation() != nil })
	s.results <- nil
	h.awaitEnded(plug)
	if job := s.awaitStart(h); job.Name != "patient" {
		t.Errorf("job %s started before it", job.ID)
	}
	s.results <- nil
	h.awaitAnswer(answers)
	if job := s.awaitStart(h); job.ID != waits {
		t.Errorf("job %s started, want the one that waited", job.ID)
	}
}

// The reservation of a process that dies blocks others no longer than a lease; a live
// process extends it.
func TestReservationIsExtendedWhileDirectRunWaits(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		r := h.start(registry(s.handle), engine.Config{Workers: 1, Lease: h.lease})
		h.addOne()
		s.awaitStart(h)
		answers := r.direct(context.Background(), "patient", waitMax)
		h.eventually("it has a reservation", func() bool { return h.activeReservation() != nil })
		first := h.activeReservation()
		if lasts := first.ExpiresAt.Sub(first.ReservedAt); lasts > h.lease+h.lease/2 { // it may have been extended once
			h.Errorf("it lasts %s", lasts)
		}
		time.Sleep(2 * h.lease)
		if now := h.activeReservation(); now == nil || now.ID != first.ID {
			h.Errorf("the reservation ended while the direct run waits: %+v", now)
		}
		s.finish(h, nil)
		if job := s.awaitStart(h); job.Name != "patient" {
			h.Errorf("job %s started", job.ID)
		}
		s.finish(h, nil)
		if a := h.awaitAnswer(answers); a.err != nil {
			h.Error(a.err)
		}
	})
}

// The heartbeats of this process did not reach the store, and its reservation has
// expired when a slot becomes free.
func TestDirectRunWithExpiredReservationReservesAgain(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		s := newControlledHandler()
		silent := wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) {
				return errDown
			}
			return nil
		}}
		r := h.startOn(wrap.Flaky(h.store, silent), registry(s.handle), engine.Config{Workers: 1, Lease: h.lease})
		h.addOne()
		s.awaitStart(h)
		answers := r.direct(context.Background(), "patient", waitMax)
		h.eventually("it has a reservation", func() bool { return h.activeReservation() != nil })
		first := h.activeReservation().ID
		h.eventually("the reservation has expired", func() bool { return h.activeReservation() == nil })
		s.finish(h, nil)
		if job := s.awaitStart(h); job.Name != "patient" || h.activeReservation() == nil || h.activeReservation().ID == first {
			h.Errorf("job %s started under %+v", job.ID, h.activeReservation())
		}
		s.finish(h, nil)
		if a := h.awaitAnswer(answers); a.err != nil {
			h.Error(a.err)
		}
	})
}

func TestDirectRunObeysLimits(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle, engine.WithConcurrency(1)), engine.Config{})
	id := h.addOne()
	s.awaitStart(h)
	if a := h.awaitAnswer(r.direct(context.Background(), "impatient", 20*time.Millisecond)); rota.CodeOf(a.err) != rota.Busy {
		t.Errorf("%v, want Busy", a.err)
	}
	if held := h.activeReservation(); held != nil {
		t.Errorf("the reservation was not released: %+v", held)
	}
	answers := r.direct(context.Background(), "patient", waitMax)
	h.eventually("it has a reservation", func() bool { return h.activeReservation() != nil })
	s.results <- nil
	h.awaitEnded(id)
	s.awaitStart(h)
	s.results <- nil
	if a := h.awaitAnswer(answers); a.err != nil {
		t.Error(a.err)
	}
}

func TestDirectRunContinuesAfterCallerLeft(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	ctx, leave := context.WithCancel(context.Background())
	answers := r.direct(ctx, "alone", 0)
	job := s.awaitStart(h)
	leave()
	if a := h.awaitAnswer(answers); !errors.Is(a.err, context.Canceled) {
		t.Errorf("%v, %v", a.job, a.err)
	}
	s.results <- nil
	if ended := h.awaitEnded(job.ID); ended.State() != rota.StateCompleted {
		t.Errorf("%s", ended.State())
	}
}

// The answer to Reserve is in flight when the caller stops waiting: the queue must not
// stay blocked.
func TestCallerLeavingDuringReserveReleasesReservation(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	g := newGate(rota.VerbReserve)
	r := h.startOn(wrap.Flaky(h.store, g.after()), registry(s.handle), engine.Config{})
	ctx, leave := context.WithCancel(context.Background())
	answers := r.direct(ctx, "gone", waitMax)
	h.await(g.reached, "the reservation")
	leave()
	if a := h.awaitAnswer(answers); !errors.Is(a.err, context.Canceled) {
		t.Errorf("%v, %v", a.job, a.err)
	}
	close(g.open)
	id := h.addOne()
	if job := s.awaitStart(h); job.ID != id {
		t.Errorf("job %s started", job.ID)
	}
	if held := h.activeReservation(); held != nil {
		t.Errorf("still reserved: %+v", held)
	}
}

func TestLostReserveAnswerLeavesNoReservation(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.startOn(wrap.Flaky(h.store, wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error {
		if hasVerb(b, rota.VerbReserve) {
			return errDown
		}
		return nil
	}}), registry(s.handle), engine.Config{})
	if a := h.awaitAnswer(r.direct(context.Background(), "lost", 0)); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("%v, %v", a.job, a.err)
	}
	h.eventually("it is released", func() bool { return h.activeReservation() == nil })
	h.addOne()
	s.awaitStart(h)
}

func TestShutdownRefusesWaitingDirectRuns(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{Workers: 1})
	plug := h.addOne()
	s.awaitStart(h)
	waits := r.direct(context.Background(), "waits for a slot", waitMax)
	h.eventually("it has a reservation", func() bool { return h.activeReservation() != nil })
	behind := r.direct(context.Background(), "waits for its turn", waitMax)
	h.pause(50 * time.Millisecond) // for it to wait for its turn, which no channel signals
	r.stop()
	for _, answers := range []<-chan answer{waits, behind} {
		if a := h.awaitAnswer(answers); rota.CodeOf(a.err) != rota.Unavailable {
			t.Errorf("%v, %v", a.job, a.err)
		}
	}
	s.results <- nil
	h.await(r.done, "the end of the engine")
	h.awaitEnded(plug)
	s.checkNoneStarted(h)
	if held := h.activeReservation(); held != nil {
		t.Errorf("still reserved: %+v", held)
	}
	if a := h.awaitAnswer(r.direct(context.Background(), "too late", 0)); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestShutdownCompletesStartedDirectRun(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	answers := r.direct(context.Background(), "runs", 0)
	s.awaitStart(h)
	r.stop()
	s.results <- nil
	if a := h.awaitAnswer(answers); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestCancelledDirectRunReturnsToCaller(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	answers := r.direct(context.Background(), "cancelled", 0)
	h.cancel(s.awaitStart(h).ID)
	if a := h.awaitAnswer(answers); a.err != nil || a.job.State() != rota.StateCancelled {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestInvalidDirectRunIsRefused(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	r := h.start(registry(s.handle), engine.Config{})
	for name, job := range map[string]rota.NewJob{
		"unknown type": {Type: "unknown"},
		"bad params":   {Type: "work", Params: json.RawMessage(`[]`)},
		"bad priority": {Type: "work", Priority: new(rota.PriorityMax + 1)},
	} {
		if _, err := r.Direct(context.Background(), job, time.Minute); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
	for reason, job := range map[string]rota.NewJob{
		"is empty, and so is template":                         {},
		`is "work", and template is "t"; set only one of them`: {Type: "work", Template: "t"},
	} {
		if _, err := r.Direct(context.Background(), job, time.Minute); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "type: "+reason) {
			t.Errorf("got %v, want an Invalid of type that %s", err, reason)
		}
	}
	h.addOne()
	s.awaitStart(h) // the queue is not blocked
	if h.activeReservation() != nil {
		t.Error("still reserved")
	}
}

func TestDirectRunOfPausedTypeDoesNotHoldQueue(t *testing.T) {
	h := newHarness(t)
	reg := registry(done)
	reg.Func("other", rota.TypeSpec{}, done)
	r := h.start(reg, engine.Config{Workers: 1})
	mustApply[*rota.TypePut](h, &rota.SwitchType{Meta: meta(), Name: "work", Paused: true})
	waits := r.direct(t.Context(), "held-back", waitMax)
	h.eventually("it has tried", func() bool {
		all, err := h.store.Reservations(t.Context(), rota.ID{}, 100)
		return err == nil && len(all) > 0
	})
	id := h.add(rota.NewJob{Type: "other"})[0]
	h.eventually("the queue continues", func() bool { return h.job(id).Ended() })
	mustApply[*rota.TypePut](h, &rota.SwitchType{Meta: meta(), Name: "work"})
	if a := h.awaitAnswer(waits); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestDirectRunRecordsActor(t *testing.T) {
	h := newHarness(t)
	r := h.start(registry(done), engine.Config{})
	for want, run := range map[string]func() (*rota.Job, error){
		"ada": func() (*rota.Job, error) { // the actor of the client
			return r.Direct(context.Background(), rota.NewJob{Type: "work"}, time.Minute)
		},
		"bob": func() (*rota.Job, error) {
			return r.DirectAs(context.Background(), "bob", nil, rota.NewJob{Type: "work"}, time.Minute)
		},
	} {
		job, err := run()
		if err != nil {
			t.Fatal(err)
		}
		newest, err := h.store.Reservations(context.Background(), rota.ID{}, 1)
		if err != nil || len(newest) != 1 || newest[0].JobID != job.ID {
			t.Fatalf("the newest reservation is %+v, %v", newest, err)
		}
		if job.CreatedBy != want || newest[0].ReservedBy != want {
			t.Errorf("created by %q, reserved by %q; want %q", job.CreatedBy, newest[0].ReservedBy, want)
		}
	}
}

func TestDirectRunOfTemplate(t *testing.T) {
	h := newHarness(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, p letter) error { return engine.Result(ctx, "to "+p.To) })
	r := h.start(reg, engine.Config{})
	put := func(name, kind, params string) {
		mustApply[*rota.TemplatePut](h, &rota.PutTemplate{Meta: meta(), Name: name, Spec: rota.TemplateSpec{
			Type: kind, Params: json.RawMessage(params), Policy: rota.PolicyPatch{MaxRetries: new(3), Timeout: new(time.Minute)},
		}})
	}
	put("greet", "letter", `{"to":"ada"}`)
	put("old", "letter", `{"to":"ada"}`)
	put("other", "elsewhere", `{}`)
	mustApply[*rota.TemplatePut](h, &rota.Archive{Meta: meta(), Name: "old"})
	for params, want := range map[string]string{`{}`: `"to ada"`, `{"to":"bob"}`: `"to bob"`} {
		job, err := r.Direct(context.Background(), rota.NewJob{Template: "greet", Params: json.RawMessage(params)}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if string(job.Run.Result) != want || job.Template != "greet" || job.Type != "letter" || job.Policy.MaxAttempts != 1 || job.Policy.Timeout != time.Minute {
			t.Errorf("%s: %s, template %q, policy %+v", params, job.Run.Result, job.Template, job.Policy)
		}
	}
	for name, want := range map[string]rota.Code{"old": rota.Conflict, "nowhere": rota.NotFound, "other": rota.Invalid} {
		if _, err := r.Direct(context.Background(), rota.NewJob{Template: name}, time.Minute); rota.CodeOf(err) != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
