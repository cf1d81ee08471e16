package postgres

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// teller stands between a store and its server, and tells how often the one has
// waited for the other.
type teller struct {
	listener net.Listener
	server   string

	mu    sync.Mutex
	trips int
	asked bool // and not answered yet
	cut   bool // the next answer does not arrive
}

// tell opens a store behind a teller.
func tell(t *testing.T, at string) (*Store, *teller) {
	t.Helper()
	u, err := url.Parse(at)
	must(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	p := &teller{listener: l, server: u.Host}
	go p.serve()
	u.Host = l.Addr().String()
	return openAt(t, u.String(), Config{Logger: quiet, Poll: true}), p
}

func (p *teller) serve() {
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
		go p.pass(server, client, true)
		go p.pass(client, server, false)
	}
}

// pass hands on what comes until one side ends, or an answer is to be lost.
func (p *teller) pass(to, from net.Conn, asks bool) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !p.note(asks) {
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *teller) note(asks bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if asks && !p.asked {
		p.trips++
	}
	p.asked = asks
	if !asks && p.cut {
		p.cut = false
		return false
	}
	return true
}

// of is how many round trips something takes.
func (p *teller) of(act func()) int {
	p.mu.Lock()
	before := p.trips
	p.mu.Unlock()
	act()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips - before
}

func (p *teller) loseTheAnswer() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
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

// calmed opens a store that has found nothing, behind a teller, and one beside it.
func calmed(t *testing.T) (*Store, *teller, *Store) {
	t.Helper()
	theirs := openTest(t, Config{Logger: quiet})
	s, p := tell(t, urlOf(theirs))
	settle(t, s)
	return s, p, theirs
}

// settle works until something is supposed: a machine that stops for a moment makes
// a supposition wrong.
func settle(t *testing.T, s *Store) {
	t.Helper()
	for range 200 {
		finish(t, s, enqueueAndClaim(t, s, 20)) // with what is left of one that was wrong
		if c := &s.calm; !c.clock.IsZero() && c.empty[0] && c.still && c.pass == 0 {
			return
		}
	}
	t.Fatal("nothing is ever supposed")
}

// inOne has something done until it takes one round trip.
func (p *teller) inOne(t *testing.T, s *Store, what string, act func()) {
	t.Helper()
	n := 0
	for range 10 {
		settle(t, s)
		if n = p.of(act); n == 1 {
			return
		}
	}
	t.Errorf("%s costs %d round trips", what, n)
}

// TestWhereNothingHappensAJobCostsOneRoundTrip, whether it is taken at once or
// left for others.
func TestWhereNothingHappensAJobCostsOneRoundTrip(t *testing.T) {
	s, p, theirs := calmed(t)
	p.inOne(t, s, "to make a job and take it", func() {
		if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 {
			t.Errorf("took %v", idsIn(taken))
		}
	})
	for range 3 {
		p.inOne(t, s, "to make a job", func() { done[*rota.Enqueued](t, s, enqueueOne()) })
		finish(t, theirs, done[*rota.Claimed](t, theirs, claimOf("w", 20)).Jobs)
	}
}

// TestWhatWasSupposedAndIsNotSoIsSeen: others have put something into the queue
// meanwhile, and it comes first.
func TestWhatWasSupposedAndIsNotSoIsSeen(t *testing.T) {
	s, p, theirs := calmed(t)
	first := done[*rota.Enqueued](t, theirs, enqueueOne()).Jobs[0].Job
	var second *rota.Job
	if n := p.of(func() { second = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
		t.Errorf("it was not supposed to be empty: %d round trips", n)
	}
	if second.Position <= first.Position {
		t.Errorf("a job stands at %d, and one that came later at %d", first.Position, second.Position)
	}
	finish(t, theirs, done[*rota.Claimed](t, theirs, claimOf("w", 2)).Jobs)

	s, _, theirs = calmed(t)
	first = done[*rota.Enqueued](t, theirs, enqueueOne()).Jobs[0].Job
	if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 || taken[0].ID != first.ID {
		t.Errorf("it took %v and not the first, %v", idsIn(taken), first.ID)
	}
	if left := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE status = 'QUEUED'`)[0][0]; left != "1" {
		t.Errorf("%s jobs are left", left)
	}
}

// TestAnotherLaneIsSupposedToBeEmptyToo: what is ready at another priority comes
// first as well.
func TestAnotherLaneIsSupposedToBeEmptyToo(t *testing.T) {
	s, p, theirs := calmed(t)
	high := done[*rota.Enqueued](t, theirs, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(9)}}}).Jobs[0].Job
	var taken []*rota.Job
	if n := p.of(func() { taken = enqueueAndClaim(t, s, 1) }); n < 3 {
		t.Errorf("nothing was supposed: %d round trips", n)
	}
	if len(taken) != 1 || taken[0].ID != high.ID {
		t.Errorf("it took %v and not %v, which comes first", idsIn(taken), high.ID)
	}
}

// TestWebhooksPutMeanwhileAreTold by a step that supposed that there are none.
func TestWebhooksPutMeanwhileAreTold(t *testing.T) {
	s, p, theirs := calmed(t)
	putWebhook(t, theirs)
	if n := p.of(func() { done[*rota.Enqueued](t, s, enqueueOne()) }); n < 3 {
		t.Errorf("nothing was supposed: %d round trips", n)
	}
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE type >= 'rota.' AND type < 'rota/'`)[0][0]; n != "1" {
		t.Errorf("%s deliveries were made", n)
	}
}

