package httpapi

import (
	"container/list"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// longPoll is where claims wait that there is nothing for. They stand in
// lanes, one for each set of types, first come first served. A clerk, who is
// there while anybody waits, serves them: as long as nothing becomes ready that
// costs the store nothing, however many wait, and when something does only as
// many claims are sent as may find it.
type longPoll struct {
	store  rota.Store
	logger *slog.Logger
	report func(waiting int)
	signal chan struct{} // tells the clerk that somebody came, or that the last one left

	mu      sync.Mutex
	running bool // the clerk is there
	queues  map[string]*pollQueue
	polls   map[rota.ID]*poll // by the ids of their claims
	lastSeq uint64            // of the poll that came last
}

func newLongPoll(c *Config) *longPoll {
	return &longPoll{
		store: c.Store, logger: c.Logger, report: c.OnPolls, signal: make(chan struct{}, 1),
		queues: map[string]*pollQueue{}, polls: map[rota.ID]*poll{},
	}
}

// pollQueue is a line of polls that wait for the same types. It is there while
// somebody stands in it.
type pollQueue struct {
	key         string
	types       []string
	polls       list.List // of *poll
	mayHaveJobs bool      // a claim may find something: none came back short since the last wake-up
	retryAt     time.Time // when a rate that holds jobs back has room again, by a clock that nobody sets; zero: none does
	burst       int       // how many are served at once
}

func (q *pollQueue) first() *poll { return q.polls.Front().Value.(*poll) }

// poll is one claim that waits.
type poll struct {
	claim   *rota.Claim
	ctx     context.Context // of its request
	seq     uint64          // who comes later has a greater one
	queue   *pollQueue
	element *list.Element
	result  chan pollResult // with room for one, so that nobody waits for who has left
	removed chan struct{}   // closed when it has left the room

	inFlight bool  // its claim is with the store just now
	final    bool  // it takes whatever comes of that
	lastErr  error // why its last try was no use
}

// pollResult is what came of a poll.
type pollResult struct {
	claimed *rota.Claimed
	err     error
}

// emptyClaim is the answer to who waited in vain.
func emptyClaim() *rota.Claimed { return &rota.Claimed{} }

// wait waits until there is something for a claim, for so long at most, or until
// its request ends. What was claimed in that very moment is answered all the
// same, so that it can be given back.
func (lp *longPoll) wait(ctx context.Context, claim *rota.Claim, timeout time.Duration) (*rota.Claimed, error) {
	p := lp.add(ctx, claim)
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case got := <-p.result:
		return got.claimed, got.err
	case <-timer.C:
	case <-ctx.Done():
	}
	if lp.cancel(p) {
		if p.lastErr != nil {
			return nil, p.lastErr
		}
		return emptyClaim(), nil
	}
	got := <-p.result
	return got.claimed, got.err
}

func (lp *longPoll) add(ctx context.Context, claim *rota.Claim) *poll {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	key, types := typesKey(claim.Types)
	q := lp.queues[key]
	if q == nil {
		q = &pollQueue{key: key, types: types, mayHaveJobs: true, burst: 1}
		lp.queues[key] = q
	}
	lp.lastSeq++
	p := &poll{
		claim: claim, ctx: ctx, seq: lp.lastSeq, queue: q, result: make(chan pollResult, 1), removed: make(chan struct{}),
	}
	p.element = q.polls.PushBack(p)
	lp.polls[claim.ID] = p
	lp.report(len(lp.polls))
	switch {
	case !lp.running:
		lp.running = true
		go lp.pollLoop()
	case q.mayHaveJobs:
		lp.notify()
	}
	return p
}

// typesKey names a set of types, in whatever order they are given.
func typesKey(types []string) (key string, sorted []string) {
	sorted = slices.Clone(types)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return strings.Join(sorted, " "), sorted // no name has a space in it
}

// cancel takes a poll out of its line. It reports false if there is an answer to
// it, or will be: its claim is with the store just now, or was a moment ago.
func (lp *longPoll) cancel(p *poll) bool {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	switch {
	case p.element == nil:
		return false
	case p.inFlight:
		p.final = true
		return false
	}
	lp.remove(p)
	return true
}

// remove takes out who is there, at most once. The last one sends the clerk home.
func (lp *longPoll) remove(p *poll) {
	if p.element == nil {
		return
	}
	q := p.queue
	q.polls.Remove(p.element)
	p.element = nil
	if q.polls.Len() == 0 {
		delete(lp.queues, q.key)
	}
	delete(lp.polls, p.claim.ID)
	close(p.removed)
	lp.report(len(lp.polls))
	if len(lp.polls) == 0 {
		lp.notify()
	}
}

// replace answers the poll whose claim has this id with nothing: the same was
// sent again, since its client has lost the first. It returns when that one can
// take nothing more.
func (lp *longPoll) replace(claim rota.ID) {
	lp.mu.Lock()
	p := lp.polls[claim]
	switch {
	case p == nil:
	case p.inFlight:
		p.final = true
	default:
		lp.remove(p)
		p.result <- pollResult{claimed: emptyClaim()}
	}
	lp.mu.Unlock()
	if p != nil {
		<-p.removed
	}
}

// countFor counts the polls that would take jobs of a type.
func (lp *longPoll) countFor(typ string) (n int) {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		if _, found := slices.BinarySearch(q.types, typ); found {
			n += q.polls.Len()
		}
	}
	return n
}

// notify tells the clerk to look around.
func (lp *longPoll) notify() {
	select {
	case lp.signal <- struct{}{}:
	default:
	}
}
