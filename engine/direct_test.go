package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/wrap"
)

// answer is what a caller of Direct gets.
type answer struct {
	job *rota.Job
	err error
}

// direct calls Direct in the background.
func (r *running) direct(ctx context.Context, name string, wait time.Duration) <-chan answer {
	answers := make(chan answer, 1)
	go func() {
		job, err := r.Direct(ctx, rota.NewJob{Type: "work", Name: name}, wait)
		answers <- answer{job, err}
	}()
	return answers
}

func (w *world) hears(answers <-chan answer) answer {
	w.Helper()
	select {
	case a := <-answers:
		return a
	case <-time.After(patience):
		w.Fatal("a caller of a direct run waits in vain")
		return answer{}
	}
}

// active is the reservation that is active, nil if none is.
func (w *world) active() *rota.Reservation {
	w.Helper()
	all, err := w.store.Reservations(context.Background(), rota.ID{}, 100)
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range all {
		if r.Status == rota.ReservationActive {
			return r
		}
	}
	return nil
}

func TestADirectRunAnswersWithItsResult(t *testing.T) {
	w := newWorld(t)
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, p letter) error {
		if p.To == "" {
			return errors.New("no address")
		}
		return engine.Result(ctx, "to "+p.To)
	})
	r := w.start(reg, engine.Config{Workers: 1, Name: "kitchen"})
	for params, want := range map[string]string{`{"to":"ada"}`: `"to ada" `, `{"to":""}`: ` no address`} {
		job, err := r.Direct(context.Background(), rota.NewJob{Type: "letter", Params: json.RawMessage(params)}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%s %s", job.Run.Result, job.Run.Error); got != want || !job.Ended() || job.Run.Runner != "kitchen" || !job.Run.Token.IsZero() {
			t.Errorf("%s: %q by %s, want %q", params, got, job.Run.Runner, want)
		}
	}
	if held := w.active(); held != nil {
		t.Errorf("the reservation is still active: %+v", held)
	}
}

func TestADirectRunHoldsTheQueueBackAndLeavesItsOrder(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Workers: 3})
	answers := r.direct(context.Background(), "direct", 0)
	job := s.next(w)
	ids := w.add(rota.NewJob{}, rota.NewJob{}, rota.NewJob{})
	w.add(rota.NewJob{Delay: time.Hour}) // something more to wake up for
	time.Sleep(50 * time.Millisecond)    // for what must not happen
	s.nobody(w)
	if queue := w.queue(); len(queue) != 3 || queue[0].ID != ids[0] || queue[2].ID != ids[2] {
		t.Errorf("the queue: %v", queue)
	}
	s.end <- nil
	if a := w.hears(answers); a.err != nil || a.job.ID != job.ID || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
	for range 3 { // and all slots are there again
		if next := s.next(w); !slices.Contains(ids, next.ID) {
			t.Errorf("%s began", next.ID)
		}
	}
}

func TestASecondDirectRunIsBusyOrWaits(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	first := r.direct(context.Background(), "first", 0)
	s.next(w)
	for _, wait := range []time.Duration{0, 30 * time.Millisecond} {
		if a := w.hears(r.direct(context.Background(), "second", wait)); rota.CodeOf(a.err) != rota.Busy {
			t.Errorf("after %v: %v, want Busy", wait, a.err)
		}
	}
	third := r.direct(context.Background(), "third", patience)
	s.end <- nil
	if a := w.hears(first); a.err != nil {
		t.Error(a.err)
	}
	if job := s.next(w); job.Name != "third" {
		t.Errorf("%s began", job.Name)
	}
	s.end <- nil
	if a := w.hears(third); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestDirectRunsComeInTheOrderOfTheirCallers(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	names := []string{"a", "b", "c", "d", "e"}
	var callers []<-chan answer
	for _, name := range names {
		callers = append(callers, r.direct(context.Background(), name, patience))
		w.rest(50 * time.Millisecond) // for it to stand in the row, which nobody signals
	}
	for i, name := range names {
		if job := s.next(w); job.Name != name {
			t.Errorf("%s began, want %s", job.Name, name)
		}
		s.end <- nil
		w.hears(callers[i])
	}
}

func TestADirectRunWaitsForASlotButNotForEver(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Workers: 1})
	plug, waits := w.addOne(), w.addOne()
	s.next(w)
	if a := w.hears(r.direct(context.Background(), "impatient", 0)); rota.CodeOf(a.err) != rota.Busy {
		t.Errorf("%v, want Busy", a.err)
	}
	if held := w.active(); held != nil {
		t.Errorf("the reservation was not released: %+v", held)
	}
	answers := r.direct(context.Background(), "patient", patience)
	w.until("it has reserved", func() bool { return w.active() != nil })
	s.end <- nil
	w.ended(plug)
	if job := s.next(w); job.Name != "patient" {
		t.Errorf("%s began before it", job.ID)
	}
	s.end <- nil
	w.hears(answers)
	if job := s.next(w); job.ID != waits {
		t.Errorf("%s began, want the one that waited", job.ID)
	}
}

