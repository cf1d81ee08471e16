package postgres

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// roundTripCounter is a proxy between a store and its server that counts round trips.
type roundTripCounter struct {
	listener net.Listener
	server   string

	mu       sync.Mutex
	trips    int
	waiting  bool // a request is not answered yet
	dropNext bool // drop the next answer and the connection
}

// openCounted opens a store behind a roundTripCounter.
func openCounted(t *testing.T, at string) (*Store, *roundTripCounter) {
	t.Helper()
	u, err := url.Parse(at)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p := &roundTripCounter{listener: l, server: u.Host}
	go p.serve()
	u.Host = l.Addr().String()
	return openAt(t, u.String(), Config{Logger: quiet, Poll: true}), p
}

func (p *roundTripCounter) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.server)
		if err != nil {
			_ = client.Close()
			continue
		}
		go p.forward(server, client, true)
		go p.forward(client, server, false)
	}
}

// forward copies data until one side ends or an answer is dropped.
func (p *roundTripCounter) forward(to, from net.Conn, statements bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.observe(statements) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *roundTripCounter) observe(statements bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if statements && !p.waiting {
		p.trips++
	}
	p.waiting = statements
	if !statements && p.dropNext {
		p.dropNext = false
		return false
	}
	return true
}

// count returns the number of round trips of act.
func (p *roundTripCounter) count(act func()) int {
	p.mu.Lock()
	before := p.trips
	p.mu.Unlock()
	act()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips - before
}

func (p *roundTripCounter) dropNextAnswer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropNext = true
}

func enqueueOne() *rota.Enqueue {
	return &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work"}}}
}

// enqueueAndClaim enqueues a job and claims up to n jobs in one batch.
func enqueueAndClaim(t *testing.T, s *Store, n int) []*rota.Job {
	t.Helper()
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), claimOf("w", n)}})
	must(t, err)
	return results[1].Reply.(*rota.Claimed).Jobs
}

// finish completes jobs.
func finish(t *testing.T, s *Store, jobs []*rota.Job) {
	t.Helper()
	for _, j := range jobs {
		done[*rota.Finished](t, s, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{{LeaseRef: j.Lease(), Outcome: rota.OutcomeCompleted}}})
	}
}

func putWebhook(t *testing.T, s *Store) {
	t.Helper()
	done[*rota.WebhooksPut](t, s, &rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: []rota.Webhook{{
		URL: "http://localhost:1/", Secret: "0123456789abcdef0123456789abcdef", Events: []rota.EventKind{rota.EventJobEnqueued},
	}}})
}

// openIdle opens an idle store behind a roundTripCounter, and a second store of the same database.
func openIdle(t *testing.T) (*Store, *roundTripCounter, *Store) {
	t.Helper()
	other := openTest(t, Config{Logger: quiet})
	s, p := openCounted(t, urlOf(other))
	waitIdle(t, s)
	return s, p, other
}

// waitIdle applies batches until the next one takes the idle path. A pause of the machine makes an
// assumption wrong.
func waitIdle(t *testing.T, s *Store) {
	t.Helper()
	for range 200 {
		finish(t, s, enqueueAndClaim(t, s, 20)) // and the jobs left by an earlier miss
		if c := &s.idlePath; !c.clock.IsZero() && c.emptyPriorities[0] && c.nothingReady && c.skip == 0 {
			return
		}
	}
	t.Fatal("the store never takes the idle path")
}

// expectOneTrip repeats act until it takes one round trip.
func (p *roundTripCounter) expectOneTrip(t *testing.T, s *Store, what string, act func()) {
	t.Helper()
	n := 0
	for range 10 {
		waitIdle(t, s)
		if n = p.count(act); n == 1 {
			return
		}
	}
	t.Errorf("%s costs %d round trips", what, n)
}

// TestIdlePathEnqueueTakesOneRoundTrip checks an enqueue alone and one with a claim.
func TestIdlePathEnqueueTakesOneRoundTrip(t *testing.T) {
	s, p, other := openIdle(t)
	p.expectOneTrip(t, s, "an enqueue with a claim", func() {
		if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 {
			t.Errorf("took %v", idsOf(taken))
		}
	})
	for range 3 {
		p.expectOneTrip(t, s, "an enqueue", func() { done[*rota.Enqueued](t, s, enqueueOne()) })
		finish(t, other, done[*rota.Claimed](t, other, claimOf("w", 20)).Jobs)
	}
}

