package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestAWorkerAfarClaimsRunsAndRecords(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	w.remote(d, registry(func(ctx context.Context, job *rota.Job) error {
		_ = engine.Progress(ctx, "half")
		return engine.Result(ctx, job.Attempt)
	}), engine.Config{Workers: 3})
	later := w.add(rota.NewJob{Delay: time.Millisecond})[0]
	for _, id := range w.add(make([]rota.NewJob, 10)...) {
		job := w.ended(id)
		if job.State() != rota.StateCompleted || string(job.Run.Result) != "1" || string(job.Run.Progress) != `"half"` {
			t.Errorf("%s, %s, %s", job.State(), job.Run.Result, job.Run.Progress)
		}
		if job.Run.Runner != "afar" || !job.Run.Incarnation.IsZero() { // a Recover of the server must not take it for its own
			t.Errorf("run by %q, life %s", job.Run.Runner, job.Run.Incarnation)
		}
	}
	d.waits(w)
	if n := d.mixed.of("all"); n != 0 {
		t.Errorf("ends were sent along with a claim %d times", n)
	}
	for verb := range d.calls.counts {
		switch verb {
		case rota.VerbPutType, rota.VerbClaim, rota.VerbExtend, rota.VerbNote, rota.VerbFinish:
		default:
			t.Errorf("it sent %s", verb)
		}
	}
	if job := w.job(later); job.State() != rota.StateScheduled {
		t.Errorf("a delayed job, which is for the server to ready, is %s", job.State())
	}
}

func TestAnIdleWorkerHoldsOneCall(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	s := newStage()
	w.remote(d, registry(s.play), engine.Config{Workers: 20})
	d.waits(w)
	if d.limits.of(20) != 1 {
		t.Errorf("it called for %v", d.limits.counts)
	}
	w.add(make([]rota.NewJob, 12)...)
	for range 12 {
		s.next(w)
	}
	d.waits(w)
	for range 12 {
		s.end <- nil
	}
	w.until("all ends are recorded", func() bool {
		return w.seen.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == 12
	})
	calls := d.calls.of(rota.VerbClaim)
	time.Sleep(100 * time.Millisecond) // for another one, which must not come
	if polls, more := d.polls.of("all"), d.calls.of(rota.VerbClaim)-calls; polls != 1 || more != 0 {
		t.Errorf("%d calls wait, %d more were made", polls, more)
	}
}

// A call that waits for one slot only does not keep the others from their work.
func TestSlotsThatComeFreeWhileACallWaitsAreUsed(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	s := newStage()
	r := w.remote(d, registry(s.play), engine.Config{Workers: 5})
	w.add(make([]rota.NewJob, 4)...)
	for range 4 {
		s.next(w)
	}
	d.waits(w) // with one slot
	for range 4 {
		s.end <- nil
	}
	w.until("nothing runs", func() bool { return r.Snapshot().Running == 0 })
	w.add(make([]rota.NewJob, 7)...)
	for range 5 {
		s.next(w) // they run at the same time
	}
	time.Sleep(20 * time.Millisecond) // for one too many
	s.nobody(w)
	for range 5 {
		s.end <- nil
	}
	s.next(w)
	s.next(w)
}

func TestAShutdownEndsACallThatWaits(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	d.wait = time.Hour
	r := w.remote(d, registry(done), engine.Config{})
	d.waits(w)
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	id := w.addOne()
	if job := w.job(id); job.State() != rota.StateQueued {
		t.Errorf("a job that came afterwards is %s", job.State())
	}
}

func TestAShutdownWhileACallWaitsSeesWorkThrough(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	s := newStage()
	r := w.remote(d, registry(s.play), engine.Config{Workers: 2})
	id := w.addOne()
	s.next(w)
	d.waits(w)
	r.stop()
	w.until("no call waits", func() bool { return d.polls.of("all") == 0 })
	select {
	case <-r.over:
		t.Error("it did not wait for what runs")
	default:
	}
	s.end <- nil
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if job := w.job(id); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

// What a call brings in the moment of the stop is ours, and is run.
func TestJobsThatComeWithTheShutdownAreRun(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	id := w.addOne()
	under, stopped := make(chan struct{}), make(chan struct{})
	d.breaks(func(_ context.Context, c rota.Command) error {
		if c.Verb() == rota.VerbClaim {
			close(under)
			<-stopped
		}
		return nil
	})
	d.near = heedless{w.store}
	r := w.remote(d, registry(done), engine.Config{})
	w.comes(under, "a call")
	r.stop()
	close(stopped)
	w.comes(r.over, "the end of the engine")
	if job := w.job(id); r.err != nil || job.State() != rota.StateCompleted {
		t.Errorf("%v, %s", r.err, job.State())
	}
}

// heedless is a store that applies what it is sent, whether or not the sender
// still wants it.
type heedless struct{ rota.Store }

// Apply applies.
func (s heedless) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	return s.Store.Apply(context.WithoutCancel(ctx), b)
}

