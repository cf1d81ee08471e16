package engine_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

func TestRemoteWorkerClaimsRunsAndRecords(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	h.startRemote(d, registry(func(ctx context.Context, job *rota.Job) error {
		_ = engine.Progress(ctx, "half")
		return engine.Result(ctx, job.Attempt)
	}), engine.Config{Workers: 3})
	later := h.add(rota.NewJob{Delay: time.Millisecond})[0]
	for _, id := range h.add(make([]rota.NewJob, 10)...) {
		job := h.awaitEnded(id)
		if job.State() != rota.StateCompleted || string(job.Run.Result) != "1" || string(job.Run.Progress) != `"half"` {
			t.Errorf("%s, %s, %s", job.State(), job.Run.Result, job.Run.Progress)
		}
		if job.Run.Runner != "remote" || !job.Run.Incarnation.IsZero() { // a Recover of the server must not settle it
			t.Errorf("run by %q, incarnation %s", job.Run.Runner, job.Run.Incarnation)
		}
	}
	d.awaitPoll(h)
	if n := d.claimsWithOthers.get("all"); n != 0 {
		t.Errorf("ends were sent along with a claim %d times", n)
	}
	for verb := range d.calls.counts {
		switch verb {
		case rota.VerbPutType, rota.VerbClaim, rota.VerbExtend, rota.VerbNote, rota.VerbFinish:
		default:
			t.Errorf("it sent %s", verb)
		}
	}
	if job := h.job(later); job.State() != rota.StateScheduled {
		t.Errorf("a delayed job, which only the server readies, is %s", job.State())
	}
}

func TestIdleRemoteWorkerHoldsOnePoll(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	s := newControlledHandler()
	h.startRemote(d, registry(s.handle), engine.Config{Workers: 20})
	d.awaitPoll(h)
	if d.limits.get(20) != 1 {
		t.Errorf("it polled for %v", d.limits.counts)
	}
	h.add(make([]rota.NewJob, 12)...)
	for range 12 {
		s.awaitStart(h)
	}
	d.awaitPoll(h)
	for range 12 {
		s.results <- nil
	}
	h.eventually("all ends are recorded", func() bool {
		return h.events.count(func(e rota.Event) bool { return e.Kind == rota.EventJobCompleted }) == 12
	})
	calls := d.calls.get(rota.VerbClaim)
	time.Sleep(100 * time.Millisecond) // for another poll, which must not happen
	if polls, more := d.polls.get("all"), d.calls.get(rota.VerbClaim)-calls; polls != 1 || more != 0 {
		t.Errorf("%d polls wait, %d more were sent", polls, more)
	}
}

// A poll that waits with one slot does not keep the other slots from being used.
func TestSlotsFreedDuringPollAreUsed(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	s := newControlledHandler()
	r := h.startRemote(d, registry(s.handle), engine.Config{Workers: 5})
	h.add(make([]rota.NewJob, 4)...)
	for range 4 {
		s.awaitStart(h)
	}
	d.awaitPoll(h) // with one slot
	for range 4 {
		s.results <- nil
	}
	h.eventually("nothing runs", func() bool { return r.Snapshot().Running == 0 })
	h.add(make([]rota.NewJob, 7)...)
	for range 5 {
		s.awaitStart(h) // they run at the same time
	}
	time.Sleep(20 * time.Millisecond) // for one start too many
	s.checkNoneStarted(h)
	for range 5 {
		s.results <- nil
	}
	s.awaitStart(h)
	s.awaitStart(h)
}

func TestShutdownEndsWaitingPoll(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	d.wait = time.Hour
	r := h.startRemote(d, registry(done), engine.Config{})
	d.awaitPoll(h)
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	id := h.addOne()
	if job := h.job(id); job.State() != rota.StateQueued {
		t.Errorf("a job enqueued afterwards is %s", job.State())
	}
}

