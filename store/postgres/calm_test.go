package postgres

import (
	"context"
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

// calmed opens a store that has found nothing, behind a teller, and one beside it.
func calmed(t *testing.T) (*Store, *teller, *Store) {
	t.Helper()
	theirs := openTest(t, Config{Logger: quiet})
	s, p := tell(t, urlOf(theirs))
	for range 2 {
		finish(t, s, enqueueAndClaim(t, s, 1))
	}
	return s, p, theirs
}

// TestWhereNothingHappensAJobCostsOneRoundTrip, whether it is taken at once or
// left for others.
func TestWhereNothingHappensAJobCostsOneRoundTrip(t *testing.T) {
	s, p, theirs := calmed(t)
	for range 3 {
		var taken []*rota.Job
		if n := p.of(func() { taken = enqueueAndClaim(t, s, 1) }); n != 1 || len(taken) != 1 {
			t.Errorf("to make a job and take it costs %d round trips, and %d are taken", n, len(taken))
		}
		finish(t, s, taken)
		if n := p.of(func() { done[*rota.Enqueued](t, s, enqueueOne()) }); n != 1 {
			t.Errorf("to make a job costs %d round trips", n)
		}
		finish(t, theirs, done[*rota.Claimed](t, theirs, claimOf("w", 1)).Jobs)
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
	s, _, theirs := calmed(t)
	high := done[*rota.Enqueued](t, theirs, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work", Priority: new(9)}}}).Jobs[0].Job
	if taken := enqueueAndClaim(t, s, 1); len(taken) != 1 || taken[0].ID != high.ID {
		t.Errorf("it took %v and not %v, which comes first", idsIn(taken), high.ID)
	}
}

// TestWebhooksPutMeanwhileAreTold by a step that supposed that there are none.
func TestWebhooksPutMeanwhileAreTold(t *testing.T) {
	s, _, theirs := calmed(t)
	done[*rota.WebhooksPut](t, theirs, &rota.PutWebhooks{Meta: rota.NewMeta(""), Spec: []rota.Webhook{{
		URL: "http://localhost:1/", Secret: "0123456789abcdef0123456789abcdef", Events: []rota.EventKind{rota.EventJobEnqueued},
	}}})
	done[*rota.Enqueued](t, s, enqueueOne())
	if n := rows(t, s, `SELECT count(*) FROM rota_jobs WHERE type >= 'rota.' AND type < 'rota/'`)[0][0]; n != "1" {
		t.Errorf("%s deliveries were made", n)
	}
}

// TestTheTimeThatWasSupposedIsTheServers: where this machine's clock, or its idea of
// the other, has gone astray, it is asked for.
func TestTheTimeThatWasSupposedIsTheServers(t *testing.T) {
	for _, astray := range []time.Duration{-time.Hour, -time.Second, time.Second, time.Hour} {
		s, _, _ := calmed(t)
		s.calm.clock = s.calm.clock.Add(astray)
		before, err := s.now(t.Context())
		must(t, err)
		made := done[*rota.Enqueued](t, s, enqueueOne()).Jobs[0].Job
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
	before := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]
	p.loseTheAnswer()
	taken := enqueueAndClaim(t, s, 1)
	after := rows(t, s, `SELECT count(*) FROM rota_jobs`)[0][0]
	if len(taken) != 1 || before != "2" || after != "3" {
		t.Errorf("%d jobs were taken; there were %s, and are %s", len(taken), before, after)
	}
	finish(t, s, taken)
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

// TestASupposedStepSeesWhatItsOwnBatchMakes: of two commands that do not share a
// world the second supposes nothing.
func TestASupposedStepSeesWhatItsOwnBatchMakes(t *testing.T) {
	s, _, _ := calmed(t)
	high := &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "work"}, {Type: "rest"}}}
	results, err := s.Apply(context.Background(), rota.Batch{Commands: []rota.Command{high, enqueueOne(), claimOf("w", 3)}})
	must(t, err)
	if taken := results[2].Reply.(*rota.Claimed).Jobs; len(taken) != 2 || taken[0].Position >= taken[1].Position {
		t.Errorf("took %v", idsIn(taken))
	}
}