func TestAWorkerOutlivesAnOutageOfItsServer(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	var runs tally[rota.ID]
	s := newStage()
	w.remote(d, registry(func(ctx context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return s.play(ctx, job)
	}), engine.Config{Workers: 4})
	ids := w.add(make([]rota.NewJob, 3)...)
	for range 3 {
		s.next(w)
	}
	var failed tally[rota.Verb]
	d.breaks(func(_ context.Context, c rota.Command) error {
		failed.add(c.Verb(), 1)
		return errDown
	})
	for range 3 {
		s.end <- nil
	}
	w.until("the ends were sent in vain", func() bool { return failed.of(rota.VerbFinish) > 2 })
	ids = append(ids, w.add(make([]rota.NewJob, 5)...)...) // a call that waited finds one, the next are in vain
	w.until("calls were made in vain", func() bool { return failed.of(rota.VerbClaim) > 2 })
	d.breaks(nil)
	for range 5 {
		s.next(w)
		s.end <- nil
	}
	for _, id := range ids {
		if job := w.ended(id); job.State() != rota.StateCompleted || runs.of(id) != 1 {
			t.Errorf("job %s: %s, ran %d times", id, job.State(), runs.of(id))
		}
	}
	if began, ended := w.log.count("the server does not answer", "verb=claim"), w.log.count("the server does not answer", "verb=finish"); began != 1 || ended != 1 {
		t.Errorf("the outage was logged %d and %d times", began, ended)
	}
}

// A call whose answer is lost is made again, and what it had taken comes then.
func TestACallWhoseAnswerIsLostIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	var lost tally[string]
	d.near = &forgetful{w.store, &lost}
	var runs tally[rota.ID]
	w.remote(d, registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return nil
	}), engine.Config{})
	for _, id := range w.add(make([]rota.NewJob, 20)...) {
		if job := w.ended(id); job.State() != rota.StateCompleted || runs.of(id) != 1 || job.Attempt != 1 {
			t.Errorf("%s, ran %d times", job.State(), runs.of(id))
		}
	}
	if lost.of("answers") == 0 {
		t.Error("no answer was lost")
	}
}

// forgetful is a store that loses each other answer with jobs.
type forgetful struct {
	rota.Store
	lost *tally[string]
}

// Apply applies, and may say that it has not.
func (s *forgetful) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	if err != nil {
		return nil, err
	}
	if claimed, ok := results[0].Reply.(*rota.Claimed); ok && len(claimed.Jobs) > 0 && s.lost.add("answers", 1)%2 == 1 {
		return nil, errDown
	}
	return results, nil
}

func TestAWorkerWaitsForAServerThatIsNotThereYet(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	var failed tally[string]
	d.breaks(func(context.Context, rota.Command) error {
		failed.add("all", 1)
		return errDown
	})
	r := w.launch(d, registry(done), engine.Config{Remote: true})
	w.until("it has tried", func() bool { return failed.of("all") > 3 })
	d.breaks(nil)
	w.comes(r.Ready(), "the engine")
	if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
	if n := w.log.count("the server does not answer"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestAWorkerThatIsDeniedEnds(t *testing.T) {
	for _, verb := range []rota.Verb{rota.VerbPutType, rota.VerbClaim} {
		t.Run("at the start by "+string(verb), func(t *testing.T) {
			w := newWorld(t)
			d := w.distant()
			d.breaks(denies(verb))
			r := w.launch(d, registry(done), engine.Config{Remote: true})
			w.comes(r.over, "the end of the engine")
			if rota.CodeOf(r.err) != rota.Denied {
				t.Errorf("%v", r.err)
			}
		})
	}
	for name, verbs := range map[string][]rota.Verb{
		"by a beat": {rota.VerbExtend, rota.VerbFinish}, "by everything": {rota.VerbExtend, rota.VerbFinish, rota.VerbClaim},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.distant()
			causes := make(chan error, 1)
			s := newStage()
			r := w.remote(d, registry(func(ctx context.Context, job *rota.Job) error {
				s.began <- job
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return ctx.Err()
			}), engine.Config{Lease: rota.LeaseMin, ShutdownGrace: time.Hour})
			id := w.addOne()
			s.next(w)
			d.waits(w)
			d.breaks(denies(verbs...))
			w.comes(r.over, "the end of the engine")
			if rota.CodeOf(r.err) != rota.Denied {
				t.Errorf("%v", r.err)
			}
			if cause := <-causes; cause.Error() != "the process is shutting down" {
				t.Errorf("the handler was stopped because %v", cause)
			}
			if job := w.job(id); job.State() != rota.StateRunning || w.log.count("not recorded", "job="+id.String()) != 1 {
				t.Errorf("%s", job.State())
			}
		})
	}
	t.Run("when it records", func(t *testing.T) {
		w := newWorld(t)
		d := w.distant()
		s := newStage()
		r := w.remote(d, registry(s.play), engine.Config{Lease: time.Hour, ShutdownGrace: time.Hour})
		w.addOne()
		s.next(w)
		d.breaks(denies(rota.VerbFinish))
		s.end <- nil
		w.comes(r.over, "the end of the engine")
		if rota.CodeOf(r.err) != rota.Denied || d.calls.of(rota.VerbFinish) != 1 {
			t.Errorf("%v after %d tries", r.err, d.calls.of(rota.VerbFinish))
		}
	})
	t.Run("by a refusal of the claim alone", func(t *testing.T) {
		w := newWorld(t)
		d := w.distant()
		d.near = &refusing{w.store, func(c rota.Command) *rota.Error {
			if c.Verb() == rota.VerbClaim {
				return rota.Errorf(rota.Denied, "claim", "the token may not claim")
			}
			return nil
		}}
		r := w.launch(d, registry(done), engine.Config{Remote: true})
		w.comes(r.over, "the end of the engine")
		if rota.CodeOf(r.err) != rota.Denied {
			t.Errorf("%v", r.err)
		}
	})
}

