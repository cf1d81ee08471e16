package postgres

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// roundTripCounter stands between a store and its server, and tells how often the one has
// waited for the other.
type roundTripCounter struct {
	listener net.Listener
	server   string

	mu       sync.Mutex
	trips    int
	waiting  bool // and not answered yet
	dropNext bool // the next answer does not arrive
}

// openCounted opens a store behind a teller.
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

// forward hands on what comes until one side ends, or an answer is to be lost.
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

// count is how many round trips something takes.
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

// enqueueAndClaim makes a job, and takes as many as are asked for.
func enqueueAndClaim(t *testing.T, s *Store, n int) []*rota.Job {
	t.Helper()
	results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), claimOf("w", n)}})
	must(t, err)
	return results[1].Reply.(*rota.Claimed).Jobs
}

// finish ends jobs.
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

// openIdle opens a store that has found nothing, behind a teller, and one beside it.
func openIdle(t *testing.T) (*Store, *roundTripCounter, *Store) {
	t.Helper()
	other := openTest(t, Config{Logger: quiet})
	s, p := openCounted(t, urlOf(other))
	waitIdle(t, s)
	return s, p, other
}

// waitIdle works until something is supposed: a machine that stops for a moment makes
// a supposition wrong.
func waitIdle(t *testing.T, s *Store) {
	t.Helper()
	for range 200 {
		finish(t, s, enqueueAndClaim(t, s, 20)) // with what is left of one that was wrong
		if c := &s.idlePath; !c.clock.IsZero() && c.emptyPriorities[0] && c.nothingReady && c.skip == 0 {
			return
		}
	}
	t.Fatal("nothing is ever supposed")
}

// expectOneTrip has something done until it takes one round trip.
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

// TestIdlePathEnqueueTakesOneRoundTrip, whether it is taken at once or
// left for others.
func TestIdlePathEnqueueTakesOneRoundTrip(t *testing.T) {
	s, p, other := openIdle(t)
	p.expectOneTrip(t, s, "to make a job and take it", func() {
		if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 {
			t.Errorf("took %v", idsOf(taken))
		}
	})
	for range 3 {
		p.expectOneTrip(t, s, "to make a job", func() { done[*rota.Enqueued](t, s, enqueueOne()) })
		finish(t, other, done[*rota.Claimed](t, other, claimOf("w", 20)).Jobs)
	}
}

// TestIdlePathDetectsJobOfOtherProcess: others have put something into the queue
// meanwhile, and it comes first.
func TestIdlePathDetectsJobOfOtherProcess(t *testing.T) {
	s, p, other := openIdle(t)
	first := done[*rota.Enqueued](t, other, enqueueOne()).Jobs[0].Job
	var second *rota.Job
	if n := p.count(func() { second = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
		t.Errorf("it was not supposed to be empty: %d round trips", n)
	}
	if second.Position <= first.Position {
		t.Errorf("a job stands at %d, and one that came later at %d", first.Position, second.Position)
	}
	finish(t, other, done[*rota.Claimed](t, other, claimOf("w", 2)).Jobs)

	s, _, other = openIdle(t)
	first = done[*rota.Enqueued](t, other, enqueueOne()).Jobs[0].Job
	if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 || taken[0].ID != first.ID {
		t.Errorf("it took %v and not the first, %v", idsOf(taken), first.ID)
	}
	if left := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE status = 'QUEUED'`)[0][0]; left != "1" {
		t.Errorf("%s jobs are left", left)
	}
}

// TestIdlePathDetectsJobOfHigherPriority: what is ready at another priority comes
// first as well.
func TestIdlePathDetectsJobOfHigherPriority(t *testing.T) {
	s, p, other := openIdle(t)
	high := done[*rota.Enqueued](t, other, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(9)}}}).Jobs[0].Job
	var taken []*rota.Job
	if n := p.count(func() { taken = enqueueAndClaim(t, s, 1) }); n < 3 {
		t.Errorf("nothing was supposed: %d round trips", n)
	}
	if len(taken) != 1 || taken[0].ID != high.ID {
		t.Errorf("it took %v and not %v, which comes first", idsOf(taken), high.ID)
	}
}

// TestIdlePathDetectsNewWebhook by a step that supposed that there are none.
func TestIdlePathDetectsNewWebhook(t *testing.T) {
	s, p, other := openIdle(t)
	putWebhook(t, other)
	if n := p.count(func() { done[*rota.Enqueued](t, s, enqueueOne()) }); n < 3 {
		t.Errorf("nothing was supposed: %d round trips", n)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE type >= 'rota.' AND type < 'rota/'`)[0][0]; n != "1" {
		t.Errorf("%s deliveries were made", n)
	}
}