func TestShutdownDuringPollCompletesRuns(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	s := newControlledHandler()
	r := h.startRemote(d, registry(s.handle), engine.Config{Workers: 2})
	id := h.addOne()
	s.awaitStart(h)
	d.awaitPoll(h)
	r.stop()
	h.eventually("no poll waits", func() bool { return d.polls.get("all") == 0 })
	select {
	case <-r.done:
		t.Error("Run returned before the handler")
	default:
	}
	s.results <- nil
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if job := h.job(id); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

// Jobs that a poll brings at the moment of the shutdown are run.
func TestJobsClaimedDuringShutdownAreRun(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	id := h.addOne()
	under, stopped := make(chan struct{}), make(chan struct{})
	d.setFault(func(_ context.Context, c rota.Command) error {
		if c.Verb() == rota.VerbClaim {
			close(under)
			<-stopped
		}
		return nil
	})
	d.local = uncancelledStore{h.store}
	r := h.startRemote(d, registry(done), engine.Config{})
	h.await(under, "a poll")
	r.stop()
	close(stopped)
	h.await(r.done, "the end of the engine")
	if job := h.job(id); r.err != nil || job.State() != rota.StateCompleted {
		t.Errorf("%v, %s", r.err, job.State())
	}
}

// uncancelledStore is a store that applies a batch even if the context of the caller has
// ended.
type uncancelledStore struct{ rota.Store }

// Apply ignores the end of ctx.
func (s uncancelledStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	return s.Store.Apply(context.WithoutCancel(ctx), b)
}

func TestRemoteWorkerContinuesAfterServerOutage(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	var runs counter[rota.ID]
	s := newControlledHandler()
	h.startRemote(d, registry(func(ctx context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return s.handle(ctx, job)
	}), engine.Config{Workers: 4})
	ids := h.add(make([]rota.NewJob, 3)...)
	for range 3 {
		s.awaitStart(h)
	}
	var failed counter[rota.Verb]
	d.setFault(func(_ context.Context, c rota.Command) error {
		failed.add(c.Verb(), 1)
		return errDown
	})
	for range 3 {
		s.results <- nil
	}
	h.eventually("sending the ends failed", func() bool { return failed.get(rota.VerbFinish) > 2 })
	ids = append(ids, h.add(make([]rota.NewJob, 5)...)...) // the waiting poll finds one, the next polls fail
	h.eventually("polls have failed", func() bool { return failed.get(rota.VerbClaim) > 2 })
	d.setFault(nil)
	for range 5 {
		s.awaitStart(h)
		s.results <- nil
	}
	for _, id := range ids {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || runs.get(id) != 1 {
			t.Errorf("job %s: %s, ran %d times", id, job.State(), runs.get(id))
		}
	}
	if began, ended := h.log.count("the server does not answer", "verb=claim"), h.log.count("the server does not answer", "verb=finish"); began != 1 || ended != 1 {
		t.Errorf("the outage was logged %d and %d times", began, ended)
	}
}

// A poll whose answer is lost is sent again, and its jobs come with the second answer.
func TestPollWithLostAnswerIsResent(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	var lost counter[string]
	d.local = &lossyStore{h.store, &lost}
	var runs counter[rota.ID]
	h.startRemote(d, registry(func(_ context.Context, job *rota.Job) error {
		runs.add(job.ID, 1)
		return nil
	}), engine.Config{})
	for _, id := range h.add(make([]rota.NewJob, 20)...) {
		if job := h.awaitEnded(id); job.State() != rota.StateCompleted || runs.get(id) != 1 || job.Attempt != 1 {
			t.Errorf("%s, ran %d times", job.State(), runs.get(id))
		}
	}
	if lost.get("answers") == 0 {
		t.Error("no answer was lost")
	}
}

// lossyStore is a store that loses every second answer with jobs.
type lossyStore struct {
	rota.Store
	lost *counter[string]
}

// Apply applies a batch, and may report that it did not.
func (s *lossyStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	results, err := s.Store.Apply(ctx, b)
	if err != nil {
		return nil, err
	}
	if claimed, ok := results[0].Reply.(*rota.Claimed); ok && len(claimed.Jobs) > 0 && s.lost.add("answers", 1)%2 == 1 {
		return nil, errDown
	}
	return results, nil
}

func TestRemoteWorkerWaitsForServerToStart(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	var failed counter[string]
	d.setFault(func(context.Context, rota.Command) error {
		failed.add("all", 1)
		return errDown
	})
	r := h.launch(d, registry(done), engine.Config{Remote: true})
	h.eventually("several attempts were made", func() bool { return failed.get("all") > 3 })
	d.setFault(nil)
	h.await(r.Ready(), "the engine")
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
	if n := h.log.count("the server does not answer"); n != 1 {
		t.Errorf("it was logged %d times", n)
	}
}

func TestDeniedRemoteWorkerEnds(t *testing.T) {
	for _, verb := range []rota.Verb{rota.VerbPutType, rota.VerbClaim} {
		t.Run("at the start by "+string(verb), func(t *testing.T) {
			h := newHarness(t)
			d := h.newRemoteStore()
			d.setFault(denyVerbs(verb))
			r := h.launch(d, registry(done), engine.Config{Remote: true})
			h.await(r.done, "the end of the engine")
			if rota.CodeOf(r.err) != rota.Denied {
				t.Errorf("%v", r.err)
			}
		})
	}
	for name, verbs := range map[string][]rota.Verb{
		"by a heartbeat": {rota.VerbExtend, rota.VerbFinish}, "by all commands": {rota.VerbExtend, rota.VerbFinish, rota.VerbClaim},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			d := h.newRemoteStore()
			causes := make(chan error, 1)
			s := newControlledHandler()
			r := h.startRemote(d, registry(func(ctx context.Context, job *rota.Job) error {
				s.started <- job
				<-ctx.Done()
				causes <- context.Cause(ctx)
				return ctx.Err()
			}), engine.Config{Lease: rota.LeaseMin, ShutdownGrace: time.Hour})
			id := h.addOne()
			s.awaitStart(h)
			d.awaitPoll(h)
			d.setFault(denyVerbs(verbs...))
			h.await(r.done, "the end of the engine")
			if rota.CodeOf(r.err) != rota.Denied {
				t.Errorf("%v", r.err)
			}
			if cause := <-causes; cause.Error() != "the process is shutting down" {
				t.Errorf("the cause was %v", cause)
			}
			if job := h.job(id); job.State() != rota.StateRunning || h.log.count("not recorded", "job="+id.String()) != 1 {
				t.Errorf("%s", job.State())
			}
		})
	}
	t.Run("when it records", func(t *testing.T) {
		h := newHarness(t)
		d := h.newRemoteStore()
		s := newControlledHandler()
		r := h.startRemote(d, registry(s.handle), engine.Config{Lease: time.Hour, ShutdownGrace: time.Hour})
		h.addOne()
		s.awaitStart(h)
		d.setFault(denyVerbs(rota.VerbFinish))
		s.results <- nil
		h.await(r.done, "the end of the engine")
		if rota.CodeOf(r.err) != rota.Denied || d.calls.get(rota.VerbFinish) != 1 {
			t.Errorf("%v after %d tries", r.err, d.calls.get(rota.VerbFinish))
		}
	})
	t.Run("by a refusal of the claim alone", func(t *testing.T) {
		h := newHarness(t)
		d := h.newRemoteStore()
		d.local = &refusing{h.store, func(c rota.Command) *rota.Error {
			if c.Verb() == rota.VerbClaim {
				return rota.Errorf(rota.Denied, "claim", "the token may not claim")
			}
			return nil
		}}
		r := h.launch(d, registry(done), engine.Config{Remote: true})
		h.await(r.done, "the end of the engine")
		if rota.CodeOf(r.err) != rota.Denied {
			t.Errorf("%v", r.err)
		}
	})
}