// TestIdlePathDetectsJobOfOtherProcess checks that a job which another process has enqueued keeps
// its place before the new one.
func TestIdlePathDetectsJobOfOtherProcess(t *testing.T) {
	s, p, other := openIdle(t)
	first := done[*rota.Enqueued](t, other, enqueueOne()).Jobs[0].Job
	var second *rota.Job
	if n := p.count(func() { second = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
		t.Errorf("the idle path was not tried: %d round trips", n)
	}
	if second.Position <= first.Position {
		t.Errorf("the first job has position %d, the later one %d", first.Position, second.Position)
	}
	finish(t, other, done[*rota.Claimed](t, other, claimOf("w", 2)).Jobs)

	s, _, other = openIdle(t)
	first = done[*rota.Enqueued](t, other, enqueueOne()).Jobs[0].Job
	if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 || taken[0].ID != first.ID {
		t.Errorf("claimed %v, want the first job %v", idsOf(taken), first.ID)
	}
	if left := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE status = 'QUEUED'`)[0][0]; left != "1" {
		t.Errorf("%s jobs are left", left)
	}
}

// TestIdlePathDetectsJobOfHigherPriority checks that a claim takes a job of another priority that
// another process has enqueued.
func TestIdlePathDetectsJobOfHigherPriority(t *testing.T) {
	s, p, other := openIdle(t)
	high := done[*rota.Enqueued](t, other, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(9)}}}).Jobs[0].Job
	var taken []*rota.Job
	if n := p.count(func() { taken = enqueueAndClaim(t, s, 1) }); n < 3 {
		t.Errorf("the idle path was not tried: %d round trips", n)
	}
	if len(taken) != 1 || taken[0].ID != high.ID {
		t.Errorf("claimed %v, want %v of the higher priority", idsOf(taken), high.ID)
	}
}

// TestIdlePathDetectsNewWebhook checks that a webhook which another process has added receives the
// event.
func TestIdlePathDetectsNewWebhook(t *testing.T) {
	s, p, other := openIdle(t)
	putWebhook(t, other)
	if n := p.count(func() { done[*rota.Enqueued](t, s, enqueueOne()) }); n < 3 {
		t.Errorf("the idle path was not tried: %d round trips", n)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE type >= 'rota.' AND type < 'rota/'`)[0][0]; n != "1" {
		t.Errorf("%s deliveries were created, want 1", n)
	}
}

// TestIdlePathDetectsWrongClock checks that the server's clock is used if the assumed time is
// wrong.
func TestIdlePathDetectsWrongClock(t *testing.T) {
	for _, offset := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		s, p, _ := openIdle(t)
		s.idlePath.clock = s.idlePath.clock.Add(offset)
		before := storeTime(t, s)
		var made *rota.Job
		if n := p.count(func() { made = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
			t.Errorf("the idle path was not tried: %d round trips", n)
		}
		after := storeTime(t, s)
		if made.CreatedAt.Before(before.Add(-idleClockLag)) || made.CreatedAt.After(after) {
			t.Errorf("clock off by %v: a job was created at %v, want between %v and %v", offset, made.CreatedAt, before, after)
		}
		if again := s.idlePath.assume(rota.Batch{Commands: []rota.Command{enqueueOne()}}); again != nil {
			t.Error("the idle path is tried again right after a miss")
		}
	}
}