// A process that dies holds others up no longer than its leases do; one that
// lives is waited for.
func TestAReservationLastsALeaseAndIsKeptWhileItWaits(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		r := w.start(registry(s.play), engine.Config{Workers: 1, Lease: w.lease})
		w.addOne()
		s.next(w)
		answers := r.direct(context.Background(), "patient", patience)
		w.until("it has reserved", func() bool { return w.active() != nil })
		first := w.active()
		if lasts := first.ExpiresAt.Sub(first.ReservedAt); lasts > w.lease+w.lease/2 { // it may have been kept once
			w.Errorf("it lasts %s", lasts)
		}
		time.Sleep(2 * w.lease)
		if now := w.active(); now == nil || now.ID != first.ID {
			w.Errorf("while somebody waits it is over: %+v", now)
		}
		s.ends(w, nil)
		if job := s.next(w); job.Name != "patient" {
			w.Errorf("%s began", job.ID)
		}
		s.ends(w, nil)
		if a := w.hears(answers); a.err != nil {
			w.Error(a.err)
		}
	})
}

// This process was not heard of, and its reservation is over by the time that a
// slot is free.
func TestADirectRunWhoseReservationIsOverReservesAgain(t *testing.T) {
	byLease(t, fileWorld, func(w *world) {
		s := newStage()
		silent := wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) {
				return errDown
			}
			return nil
		}}
		r := w.startOn(wrap.Flaky(w.store, silent), registry(s.play), engine.Config{Workers: 1, Lease: w.lease})
		w.addOne()
		s.next(w)
		answers := r.direct(context.Background(), "patient", patience)
		w.until("it has reserved", func() bool { return w.active() != nil })
		first := w.active().ID
		w.until("that is over", func() bool { return w.active() == nil })
		s.ends(w, nil)
		if job := s.next(w); job.Name != "patient" || w.active() == nil || w.active().ID == first {
			w.Errorf("%s began under %+v", job.ID, w.active())
		}
		s.ends(w, nil)
		if a := w.hears(answers); a.err != nil {
			w.Error(a.err)
		}
	})
}

func TestADirectRunObeysLimits(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play, engine.WithConcurrency(1)), engine.Config{})
	id := w.addOne()
	s.next(w)
	if a := w.hears(r.direct(context.Background(), "impatient", 20*time.Millisecond)); rota.CodeOf(a.err) != rota.Busy {
		t.Errorf("%v, want Busy", a.err)
	}
	if held := w.active(); held != nil {
		t.Errorf("the reservation was not released: %+v", held)
	}
	answers := r.direct(context.Background(), "patient", patience)
	w.until("it has reserved", func() bool { return w.active() != nil })
	s.end <- nil
	w.ended(id)
	s.next(w)
	s.end <- nil
	if a := w.hears(answers); a.err != nil {
		t.Error(a.err)
	}
}

func TestADirectRunGoesOnWithoutItsCaller(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	ctx, leave := context.WithCancel(context.Background())
	answers := r.direct(ctx, "alone", 0)
	job := s.next(w)
	leave()
	if a := w.hears(answers); !errors.Is(a.err, context.Canceled) {
		t.Errorf("%v, %v", a.job, a.err)
	}
	s.end <- nil
	if ended := w.ended(job.ID); ended.State() != rota.StateCompleted {
		t.Errorf("%s", ended.State())
	}
}

