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
	recheckEvery  = 5 * time.Second      // how often each lane is tried though nobody woke us
	wakeInterval  = 2 * time.Millisecond // between two looks that find nothing, while others are kept busy
	batchPollsMax = 256                  // claims in one batch
	batchJobsMax  = 2_000                // jobs that they may take, so that the store is not held for long
	retryPauseMin = 50 * time.Millisecond
	retryPauseMax = time.Second      // the longest pause after a fault of the store
	claimTimeout  = 30 * time.Second // how long a claim may take
)

// pollLoop is the clerk's work, until nobody waits any more.
//
// No wake-up is missed: those that come while claims are with the store are heard
// afterwards, and a lane that is new, or whose first comes after the last
// wake-up, is tried at once.
func (lp *longPoll) pollLoop() {
	wake, unsubscribe := lp.store.Wake()
	defer unsubscribe()
	timer := time.NewTimer(recheckEvery)
	defer timer.Stop()
	var lastEmpty time.Time
	lastCheck, pause := time.Now(), time.Duration(0)
	for {
		select {
		case <-wake:
			lp.markAll()
		default:
		}
		if polls := lp.nextBatch(); len(polls) > 0 {
			found, err := lp.sendClaims(polls)
			if !found {
				lastEmpty = time.Now()
			}
			pause = lp.backOff(pause, err)
			continue
		}
		next, waiting := lp.nextWait(recheckEvery - time.Since(lastCheck))
		if !waiting {
			return
		}
		timer.Reset(next)
		select {
		case <-wake:
			time.Sleep(wakeInterval - time.Since(lastEmpty))
			lp.markAll()
		case <-lp.signal:
		case <-timer.C:
			if time.Since(lastCheck) >= recheckEvery {
				lastCheck = time.Now()
				lp.recheck()
			}
		}
	}
}

// markAll has every lane tried: something may have become ready.
func (lp *longPoll) markAll() {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		q.mayHaveJobs, q.retryAt = true, time.Time{}
	}
}

// recheck has every lane tried, in case a wake-up was missed, and by another than
// the last time: what keeps one worker from claiming, such as a direct run on a
// node of its name, must not keep those behind it.
func (lp *longPoll) recheck() {
	lp.markAll()
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		q.polls.MoveToBack(q.polls.Front())
	}
}

// nextWait says how long the clerk may sleep, at most so long, and whether anybody
// waits. If nobody does, he has gone.
func (lp *longPoll) nextWait(longest time.Duration) (sleep time.Duration, waiting bool) {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		if q.retryAt.IsZero() {
			continue
		}
		in := time.Until(q.retryAt)
		if in <= 0 {
			q.mayHaveJobs, q.retryAt = true, time.Time{}
		}
		longest = min(longest, in)
	}
	lp.running = len(lp.queues) > 0
	return max(0, longest), lp.running
}

// nextBatch takes those to the desk for whom there may be something: of each lane as
// many as it is served at once, who has waited longest first.
func (lp *longPoll) nextBatch() (polls []*poll) {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	var queues []*pollQueue
	for _, q := range lp.queues {
		if q.mayHaveJobs {
			queues = append(queues, q)
		}
	}
	slices.SortFunc(queues, func(a, b *pollQueue) int { return cmp.Compare(a.first().seq, b.first().seq) })
	jobs := 0
	for _, q := range queues {
		taken := 0
		for e := q.polls.Front(); e != nil && taken < q.burst; e = e.Next() {
			p := e.Value.(*poll)
			if p.ctx.Err() != nil { // nobody would hear the answer; it leaves by itself
				continue
			}
			if len(polls) == batchPollsMax || jobs > 0 && jobs+p.claim.Limit > batchJobsMax {
				return polls
			}
			p.inFlight = true
			polls, jobs, taken = append(polls, p), jobs+p.claim.Limit, taken+1
		}
	}
	return polls
}