// TestIdlePathRetryAfterLostAnswerAppliesOnce checks that a batch whose answer is lost after the
// commit is not applied twice.
func TestIdlePathRetryAfterLostAnswerAppliesOnce(t *testing.T) {
	s, p, _ := openIdle(t)
	again := false
	for range 10 {
		p.dropNextAnswer()
		enqueue := enqueueOne()
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueue, claimOf("w", 1)}})
		must(t, err)
		taken := results[1].Reply.(*rota.Claimed)
		if len(taken.Jobs) != 1 || taken.Jobs[0].ID != enqueue.JobID(0) {
			t.Fatalf("claimed %v", idsOf(taken.Jobs))
		}
		finish(t, s, taken.Jobs)
		if left := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE sequel IS NULL`)[0][0]; left != "0" {
			t.Fatalf("%s jobs are left", left)
		}
		if again = taken.Again; again {
			break
		}
		waitIdle(t, s)
	}
	if !again {
		t.Error("no batch was committed before its answer was lost")
	}
}

// TestIdlePathFindsRepeatedCommand checks that a repeated claim is found if another process applied
// the first one, and if it follows other enqueues.
func TestIdlePathFindsRepeatedCommand(t *testing.T) {
	s, _, other := openIdle(t)
	enqueue, claim := enqueueOne(), claimOf("w", 1)
	var taken []rota.ID
	for i, one := range []struct {
		at      *Store
		enqueue *rota.Enqueue
	}{{other, enqueue}, {s, enqueueOne()}, {s, enqueue}, {s, enqueue}} {
		results, err := one.at.Apply(t.Context(), rota.Batch{Commands: []rota.Command{one.enqueue, claim}})
		must(t, err)
		answer := results[1].Reply.(*rota.Claimed)
		if taken = append(taken, idsOf(answer.Jobs)...); len(taken) != i+1 || taken[i] != taken[0] || answer.Again != (i > 0) {
			t.Fatalf("attempt %d: claimed %v, repeated: %t", i+1, taken, answer.Again)
		}
	}
}

// TestIdlePathKeepsEnqueueOrder checks the order if the claim takes unsent jobs, and if it takes
// webhook deliveries, which are sent before it.
func TestIdlePathKeepsEnqueueOrder(t *testing.T) {
	s, p, _ := openIdle(t)
	take := func(types ...string) (taken []*rota.Job) {
		claim := claimOf("w", 3)
		claim.Types = types
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), enqueueOne(), claim}})
		must(t, err)
		return results[2].Reply.(*rota.Claimed).Jobs
	}
	isOrdered := func(taken []*rota.Job) bool {
		return len(taken) >= 2 && taken[0].Type == "work" && taken[1].Type == "work" && taken[0].Position < taken[1].Position
	}
	p.expectOneTrip(t, s, "two enqueues with a claim", func() {
		if taken := take("work"); len(taken) != 2 || !isOrdered(taken) {
			t.Errorf("took %v", idsOf(taken))
		}
	})
	putWebhook(t, s)
	for range 3 { // the first caches types and webhooks
		taken := take("work", rota.TypeWebhook)
		if len(taken) != 3 || !isOrdered(taken) || taken[2].Type != rota.TypeWebhook {
			t.Errorf("took %v", idsOf(taken))
		}
		finish(t, s, taken)
		for { // the other deliveries
			deliveries := claimOf("w", 9)
			deliveries.Types = []string{rota.TypeWebhook}
			left := done[*rota.Claimed](t, s, deliveries).Jobs
			if len(left) == 0 {
				break
			}
			finish(t, s, left)
		}
	}
}

// TestIdlePathLeaseNeverOutlastsServerLease checks that a lease that a worker counts from its
// request ends no later than on the server.
func TestIdlePathLeaseNeverOutlastsServerLease(t *testing.T) {
	s, p, _ := openIdle(t)
	assumed := false
	for range 10 {
		asked := storeTime(t, s)
		s.idlePath.clock = s.idlePath.clock.Add(-10 * time.Millisecond) // as with a long network delay
		var claimed *rota.Claimed
		n := p.count(func() {
			results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), claimOf("w", 1)}})
			must(t, err)
			claimed = results[1].Reply.(*rota.Claimed)
		})
		run := claimed.Jobs[0].Run
		if here := asked.Add(run.StaleAfter.Sub(claimed.Now)); here.After(run.StaleAfter) {
			t.Errorf("in %d round trips: a lease ends at %v on the server and at %v in the worker", n, run.StaleAfter, here)
		}
		finish(t, s, claimed.Jobs)
		if assumed = assumed || n == 1; n != 1 {
			waitIdle(t, s)
		}
	}
	if !assumed {
		t.Error("the idle path was never taken")
	}
}

// TestIdlePathSkipsDelayedJobs checks that jobs with a run time or delay use the exact time. With
// an earlier assumed time a due job would be held, and a delayed one would run too early.
func TestIdlePathSkipsDelayedJobs(t *testing.T) {
	s, _, _ := openIdle(t)
	for range 5 {
		now := storeTime(t, s)
		due := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", RunAt: now}}}).Jobs[0].Job
		if due.Hold != 0 {
			t.Errorf("a due job has the hold %v", due.Hold)
		}
		finish(t, s, done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs)
		later := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "later", Delay: time.Hour}}}).Jobs[0].Job
		if later.RunAt.Before(now.Add(time.Hour)) {
			t.Errorf("the job runs %v early", now.Add(time.Hour).Sub(later.RunAt))
		}
	}
}

// TestIdlePathReadDoesNotCountAsMiss checks that a batch that leaves the idle path only to read
// does not make other batches skip it.
func TestIdlePathReadDoesNotCountAsMiss(t *testing.T) {
	s, p, other := openIdle(t)
	single := 0
	for i := range 10 {
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "type-" + string(rune('a'+i)), UniqueKey: "k"}}})
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "kind-" + string(rune('a'+i)), Priority: new(7)}}})
		if n := p.count(func() {
			done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(-1)}}})
		}); n == 1 {
			single++
		}
		finish(t, other, done[*rota.Claimed](t, other, claimOf("w", 1)).Jobs)
	}
	if single < 3 { // of ten; the first ones read
		t.Errorf("%d of 10 batches took one round trip", single)
	}
}

// TestIdlePathMissStillNotifiesAtOnce checks that the rolled back attempt does not start the pause
// between notifications.
func TestIdlePathMissStillNotifiesAtOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	other := openAt(t, urlOf(s), Config{Logger: quiet})
	waitIdle(t, s)
	done[*rota.Enqueued](t, other, enqueueOne())
	time.Sleep(2 * notifyGap) // after the pause of the first notification
	var gaps []time.Duration
	s.onDecided = func([]rota.Command) { gaps = append(gaps, s.listener.untilNextNotify()) }
	done[*rota.Enqueued](t, s, enqueueOne())
	if len(gaps) != 2 || gaps[1] > 0 {
		t.Errorf("pauses before the next notification: %v, want none in the second attempt", gaps)
	}
}