// A local store that denies a command does not end the engine.
func TestDeniedLocalEngineContinues(t *testing.T) {
	h := newHarness(t)
	var denied counter[string]
	store := &refusing{h.store, func(c rota.Command) *rota.Error {
		if c.Verb() == rota.VerbClaim && denied.add("all", 1) < 2 {
			return rota.Errorf(rota.Denied, "claim", "not now")
		}
		return nil
	}}
	h.startOn(store, registry(done), engine.Config{})
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

func TestCancelReachesRemoteWorkerWithHeartbeat(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	h.startRemote(h.newRemoteStore(), registry(s.handle), engine.Config{Lease: rota.LeaseMin})
	id := h.addOne()
	s.awaitStart(h)
	h.cancel(id)
	if job := h.awaitEnded(id); job.Run.Outcome != rota.OutcomeCancelled || job.Run.ErrorCode != rota.CodeCancelled {
		t.Errorf("%s, %q", job.Run.Outcome, job.Run.ErrorCode)
	}
}

func TestRemoteWorkerStopsRunWithLostLease(t *testing.T) {
	h := newHarness(t)
	s := newControlledHandler()
	causes := make(chan error, 2)
	r := h.startRemote(h.newRemoteStore(), registry(func(ctx context.Context, job *rota.Job) error {
		err := s.handle(ctx, job)
		causes <- err
		return err
	}), engine.Config{Lease: rota.LeaseMin, Workers: 1})
	id := h.addOne()
	s.awaitStart(h)
	if stolen := h.reapAll(); len(stolen) != 1 {
		t.Fatalf("reaped: %+v", stolen)
	}
	if cause := <-causes; cause == nil || cause.Error() != "the lease of the run was lost" {
		t.Errorf("the cause was %v", cause)
	}
	if second := s.awaitStart(h); second.RetryOf != id { // in the slot that the first freed
		t.Errorf("job %s started", second.ID)
	}
	s.results <- nil
	if got := r.Snapshot(); got.LeaseLost != 1 {
		t.Errorf("%+v", got)
	}
}

// A server that answers at once without jobs is polled with backoff.
func TestImmediateEmptyAnswersAreFollowedByBackoff(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	d.wait = 0
	h.startRemote(d, registry(done), engine.Config{})
	began := time.Now()
	time.Sleep(1200 * time.Millisecond)
	if n, took := d.calls.get(rota.VerbClaim), time.Since(began); float64(n) > 10*took.Seconds() {
		t.Errorf("it was polled %d times in %s", n, took)
	}
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
}

// overClaimingStore is a server that hands out jobs that the worker did not ask for.
type overClaimingStore struct{ rota.Store }

// Apply claims more than the worker asks for.
func (g *overClaimingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	if claim, ok := b.Commands[0].(*rota.Claim); ok {
		more := *claim
		more.Limit, more.Types = claim.Limit+2, []string{"work", "unheard"}
		b.Commands = []rota.Command{&more}
	}
	return g.Store.Apply(ctx, b)
}

func TestUnrequestedJobsAreNotRun(t *testing.T) {
	h := newHarness(t)
	d := h.newRemoteStore()
	d.local = &overClaimingStore{h.store}
	s := newControlledHandler()
	unrequested := h.add(rota.NewJob{Type: "unheard"})[0]
	ids := h.add(make([]rota.NewJob, 4)...)
	r := h.startRemote(d, registry(s.handle), engine.Config{Workers: 2})
	s.awaitStart(h)
	s.awaitStart(h)
	h.eventually("it was logged", func() bool { return h.log.count("did not ask for") == 2 })
	s.checkNoneStarted(h)
	for _, id := range []rota.ID{unrequested, ids[2]} {
		if job := h.job(id); job.State() != rota.StateRunning { // until its lease expires
			t.Errorf("%s", job.State())
		}
	}
	s.results <- nil
	s.results <- errors.New("no luck")
	s.awaitStart(h)
	s.results <- nil
	if err := r.shutdown(); err != nil { // neither of the two blocks it
		t.Error(err)
	}
}
