package longpoll

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
	recheckEvery  = 5 * time.Second      // how often each queue is tried without a wake-up
	wakeInterval  = 2 * time.Millisecond // shortest time between two batches that find nothing, on a busy store
	batchPollsMax = 256                  // claims in one batch
	batchJobsMax  = 2_000                // jobs one batch may claim, which bounds the duration of its transaction
	retryPauseMin = 50 * time.Millisecond
	retryPauseMax = time.Second // longest pause after a store error
)

// ClaimTimeout is the longest duration of a claim.
const ClaimTimeout = 30 * time.Second

// pollLoop sends the claims of waiting polls until no poll is left.
//
// It misses no wake-up. A wake-up that arrives while claims are in flight stays in the channel and is
// read afterwards. A queue that is new, or whose first poll arrives after the last wake-up, is tried
// immediately.
func (lp *Poller) pollLoop() {
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

// markAll marks every queue: jobs may have become ready.
func (lp *Poller) markAll() {
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		q.mayHaveJobs, q.retryAt = true, time.Time{}
	}
}

// recheck marks every queue, in case a wake-up was lost, and moves the first poll of each queue to its
// end. A poll that cannot claim, for example because a direct run reserves the node of its name, must
// not block those behind it.
func (lp *Poller) recheck() {
	lp.markAll()
	lp.mu.Lock()
	defer lp.mu.Unlock()
	for _, q := range lp.queues {
		q.polls.MoveToBack(q.polls.Front())
	}
}

// nextWait returns how long pollLoop may sleep, and whether polls wait. If none do, pollLoop counts as
// stopped from here on.
func (lp *Poller) nextWait(longest time.Duration) (sleep time.Duration, waiting bool) {
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

// nextBatch selects the polls to send: of each marked queue up to its burst, the queue with the
// longest wait first.
func (lp *Poller) nextBatch() (polls []*poll) {
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
			if p.ctx.Err() != nil { // its request has ended; its own goroutine removes it
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

// sendClaims sends the claims of polls as one batch, and reports whether any found a job.
func (lp *Poller) sendClaims(polls []*poll) (found bool, err error) {
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

// apply sends a batch with a context of its own: the batch belongs to all its polls, so the end of one
// request must not cancel it.
func (lp *Poller) apply(b rota.Batch) (results []rota.Result, err error) {
	ctx, done := context.WithTimeout(context.Background(), ClaimTimeout)
	defer done()
	defer func() {
		if p := recover(); p != nil { // an uncaught panic in this goroutine would end the server
			err = rota.Errorf(rota.Internal, "claim", "the store panicked: %v\n%s", p, debug.Stack())
		}
	}()
	return lp.store.Apply(ctx, b)
}

// exhausted reports whether a claim returned fewer jobs than requested, and records when a rate limit
// may admit more. The answer to a repeated claim says nothing about other jobs.
func (q *pollQueue) exhausted(claim *rota.Claim, claimed *rota.Claimed) bool {
	if !claimed.Next.IsZero() {
		next := time.Now().Add(claimed.Next.Sub(claimed.Now)) // both times are by the clock of the store
		if q.retryAt.IsZero() || next.Before(q.retryAt) {
			q.retryAt = next
		}
	}
	return len(claimed.Jobs) < claim.Limit && !claimed.More && !claimed.Again && !mayExceedAnswerBytes(claimed.Jobs)
}

// mayExceedAnswerBytes reports whether jobs may have been left out because their params did not fit
// into the answer.
func mayExceedAnswerBytes(jobs []*rota.Job) bool {
	bytes := 0
	for _, job := range jobs {
		bytes += len(job.Params)
	}
	return bytes > rota.ClaimBytesMax-rota.ParamsMax
}

// adjustBurst doubles the burst while claims find enough jobs, and resets it otherwise. One job that a
// thousand polls wait for then costs three claims, and a thousand jobs cost ten batches.
func (q *pollQueue) adjustBurst(short bool) {
	q.mayHaveJobs, q.burst = !short, min(2*q.burst, batchPollsMax)
	if short {
		q.burst = 1
	}
}

// settle delivers the result of a claim. A poll without jobs keeps waiting unless its claim is final.
func (lp *Poller) settle(p *poll, got pollResult) {
	p.inFlight, p.lastErr = false, nil
	if got.err == nil && len(got.claimed.Jobs) == 0 && !got.claimed.Again && !p.final {
		return
	}
	lp.remove(p)
	p.result <- got
}

// requeue keeps polls waiting whose batch failed: the same claim finds the jobs that it took, if it
// took any. A final poll gets the error.
func (lp *Poller) requeue(polls []*poll, err error) {
	for _, p := range polls {
		p.inFlight, p.lastErr = false, err
		if p.final {
			lp.remove(p)
			p.result <- pollResult{err: err}
		}
	}
}

// backOff pauses after a store error, longer after each one. It logs the first error and the recovery.
func (lp *Poller) backOff(pause time.Duration, err error) time.Duration {
	switch {
	case err == nil && pause > 0:
		lp.logger.Info("claims of remote workers succeed again")
		return 0
	case err == nil:
		return 0
	case pause == 0:
		lp.logger.Error("claims of remote workers fail; retrying until the store answers", slog.Any("error", err))
	}
	pause = min(max(retryPauseMin, 2*pause), retryPauseMax)
	time.Sleep(pause)
	return pause
}

// asError converts a nil *rota.Error to a nil error.
func asError(err *rota.Error) error {
	if err == nil {
		return nil
	}
	return err
}
