package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// StopWaiter is implemented by a remote store whose server can wait before it answers an
// Extend: it answers when one of the runs is to stop, at the latest after wait. A server
// that cannot wait answers at once.
type StopWaiter interface {
	ExtendAndWait(ctx context.Context, c *rota.Extend, wait time.Duration) (*rota.Extended, error)
}

const (
	stopPollMax = time.Minute     // longest wait of one request
	stopPollGap = time.Second     // between two requests, at most
	stopPolls   = 4               // requests that wait at the same time
	answerMax   = 5 * time.Second // time for the answer after the wait
)

// stopPoller is the heartbeat of a remote worker. Its requests wait at the server, so that
// a worker learns at once that a run is to stop. Each run belongs to one request. Runs that
// start while requests wait get a request of their own, at most one each second.
type stopPoller struct {
	h      *heartbeat
	waiter StopWaiter
	wait   time.Duration // of one request: a part of the lease, since only the answer proves that the lease was extended
	gap    time.Duration // between two requests
	every  time.Duration // heartbeat interval at a server that does not wait

	signal  signal // a request has ended
	running sync.WaitGroup

	mu       sync.Mutex
	asked    map[*task]bool // runs that belong to a request, or to the pause after one
	requests int            // in flight
	lastSent time.Time
}

func newStopPoller(h *heartbeat, waiter StopWaiter, every time.Duration) *stopPoller {
	wait := (h.e.config.Lease - h.e.config.leaseMargin()) / 6
	p := &stopPoller{
		h: h, waiter: waiter, every: every, wait: min(stopPollMax, wait), gap: min(stopPollGap, wait), signal: newSignal(), asked: map[*task]bool{},
	}
	p.running.Add(1)
	return p
}

// await waits until run has ended.
func (p *stopPoller) await() { p.running.Wait() }

// run sends requests for the runs that belong to none, until ctx ends.
func (p *stopPoller) run(ctx context.Context) {
	defer p.running.Done()
	for ctx.Err() == nil {
		select {
		case <-p.h.started:
		case <-p.signal:
		case <-ctx.Done():
			return
		}
		pause(ctx, p.untilNext())
		for _, stopped := range []bool{true, false} {
			if tasks := p.take(stopped); len(tasks) > 0 {
				p.running.Add(1)
				go p.request(ctx, tasks, stopped)
			}
		}
	}
}

// untilNext is the rest of the gap after the last request.
func (p *stopPoller) untilNext() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.gap-time.Since(p.lastSent))
}

// take returns runs that belong to no request: those that are stopping, or the others.
// The leases of stopping runs are extended without a wait, since the server answers at
// once as long as one of the runs is to stop.
func (p *stopPoller) take(stopping bool) (tasks []*task) {
	live := p.h.e.pool.liveTasks()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.requests >= stopPolls && !stopping {
		return nil // the end of a request signals
	}
	for _, t := range live {
		if len(tasks) < rota.ItemsMax && !p.asked[t] && t.isStopped() == stopping {
			p.asked[t] = true
			tasks = append(tasks, t)
		}
	}
	if len(tasks) > 0 {
		p.requests++
		p.lastSent = time.Now()
	}
	return tasks
}

// request extends the leases of runs, and releases the runs for the next request: at once
// those that have waited, and later those that the server has answered early for.
func (p *stopPoller) request(ctx context.Context, tasks []*task, stopped bool) {
	defer p.running.Done()
	wait := p.wait
	if stopped {
		wait = 0
	}
	began := time.Now()
	extended, ok := p.h.extendBy(tasks, rota.ID{}, func(extend *rota.Extend) (*rota.Extended, error) {
		within, done := context.WithTimeout(ctx, wait+min(answerMax, p.h.e.config.Lease/6)) // leaves time for a second request
		defer done()
		return p.waiter.ExtendAndWait(within, extend, wait)
	})
	p.mu.Lock()
	p.requests--
	p.mu.Unlock()
	later := tasks
	if ok && !stopped {
		var others []*task
		later, others = partition(tasks, extended)
		switch {
		case time.Since(began) >= wait:
			p.release(tasks)
			later = nil
		case len(later) > 0: // the server has answered for these
			p.release(others)
		default: // the server does not wait
			later = tasks
		}
	}
	if len(later) > 0 {
		pauseFor := p.every - time.Since(began)
		if !ok {
			pauseFor = min(p.every, beatRetry)
		}
		pause(ctx, max(pauseFor, 0))
	}
	p.release(later)
}

// partition separates the runs for which the server has answered early from the others.
func partition(tasks []*task, extended *rota.Extended) (answered, others []*task) {
	for i, answer := range extended.Items {
		if answer.Cancel || answer.Overdue || answer.Code != "" {
			answered = append(answered, tasks[i])
		} else {
			others = append(others, tasks[i])
		}
	}
	return answered, others
}

// release makes runs available for the next request.
func (p *stopPoller) release(tasks []*task) {
	p.mu.Lock()
	for _, t := range tasks {
		delete(p.asked, t)
	}
	p.mu.Unlock()
	p.signal.send()
}