// The answer to a Reserve is on its way when the caller leaves: the queue must
// not be held up for somebody who has gone.
func TestACallerWhoLeavesHoldsNothingUp(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	g := newGate(rota.VerbReserve)
	r := w.startOn(wrap.Flaky(w.store, g.after()), registry(s.play), engine.Config{})
	ctx, leave := context.WithCancel(context.Background())
	answers := r.direct(ctx, "gone", patience)
	w.comes(g.reached, "the reservation")
	leave()
	if a := w.hears(answers); !errors.Is(a.err, context.Canceled) {
		t.Errorf("%v, %v", a.job, a.err)
	}
	close(g.open)
	id := w.addOne()
	if job := s.next(w); job.ID != id {
		t.Errorf("%s began", job.ID)
	}
	if held := w.active(); held != nil {
		t.Errorf("still reserved: %+v", held)
	}
}

func TestALostAnswerLeavesNoReservation(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.startOn(wrap.Flaky(w.store, wrap.Fault{After: func(b rota.Batch, _ []rota.Result) error {
		if hasVerb(b, rota.VerbReserve) {
			return errDown
		}
		return nil
	}}), registry(s.play), engine.Config{})
	if a := w.hears(r.direct(context.Background(), "lost", 0)); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("%v, %v", a.job, a.err)
	}
	w.until("it is released", func() bool { return w.active() == nil })
	w.addOne()
	s.next(w)
}

func TestADirectRunInAShutdown(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{Workers: 1})
	plug := w.addOne()
	s.next(w)
	waits := r.direct(context.Background(), "waits for a slot", patience)
	w.until("it has reserved", func() bool { return w.active() != nil })
	behind := r.direct(context.Background(), "waits for its turn", patience)
	w.rest(50 * time.Millisecond) // for it to stand in the row, which nobody signals
	r.stop()
	for _, answers := range []<-chan answer{waits, behind} {
		if a := w.hears(answers); rota.CodeOf(a.err) != rota.Unavailable {
			t.Errorf("%v, %v", a.job, a.err)
		}
	}
	s.end <- nil
	w.comes(r.over, "the end of the engine")
	w.ended(plug)
	s.nobody(w)
	if held := w.active(); held != nil {
		t.Errorf("still reserved: %+v", held)
	}
	if a := w.hears(r.direct(context.Background(), "too late", 0)); rota.CodeOf(a.err) != rota.Unavailable {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestADirectRunIsSeenThroughInAShutdown(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	answers := r.direct(context.Background(), "runs", 0)
	s.next(w)
	r.stop()
	s.end <- nil
	if a := w.hears(answers); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestADirectRunThatIsCancelledAnswers(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	answers := r.direct(context.Background(), "cancelled", 0)
	w.cancel(s.next(w).ID)
	if a := w.hears(answers); a.err != nil || a.job.State() != rota.StateCancelled {
		t.Errorf("%v, %v", a.job, a.err)
	}
}

func TestADirectRunThatCannotBeIsRefused(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	r := w.start(registry(s.play), engine.Config{})
	for name, job := range map[string]rota.NewJob{
		"unknown type": {Type: "nobody"},
		"bad params":   {Type: "work", Params: json.RawMessage(`[]`)},
		"bad priority": {Type: "work", Priority: new(rota.PriorityMax + 1)},
	} {
		if _, err := r.Direct(context.Background(), job, time.Minute); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%s: %v, want Invalid", name, err)
		}
	}
	w.addOne()
	s.next(w) // nothing is held up
	if w.active() != nil {
		t.Error("still reserved")
	}
}

func TestADirectRunOfAPausedTypeHoldsUpNoQueue(t *testing.T) {
	w := newWorld(t)
	reg := registry(done)
	reg.Func("other", rota.TypeSpec{}, done)
	r := w.start(reg, engine.Config{Workers: 1})
	does[*rota.TypePut](w, &rota.SwitchType{Meta: meta(), Name: "work", Paused: true})
	waits := r.direct(t.Context(), "held-back", patience)
	w.until("it has tried", func() bool {
		all, err := w.store.Reservations(t.Context(), rota.ID{}, 100)
		return err == nil && len(all) > 0
	})
	id := w.add(rota.NewJob{Type: "other"})[0]
	w.until("the queue goes on", func() bool { return w.job(id).Ended() })
	does[*rota.TypePut](w, &rota.SwitchType{Meta: meta(), Name: "work"})
	if a := w.hears(waits); a.err != nil || a.job.State() != rota.StateCompleted {
		t.Errorf("%v, %v", a.job, a.err)
	}
}
