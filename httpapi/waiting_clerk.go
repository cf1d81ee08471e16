package httpapi

import (
	"cmp"
	"context"
	"log/slog"
	"runtime/debug"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

const (
	lookEvery = 5 * time.Second      // how often each lane is tried though nobody woke us
	wakeGap   = 2 * time.Millisecond // between two looks that find nothing, while others are kept busy
	deskPolls = 256                  // claims in one batch
	deskJobs  = 2_000                // jobs that they may take, so that the store is not held for long
	deskAgain = 50 * time.Millisecond
	deskPause = time.Second      // the longest pause after a fault of the store
	deskMax   = 30 * time.Second // how long a claim may take
)

// serve is the clerk's work, until nobody waits any more.
//
// No wake-up is missed: those that come while claims are with the store are heard
// afterwards, and a lane that is new, or whose first comes after the last
// wake-up, is tried at once.
func (r *waitingRoom) serve() {
	wake, unwake := r.store.Wake()
	defer unwake()
	timer := time.NewTimer(lookEvery)
	defer timer.Stop()
	var fruitless time.Time
	looked, pause := time.Now(), time.Duration(0)
	for {
		select {
		case <-wake:
			r.stir()
		default:
		}
		if polls := r.pick(); len(polls) > 0 {
			found, err := r.serveAll(polls)
			if !found {
				fruitless = time.Now()
			}
			pause = r.rest(pause, err)
			continue
		}
		next, somebody := r.next(lookEvery - time.Since(looked))
		if !somebody {
			return
		}
		timer.Reset(next)
		select {
		case <-wake:
			time.Sleep(wakeGap - time.Since(fruitless))
			r.stir()
		case <-r.bell:
		case <-timer.C:
			if time.Since(looked) >= lookEvery {
				looked = time.Now()
				r.look()
			}
		}
	}
}

// stir has every lane tried: something may have become ready.
func (r *waitingRoom) stir() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		l.hungry, l.next = true, time.Time{}
	}
}

// look has every lane tried, in case a wake-up was missed, and by another than
// the last time: what keeps one worker from claiming, such as a direct run on a
// node of its name, must not keep those behind it.
func (r *waitingRoom) look() {
	r.stir()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		l.polls.MoveToBack(l.polls.Front())
	}
}

// next says how long the clerk may sleep, at most so long, and whether anybody
// waits. If nobody does, he has gone.
func (r *waitingRoom) next(most time.Duration) (sleep time.Duration, somebody bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.lanes {
		if l.next.IsZero() {
			continue
		}
		in := time.Until(l.next)
		if in <= 0 {
			l.hungry, l.next = true, time.Time{}
		}
		most = min(most, in)
	}
	r.staffed = len(r.lanes) > 0
	return max(0, most), r.staffed
}

// pick takes those to the desk for whom there may be something: of each lane as
// many as it is served at once, who has waited longest first.
func (r *waitingRoom) pick() (polls []*poll) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var hungry []*lane
	for _, l := range r.lanes {
		if l.hungry {
			hungry = append(hungry, l)
		}
	}
	slices.SortFunc(hungry, func(a, b *lane) int { return cmp.Compare(a.first().number, b.first().number) })
	jobs := 0
	for _, l := range hungry {
		taken := 0
		for e := l.polls.Front(); e != nil && taken < l.burst; e = e.Next() {
			p := e.Value.(*poll)
			if p.ctx.Err() != nil { // nobody would hear the answer; it leaves by itself
				continue
			}
			if len(polls) == deskPolls || jobs > 0 && jobs+p.claim.Limit > deskJobs {
				return polls
			}
			p.atDesk = true
			polls, jobs, taken = append(polls, p), jobs+p.claim.Limit, taken+1
		}
	}
	return polls
}

// serveAll sends the claims of those at the desk, and says whether any found
// something.
func (r *waitingRoom) serveAll(polls []*poll) (found bool, err error) {
	commands := make([]rota.Command, len(polls))
	for i, p := range polls {
		commands[i] = p.claim
	}
	results, err := r.apply(rota.Batch{Commands: commands})
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		r.keepWaiting(polls, err)
		return false, err
	}
	short := map[*lane]bool{}
	for i, p := range polls {
		got := served{err: asError(results[i].Err)}
		if got.err == nil {
			got.claimed = results[i].Reply.(*rota.Claimed)
			found = found || len(got.claimed.Jobs) > 0
			short[p.lane] = short[p.lane] || p.lane.exhausted(p.claim, got.claimed)
		}
		r.settle(p, got)
	}
	for l, was := range short {
		l.served(was)
	}
	return found, nil
}

// apply asks the store, in nobody's name: a batch belongs to all who share it,
// and no one's request ends it.
func (r *waitingRoom) apply(b rota.Batch) (results []rota.Result, err error) {
	ctx, done := context.WithTimeout(context.Background(), deskMax)
	defer done()
	defer func() {
		if p := recover(); p != nil { // nobody else would catch it, and it must not end the server
			err = rota.Errorf(rota.Internal, "claim", "the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return r.store.Apply(ctx, b)
}

// exhausted says whether there was less than was asked for, and notes when there
// may be more though nobody wakes us. The answer to a claim that was sent before
// says nothing of what else there is.
func (l *lane) exhausted(claim *rota.Claim, claimed *rota.Claimed) bool {
	if !claimed.Next.IsZero() {
		next := time.Now().Add(claimed.Next.Sub(claimed.Now)) // both by the store's clock
		if l.next.IsZero() || next.Before(l.next) {
			l.next = next
		}
	}
	return len(claimed.Jobs) < claim.Limit && !claimed.More && !claimed.Again && !heavy(claimed.Jobs)
}

// heavy reports whether jobs may have been left because their params did not fit
// into the answer.
func heavy(jobs []*rota.Job) bool {
	bytes := 0
	for _, job := range jobs {
		bytes += len(job.Params)
	}
	return bytes > rota.ClaimBytesMax-rota.ParamsMax
}

// served goes on while there is enough for all, with twice as many: one job that
// a thousand wait for costs three claims, and a thousand jobs cost ten batches.
func (l *lane) served(short bool) {
	l.hungry, l.burst = !short, min(2*l.burst, deskPolls)
	if short {
		l.burst = 1
	}
}

// settle answers a poll, unless there was nothing and its claim can wait for
// more.
func (r *waitingRoom) settle(p *poll, got served) {
	p.atDesk, p.fault = false, nil
	if got.err == nil && len(got.claimed.Jobs) == 0 && !got.claimed.Again && !p.leaving {
		return
	}
	r.remove(p)
	p.answer <- got
}

// keepWaiting has those who were at the desk when the store failed try again:
// the same claim finds what it took, if it did. Who cannot wait is told.
func (r *waitingRoom) keepWaiting(polls []*poll, err error) {
	for _, p := range polls {
		p.atDesk, p.fault = false, err
		if p.leaving {
			r.remove(p)
			p.answer <- served{err: err}
		}
	}
}

// rest pauses after a fault of the store, longer after each, and tells of the
// first and of the end.
func (r *waitingRoom) rest(pause time.Duration, err error) time.Duration {
	switch {
	case err == nil && pause > 0:
		r.logger.Info("jobs are handed out to workers again")
		return 0
	case err == nil:
		return 0
	case pause == 0:
		r.logger.Error("jobs are not handed out to workers; trying until they are", slog.Any("err", err))
	}
	pause = min(max(deskAgain, 2*pause), deskPause)
	time.Sleep(pause)
	return pause
}

// asError keeps a nil *rota.Error a nil error.
func asError(err *rota.Error) error {
	if err == nil {
		return nil
	}
	return err
}