// TestIdlePathDetectsWrongClock: where this machine's clock, or its idea of
// the other, has gone astray, it is asked for.
func TestIdlePathDetectsWrongClock(t *testing.T) {
	for _, offset := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		s, p, _ := openIdle(t)
		s.idlePath.clock = s.idlePath.clock.Add(offset)
		before, err := s.now(t.Context())
		must(t, err)
		var made *rota.Job
		if n := p.count(func() { made = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
			t.Errorf("nothing was supposed: %d round trips", n)
		}
		after, err := s.now(t.Context())
		must(t, err)
		if made.CreatedAt.Before(before.Add(-idleClockLag)) || made.CreatedAt.After(after) {
			t.Errorf("%v astray: a job was made at %v, between %v and %v", offset, made.CreatedAt, before, after)
		}
		if again := s.idlePath.assume(rota.Batch{Commands: []rota.Command{enqueueOne()}}); again != nil {
			t.Error("what was wrong is supposed again at once")
		}
	}
}

// TestIdlePathRetryAfterLostAnswerAppliesOnce: it was done, nobody heard of it, and it is not
// done twice.
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
			t.Fatalf("it took %v", idsOf(taken.Jobs))
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
		t.Error("none was done before its answer was lost")
	}
}

// TestIdlePathFindsRepeatedCommand: the first sending may have been
// another process's, and a claim may come behind other enqueues the second time.
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
			t.Fatalf("sending %d: took %v, and was sent before: %t", i+1, taken, answer.Again)
		}
	}
}

// TestIdlePathKeepsEnqueueOrder, where the claim behind it shares its
// world, and where it is decided apart since it may take what webhooks are told by.
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
	p.expectOneTrip(t, s, "to make two and take them", func() {
		if taken := take("work"); len(taken) != 2 || !isOrdered(taken) {
			t.Errorf("took %v", idsOf(taken))
		}
	})
	putWebhook(t, s)
	for range 3 { // the first makes types and webhooks known
		taken := take("work", rota.TypeWebhook)
		if len(taken) != 3 || !isOrdered(taken) || taken[2].Type != rota.TypeWebhook {
			t.Errorf("took %v", idsOf(taken))
		}
		finish(t, s, taken)
		for { // what else is told
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

// TestIdlePathLeaseNeverOutlastsServerLease: whoever claims counts from when it asked, and
// the server counts from no earlier.
func TestIdlePathLeaseNeverOutlastsServerLease(t *testing.T) {
	s, p, _ := openIdle(t)
	assumed := false
	for range 10 {
		asked, err := s.now(t.Context())
		must(t, err)
		s.idlePath.clock = s.idlePath.clock.Add(-10 * time.Millisecond) // as if it were far away
		var claimed *rota.Claimed
		n := p.count(func() {
			results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), claimOf("w", 1)}})
			must(t, err)
			claimed = results[1].Reply.(*rota.Claimed)
		})
		run := claimed.Jobs[0].Run
		if here := asked.Add(run.StaleAfter.Sub(claimed.Now)); here.After(run.StaleAfter) {
			t.Errorf("in %d round trips: a lease ends at %v there, and at %v here", n, run.StaleAfter, here)
		}
		finish(t, s, claimed.Jobs)
		if assumed = assumed || n == 1; n != 1 {
			waitIdle(t, s)
		}
	}
	if !assumed {
		t.Error("nothing was supposed")
	}
}

// TestIdlePathSkipsDelayedJobs: by a time that lies a little before, what is due
// would have to wait, and what waits would wait too short.
func TestIdlePathSkipsDelayedJobs(t *testing.T) {
	s, _, _ := openIdle(t)
	for range 5 {
		now, err := s.now(t.Context())
		must(t, err)
		due := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", RunAt: now}}}).Jobs[0].Job
		if due.Hold != 0 {
			t.Errorf("a job that is due is held back: %v", due.Hold)
		}
		finish(t, s, done[*rota.Claimed](t, s, claimOf("w", 1)).Jobs)
		later := done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "later", Delay: time.Hour}}}).Jobs[0].Job
		if later.RunAt.Before(now.Add(time.Hour)) {
			t.Errorf("%v early", now.Add(time.Hour).Sub(later.RunAt))
		}
	}
}

// TestIdlePathReadDoesNotCountAsMiss: what is supposed of others does not suffer from it.
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
	if single < 3 { // of ten, the first of which look
		t.Errorf("%d of them cost one round trip", single)
	}
}

// TestIdlePathMissStillNotifiesAtOnce: the hint that goes with the commit was not
// given by the one that was taken back.
func TestIdlePathMissStillNotifiesAtOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	other := openAt(t, urlOf(s), Config{Logger: quiet})
	waitIdle(t, s)
	done[*rota.Enqueued](t, other, enqueueOne())
	time.Sleep(2 * notifyGap) // or what was told of would do
	var gaps []time.Duration
	s.onDecided = func([]rota.Command) { gaps = append(gaps, s.listener.untilNextNotify()) }
	done[*rota.Enqueued](t, s, enqueueOne())
	if len(gaps) != 2 || gaps[1] > 0 {
		t.Errorf("it was decided when the others could be told in %v", gaps)
	}
}