// TestTheTimeThatWasSupposedIsTheServers: where this machine's clock, or its idea of
// the other, has gone astray, it is asked for.
func TestTheTimeThatWasSupposedIsTheServers(t *testing.T) {
	for _, astray := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		s, p, _ := calmed(t)
		s.calm.clock = s.calm.clock.Add(astray)
		before, err := s.now(t.Context())
		must(t, err)
		var made *rota.Job
		if n := p.of(func() { made = done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job }); n < 3 {
			t.Errorf("nothing was supposed: %d round trips", n)
		}
		after, err := s.now(t.Context())
		must(t, err)
		if made.CreatedAt.Before(before.Add(-calmLag)) || made.CreatedAt.After(after) {
			t.Errorf("%v astray: a job was made at %v, between %v and %v", astray, made.CreatedAt, before, after)
		}
		if again := s.calm.suppose(rota.Batch{Commands: []rota.Command{enqueueOne()}}); again != nil {
			t.Error("what was wrong is supposed again at once")
		}
	}
}

// TestAnAnswerThatIsLostIsFound: it was done, nobody heard of it, and it is not
// done twice.
func TestAnAnswerThatIsLostIsFound(t *testing.T) {
	s, p, _ := calmed(t)
	again := false
	for range 10 {
		p.loseTheAnswer()
		enqueue := enqueueOne()
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueue, claimOf("w", 1)}})
		must(t, err)
		taken := results[1].Reply.(*rota.Claimed)
		if len(taken.Jobs) != 1 || taken.Jobs[0].ID != enqueue.JobID(0) {
			t.Fatalf("it took %v", idsIn(taken.Jobs))
		}
		finish(t, s, taken.Jobs)
		if left := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE sequel IS NULL`)[0][0]; left != "0" {
			t.Fatalf("%s jobs are left", left)
		}
		if again = taken.Again; again {
			break
		}
		settle(t, s)
	}
	if !again {
		t.Error("none was done before its answer was lost")
	}
}

// TestACommandSentAgainIsFoundWhateverIsSupposed: the first sending may have been
// another process's, and a claim may come behind other enqueues the second time.
func TestACommandSentAgainIsFoundWhateverIsSupposed(t *testing.T) {
	s, _, theirs := calmed(t)
	enqueue, claim := enqueueOne(), claimOf("w", 1)
	var taken []rota.ID
	for i, one := range []struct {
		at      *Store
		enqueue *rota.Enqueue
	}{{theirs, enqueue}, {s, enqueueOne()}, {s, enqueue}, {s, enqueue}} {
		results, err := one.at.Apply(t.Context(), rota.Batch{Commands: []rota.Command{one.enqueue, claim}})
		must(t, err)
		answer := results[1].Reply.(*rota.Claimed)
		if taken = append(taken, idsIn(answer.Jobs)...); len(taken) != i+1 || taken[i] != taken[0] || answer.Again != (i > 0) {
			t.Fatalf("sending %d: took %v, and was sent before: %t", i+1, taken, answer.Again)
		}
	}
}

// TestWhatASupposedBatchMakesStandsInOrder, where the claim behind it shares its
// world, and where it is decided apart since it may take what webhooks are told by.
func TestWhatASupposedBatchMakesStandsInOrder(t *testing.T) {
	s, p, _ := calmed(t)
	take := func(types ...string) (taken []*rota.Job) {
		claim := claimOf("w", 3)
		claim.Types = types
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), enqueueOne(), claim}})
		must(t, err)
		return results[2].Reply.(*rota.Claimed).Jobs
	}
	inOrder := func(taken []*rota.Job) bool {
		return len(taken) >= 2 && taken[0].Type == "work" && taken[1].Type == "work" && taken[0].Position < taken[1].Position
	}
	p.inOne(t, s, "to make two and take them", func() {
		if taken := take("work"); len(taken) != 2 || !inOrder(taken) {
			t.Errorf("took %v", idsIn(taken))
		}
	})
	putWebhook(t, s)
	for range 3 { // the first makes types and webhooks known
		taken := take("work", rota.TypeWebhook)
		if len(taken) != 3 || !inOrder(taken) || taken[2].Type != rota.TypeWebhook {
			t.Errorf("took %v", idsIn(taken))
		}
		finish(t, s, taken)
		for { // what else is told
			told := claimOf("w", 9)
			told.Types = []string{rota.TypeWebhook}
			left := done[*rota.Claimed](t, s, told).Jobs
			if len(left) == 0 {
				break
			}
			finish(t, s, left)
		}
	}
}

// TestALeaseLastsNoLongerHereThanThere: whoever claims counts from when it asked, and
// the server counts from no earlier.
func TestALeaseLastsNoLongerHereThanThere(t *testing.T) {
	s, p, _ := calmed(t)
	supposed := false
	for range 10 {
		asked, err := s.now(t.Context())
		must(t, err)
		s.calm.clock = s.calm.clock.Add(-10 * time.Millisecond) // as if it were far away
		var claimed *rota.Claimed
		n := p.of(func() {
			results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{enqueueOne(), claimOf("w", 1)}})
			must(t, err)
			claimed = results[1].Reply.(*rota.Claimed)
		})
		run := claimed.Jobs[0].Run
		if here := asked.Add(run.StaleAfter.Sub(claimed.Now)); here.After(run.StaleAfter) {
			t.Errorf("in %d round trips: a lease ends at %v there, and at %v here", n, run.StaleAfter, here)
		}
		finish(t, s, claimed.Jobs)
		if supposed = supposed || n == 1; n != 1 {
			settle(t, s)
		}
	}
	if !supposed {
		t.Error("nothing was supposed")
	}
}

// TestWhatWaitsForItsTimeIsNotSupposed: by a time that lies a little before, what is due
// would have to wait, and what waits would wait too short.
func TestWhatWaitsForItsTimeIsNotSupposed(t *testing.T) {
	s, _, _ := calmed(t)
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

// TestWhoOnlyHasToReadIsNotWrong: what is supposed of others does not suffer from it.
func TestWhoOnlyHasToReadIsNotWrong(t *testing.T) {
	s, p, theirs := calmed(t)
	single := 0
	for i := range 10 {
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "type-" + string(rune('a'+i)), UniqueKey: "k"}}})
		done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "kind-" + string(rune('a'+i)), Priority: new(7)}}})
		if n := p.of(func() {
			done[*rota.Enqueued](t, s, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(-1)}}})
		}); n == 1 {
			single++
		}
		finish(t, theirs, done[*rota.Claimed](t, theirs, claimOf("w", 1)).Jobs)
	}
	if single < 3 { // of ten, the first of which look
		t.Errorf("%d of them cost one round trip", single)
	}
}

// TestWhoSupposedWronglyTellsOthersAtOnce: the hint that goes with the commit was not
// given by the one that was taken back.
func TestWhoSupposedWronglyTellsOthersAtOnce(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	theirs := openAt(t, urlOf(s), Config{Logger: quiet})
	settle(t, s)
	done[*rota.Enqueued](t, theirs, enqueueOne())
	time.Sleep(2 * tellGap) // or what was told of would do
	var gaps []time.Duration
	s.decided = func([]rota.Command) { gaps = append(gaps, s.listener.gap()) }
	done[*rota.Enqueued](t, s, enqueueOne())
	if len(gaps) != 2 || gaps[1] > 0 {
		t.Errorf("it was decided when the others could be told in %v", gaps)
	}
}
