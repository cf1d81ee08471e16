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

// waitingRoom is where claims wait that there is nothing for. They stand in
// lanes, one for each set of types, first come first served. A clerk, who is
// there while anybody waits, serves them: as long as nothing becomes ready that
// costs the store nothing, however many wait, and when something does only as
// many claims are sent as may find it.
type waitingRoom struct {
	store  rota.Store
	logger *slog.Logger
	tell   func(waiting int)
	bell   chan struct{} // tells the clerk that somebody came, or that the last one left

	mu      sync.Mutex
	staffed bool // the clerk is there
	lanes   map[string]*lane
	polls   map[rota.ID]*poll // by the ids of their claims
	number  uint64            // of the poll that came last
}

func newWaitingRoom(c *Config) *waitingRoom {
	return &waitingRoom{
		store: c.Store, logger: c.Logger, tell: c.Polls, bell: make(chan struct{}, 1),
		lanes: map[string]*lane{}, polls: map[rota.ID]*poll{},
	}
}

// lane is a line of polls that wait for the same types. It is there while
// somebody stands in it.
type lane struct {
	key    string
	types  []string
	polls  list.List // of *poll
	hungry bool      // a claim may find something: none came back short since the last wake-up
	next   time.Time // when a rate that holds jobs back has room again, by a clock that nobody sets; zero: none does
	burst  int       // how many are served at once
}

func (l *lane) first() *poll { return l.polls.Front().Value.(*poll) }

// poll is one claim that waits.
type poll struct {
	claim  *rota.Claim
	ctx    context.Context // of its request
	number uint64          // who comes later has a greater one
	lane   *lane
	place  *list.Element
	answer chan served   // with room for one, so that nobody waits for who has left
	gone   chan struct{} // closed when it has left the room

	atDesk  bool  // its claim is with the store just now
	leaving bool  // it takes whatever comes of that
	fault   error // why its last try was no use
}

// served is what came of a poll.
type served struct {
	claimed *rota.Claimed
	err     error
}

// nothingClaimed is the answer to who waited in vain.
func nothingClaimed() *rota.Claimed { return &rota.Claimed{} }

// wait waits until there is something for a claim, for so long at most, or until
// its request ends. What was claimed in that very moment is answered all the
// same, so that it can be given back.
func (r *waitingRoom) wait(ctx context.Context, claim *rota.Claim, most time.Duration) (*rota.Claimed, error) {
	p := r.enter(ctx, claim)
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case got := <-p.answer:
		return got.claimed, got.err
	case <-timer.C:
	case <-ctx.Done():
	}
	if r.leave(p) {
		if p.fault != nil {
			return nil, p.fault
		}
		return nothingClaimed(), nil
	}
	got := <-p.answer
	return got.claimed, got.err
}

func (r *waitingRoom) enter(ctx context.Context, claim *rota.Claim) *poll {
	r.mu.Lock()
	defer r.mu.Unlock()
	key, types := laneOf(claim.Types)
	l := r.lanes[key]
	if l == nil {
		l = &lane{key: key, types: types, hungry: true, burst: 1}
		r.lanes[key] = l
	}
	r.number++
	p := &poll{
		claim: claim, ctx: ctx, number: r.number, lane: l, answer: make(chan served, 1), gone: make(chan struct{}),
	}
	p.place = l.polls.PushBack(p)
	r.polls[claim.ID] = p
	r.tell(len(r.polls))
	switch {
	case !r.staffed:
		r.staffed = true
		go r.serve()
	case l.hungry:
		r.ring()
	}
	return p
}

// laneOf names a set of types, in whatever order they are given.
func laneOf(types []string) (key string, sorted []string) {
	sorted = slices.Clone(types)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	return strings.Join(sorted, " "), sorted // no name has a space in it
}

// leave takes a poll out of its line. It reports false if there is an answer to
// it, or will be: its claim is with the store just now, or was a moment ago.
func (r *waitingRoom) leave(p *poll) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case p.place == nil:
		return false
	case p.atDesk:
		p.leaving = true
		return false
	}
	r.remove(p)
	return true
}

// remove takes out who is there, at most once. The last one sends the clerk home.
func (r *waitingRoom) remove(p *poll) {
	if p.place == nil {
		return
	}
	l := p.lane
	l.polls.Remove(p.place)
	p.place = nil
	if l.polls.Len() == 0 {
		delete(r.lanes, l.key)
	}
	delete(r.polls, p.claim.ID)
	close(p.gone)
	r.tell(len(r.polls))
	if len(r.polls) == 0 {
		r.ring()
	}
}

// replace answers the poll whose claim has this id with nothing: the same was
// sent again, since its client has lost the first. It returns when that one can
// take nothing more.
func (r *waitingRoom) replace(claim rota.ID) {
	r.mu.Lock()
	p := r.polls[claim]
	switch {
	case p == nil:
	case p.atDesk:
		p.leaving = true
	default:
		r.remove(p)
		p.answer <- served{claimed: nothingClaimed()}
	}
	r.mu.Unlock()
	if p != nil {
		<-p.gone
	}
}

// waitingFor counts the polls that would take jobs of a type.
func (r *waitingRoom) waitingFor(typ string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if _, found := slices.BinarySearch(l.types, typ); found {
			n += l.polls.Len()
		}
	}
	return n
}

// ring tells the clerk to look around.
func (r *waitingRoom) ring() {
	select {
	case r.bell <- struct{}{}:
	default:
	}
}
