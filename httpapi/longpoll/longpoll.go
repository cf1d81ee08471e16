// Package longpoll holds the claims of remote workers that wait for jobs, and sends them to the store
// when jobs may have become ready.
package longpoll

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

// Poller holds the claims that wait for jobs. They wait in queues, one per set of types, in arrival
// order. A single goroutine, pollLoop, runs while claims wait and sends them to the store. While no
// job becomes ready, waiting claims cost the store nothing, regardless of their number. When jobs
// become ready, pollLoop sends only as many claims as may find them.
type Poller struct {
	store  rota.Store
	logger *slog.Logger
	report func(waiting int)
	signal chan struct{} // wakes pollLoop: a poll arrived, or the last one left

	mu      sync.Mutex
	running bool // pollLoop is running
	queues  map[string]*pollQueue
	polls   map[rota.ID]*poll // by claim id
	lastSeq uint64            // seq of the newest poll
}

// New returns a Poller for a store. It calls report with the number of waiting claims whenever that
// changes.
func New(store rota.Store, logger *slog.Logger, report func(waiting int)) *Poller {
	return &Poller{
		store: store, logger: logger, report: report, signal: make(chan struct{}, 1),
		queues: map[string]*pollQueue{}, polls: map[rota.ID]*poll{},
	}
}

// pollQueue holds the polls that wait for the same types. It exists while it has polls.
type pollQueue struct {
	key         string
	types       []string
	polls       list.List // of *poll
	mayHaveJobs bool      // a claim may find a job: since the last wake-up no claim returned fewer jobs than requested
	retryAt     time.Time // when a rate limit admits jobs again, by the monotonic clock; zero: no rate limit
	burst       int       // polls sent in one batch
}

func (q *pollQueue) first() *poll { return q.polls.Front().Value.(*poll) }

// poll is one waiting claim.
type poll struct {
	claim   *rota.Claim
	ctx     context.Context // context of its request
	seq     uint64          // arrival order
	queue   *pollQueue
	element *list.Element
	result  chan pollResult // buffered, so that pollLoop never blocks on a poll that left
	removed chan struct{}   // closed when the poll has left its queue

	inFlight bool  // its claim was sent and not answered yet
	final    bool  // the answer of the claim in flight ends the poll, with or without jobs
	lastErr  error // error of its last claim
}

// pollResult is the result of a poll.
type pollResult struct {
	claimed *rota.Claimed
	err     error
}

// emptyClaim is the result of a poll that found no job.
func emptyClaim() *rota.Claimed { return &rota.Claimed{} }

// Wait waits until a claim gets jobs, its timeout passes, or its request ends. Jobs that were claimed
// at that very moment are returned all the same, so that the caller can release them.
func (lp *Poller) Wait(ctx context.Context, claim *rota.Claim, timeout time.Duration) (*rota.Claimed, error) {
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

func (lp *Poller) add(ctx context.Context, claim *rota.Claim) *poll {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	key, types := TypesKey(claim.Types)
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

// TypesKey returns a key for a set of types that does not depend on their order.
func TypesKey(types []string) (key string, sorted []string) {
	sorted = slices.Clone(types)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return strings.Join(sorted, " "), sorted // names contain no space
}

// cancel removes a poll from its queue. It returns false if the poll has a result or will get one,
// because its claim is in flight or was a moment ago.
func (lp *Poller) cancel(p *poll) bool {
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

// remove removes a poll from its queue, at most once. When no poll is left it wakes pollLoop, which
// then ends.
func (lp *Poller) remove(p *poll) {
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

// Replace ends the poll of a claim id with an empty result: the client sent the same claim again, so
// it has lost the first response. Replace returns when the first poll can claim nothing more.
func (lp *Poller) Replace(claim rota.ID) {
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

// CountFor counts the polls that would take jobs of a type.
func (lp *Poller) CountFor(typ string) (n int) {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		if _, found := slices.BinarySearch(q.types, typ); found {
			n += q.polls.Len()
		}
	}
	return n
}

// notify wakes pollLoop.
func (lp *Poller) notify() {
	select {
	case lp.signal <- struct{}{}:
	default:
	}
}