// sendClaims sends the claims of those at the desk, and says whether any found
// something.
func (lp *longPoll) sendClaims(polls []*poll) (found bool, err error) {
	commands := make([]rota.Command, len(polls))
	for i, p := range polls {
		commands[i] = p.claim
	}
	results, err := lp.apply(rota.Batch{Commands: commands})
	lp.mu.Lock()
	defer lp.mu.Unlock()
	if err != nil {
		lp.requeue(polls, err)
		return false, err
	}
	short := map[*pollQueue]bool{}
	for i, p := range polls {
		got := pollResult{err: asError(results[i].Err)}
		if got.err == nil {
			got.claimed = results[i].Reply.(*rota.Claimed)
			found = found || len(got.claimed.Jobs) > 0
			short[p.queue] = short[p.queue] || p.queue.exhausted(p.claim, got.claimed)
		}
		lp.settle(p, got)
	}
	for q, was := range short {
		q.adjustBurst(was)
	}
	return found, nil
}

// apply asks the store, in nobody's name: a batch belongs to all who share it,
// and no one's request ends it.
func (lp *longPoll) apply(b rota.Batch) (results []rota.Result, err error) {
	ctx, done := context.WithTimeout(context.Background(), claimTimeout)
	defer done()
	defer func() {
		if p := recover(); p != nil { // nobody else would catch it, and it must not end the server
			err = rota.Errorf(rota.Internal, "claim", "the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return lp.store.Apply(ctx, b)
}

// exhausted says whether there was less than was asked for, and notes when there
// may be more though nobody wakes us. The answer to a claim that was sent before
// says nothing of what else there is.
func (q *pollQueue) exhausted(claim *rota.Claim, claimed *rota.Claimed) bool {
	if !claimed.Next.IsZero() {
		next := time.Now().Add(claimed.Next.Sub(claimed.Now)) // both by the store's clock
		if q.retryAt.IsZero() || next.Before(q.retryAt) {
			q.retryAt = next
		}
	}
	return len(claimed.Jobs) < claim.Limit && !claimed.More && !claimed.Again && !mayExceedAnswerBytes(claimed.Jobs)
}

// mayExceedAnswerBytes reports whether jobs may have been left because their params did not fit
// into the answer.
func mayExceedAnswerBytes(jobs []*rota.Job) bool {
	bytes := 0
	for _, job := range jobs {
		bytes += len(job.Params)
	}
	return bytes > rota.ClaimBytesMax-rota.ParamsMax
}

// adjustBurst goes on while there is enough for all, with twice as many: one job that
// a thousand wait for costs three claims, and a thousand jobs cost ten batches.
func (q *pollQueue) adjustBurst(short bool) {
	q.mayHaveJobs, q.burst = !short, min(2*q.burst, batchPollsMax)
	if short {
		q.burst = 1
	}
}

// settle answers a poll, unless there was nothing and its claim can wait for
// more.
func (lp *longPoll) settle(p *poll, got pollResult) {
	p.inFlight, p.lastErr = false, nil
	if got.err == nil && len(got.claimed.Jobs) == 0 && !got.claimed.Again && !p.final {
		return
	}
	lp.remove(p)
	p.result <- got
}

// requeue has those who were at the desk when the store failed try again:
// the same claim finds what it took, if it did. Who cannot wait is told.
func (lp *longPoll) requeue(polls []*poll, err error) {
	for _, p := range polls {
		p.inFlight, p.lastErr = false, err
		if p.final {
			lp.remove(p)
			p.result <- pollResult{err: err}
		}
	}
}

// backOff pauses after a fault of the store, longer after each, and tells of the
// first and of the end.
func (lp *longPoll) backOff(pause time.Duration, err error) time.Duration {
	switch {
	case err == nil && pause > 0:
		lp.logger.Info("jobs are handed out to workers again")
		return 0
	case err == nil:
		return 0
	case pause == 0:
		lp.logger.Error("jobs are not handed out to workers; trying until they are", slog.Any("err", err))
	}
	pause = min(max(retryPauseMin, 2*pause), retryPauseMax)
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