// A store at hand that denies something is no reason to end.
func TestAnEngineAtItsStoreGoesOnWhenItIsDenied(t *testing.T) {
	w := newWorld(t)
	var denied tally[string]
	store := &refusing{w.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbClaim && denied.add("all", 1) < 2 {
			return rota.Errorf(rota.Denied, "claim", "not now")
		}
		return nil
	}}
	w.startOn(store, registry(done), engine.Config{})
	if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

func TestACancelReachesAWorkerAfarWithABeat(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	w.remote(w.distant(), registry(s.play), engine.Config{Lease: rota.LeaseMin})
	id := w.addOne()
	s.next(w)
	w.cancel(id)
	if job := w.ended(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
		t.Errorf("%s, %q", job.Run.Outcome, job.Run.ErrorCode)
	}
}

func TestAWorkerAfarStopsWhatItHasLost(t *testing.T) {
	w := newWorld(t)
	s := newStage()
	causes := make(chan error, 2)
	r := w.remote(w.distant(), registry(func(ctx context.Context, job *rota.Job) error {
		err := s.play(ctx, job)
		causes <- err
		return err
	}), engine.Config{Lease: rota.LeaseMin, Workers: 1})
	id := w.addOne()
	s.next(w)
	if stolen := w.steal(); len(stolen) != 1 {
		t.Fatalf("stolen: %+v", stolen)
	}
	if cause := <-causes; cause == nil || cause.Error() != "the lease of the run was lost" {
		t.Errorf("it was stopped because %v", cause)
	}
	if second := s.next(w); second.RetryOf != id { // in the slot that it left
		t.Errorf("%s began", second.ID)
	}
	s.end <- nil
	if got := r.Snapshot(); got.LeaseLost != 1 {
		t.Errorf("%+v", got)
	}
}

// A server that answers at once that there is nothing is not asked all the time.
func TestEmptyAnswersThatComeAtOnceAreNotHammered(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	d.wait = 0
	w.remote(d, registry(done), engine.Config{})
	began := time.Now()
	time.Sleep(1200 * time.Millisecond)
	if n, took := d.calls.of(rota.VerbClaim), time.Since(began); float64(n) > 10*took.Seconds() {
		t.Errorf("it was asked %d times in %s", n, took)
	}
	if job := w.ended(w.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

// generous is a server that hands out what nobody has asked for.
type generous struct{ rota.Store }

// Apply claims more than it is told.
func (g *generous) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if claim, ok := b.Commands[0].(*rota.Claim); ok {
		more := *claim
		more.Limit, more.Types = claim.Limit+2, []string{"work", "unheard"}
		b.Commands = []rota.Command{&more}
	}
	return g.Store.Apply(ctx, b)
}

func TestWhatNobodyHasAskedForIsLeft(t *testing.T) {
	w := newWorld(t)
	d := w.distant()
	d.near = &generous{w.store}
	s := newStage()
	odd := w.add(rota.NewJob{Type: "unheard"})[0]
	ids := w.add(make([]rota.NewJob, 4)...)
	r := w.remote(d, registry(s.play), engine.Config{Workers: 2})
	s.next(w)
	s.next(w)
	w.until("it was logged", func() bool { return w.log.count("did not ask for") == 2 })
	s.nobody(w)
	for _, id := range []rota.ID{odd, ids[2]} {
		if job := w.job(id); job.State() != rota.StateRunning { // until its lease runs out
			t.Errorf("%s", job.State())
		}
	}
	s.end <- nil
	s.end <- errors.New("no luck")
	s.next(w)
	s.end <- nil
	if err := r.shutdown(); err != nil { // neither of the two keeps it
		t.Error(err)
	}
}
