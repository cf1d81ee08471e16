package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// pool runs handlers in a fixed number of slots, on goroutines that it reuses; short
// handlers may share one (see inline.go). It calls neither the store nor the event ring,
// so that both may call it.
type pool struct {
	e         *Engine
	heartbeat *heartbeat
	baseCtx   context.Context
	types     []string
	runners   map[string]*typeRunner // by type
	handoff   chan *task             // to idle goroutines

	mu            sync.Mutex
	free          int               // slots not in use
	held          int               // slots taken for jobs that have yet to start
	directCallers int               // of direct runs that have not begun
	closed        bool              // no more slots are taken
	openUntil     context.Context   // no more slots are taken once it has ended
	cutOffGrace   *time.Duration    // jobs that still start are stopped with this grace; nil: they are not
	slotWaiters   []chan error      // direct runs that wait for a slot, in order
	running       int               // runs that have not ended
	byRun         map[rota.ID]*task // runs whose end is not recorded
	byJob         map[rota.ID]*task // the same runs
	earlyStops    map[rota.ID]bool  // jobs to stop whose claim may still be in flight
	endings       []*ending         // ends not yet sent to the store
	heldWaiters   []chan struct{}   // closed when no slot is held
	idleWaiters   []chan struct{}   // closed when no run is left
	abandoned     int               // handlers that did not stop in time and have not returned
	leasesLost    int
	coalescing    bool    // the dispatcher waits for runs that end together
	inlineQueue   []*task // runs that wait for their turn in one goroutine
}

// ending is a run that has ended, and how.
type ending struct {
	task *task
	item rota.FinishItem
	note *rota.NoteItem // progress not written yet; nil: none
	at   time.Time      // when the handler returned or was abandoned, with the monotonic clock

	returned  bool // it waited for a transaction and is no longer counted as running
	slotFreed bool // it has left its slot meanwhile
}

// sentAt returns the end as it is sent at a time: with how long ago it was. The clock of the
// store may differ from the clock of this process, so the end is not sent as a time.
func (e *ending) sentAt(now time.Time) rota.FinishItem {
	item := e.item
	item.EndedAgo = min(now.Sub(e.at).Truncate(time.Microsecond), rota.DelayMax)
	return item
}

func newPool(e *Engine) *pool {
	return &pool{
		e: e, handoff: make(chan *task), heartbeat: e.heartbeat, baseCtx: context.Background(), openUntil: context.Background(), free: e.config.Workers, types: e.reg.Types(),
		byRun: map[rota.ID]*task{}, byJob: map[rota.ID]*task{}, earlyStops: map[rota.ID]bool{},
	}
}

// start runs a job in a slot that was taken for it.
func (p *pool) start(job *rota.Job, recorded chan struct{}) {
	if t := p.prepare(job, recorded); t != nil {
		p.handOff(t)
	}
}

// prepare returns a run to hand off, nil if the job need not start any more.
func (p *pool) prepare(job *rota.Job, recorded chan struct{}) *task {
	t := &task{pool: p, job: job, runner: p.runners[job.Type], lease: job.Lease(), recorded: recorded}
	t.log.logs, t.log.job, t.log.processLog, t.log.secrets = p.e.config.Logs, job, p.e.config.Logger, &t.secrets
	ctx, cancel := context.WithCancelCause(p.baseCtx)
	t.ctx, t.cancel = context.WithValue(ctx, taskKey{}, t), cancel
	p.mu.Lock()
	p.byRun[t.lease.RunID], p.byJob[job.ID] = t, t
	p.held--
	p.running++
	stopRequested, cut := p.earlyStops[job.ID], p.cutOffGrace
	p.notifyNoneHeld()
	p.mu.Unlock()
	p.heartbeat.started.send()
	if p.e.storeShared() {
		t.setLease(job.Run)
	}
	if why := notStartedBecause(stopRequested, cut != nil, t.leaseExpired(time.Now())); why != nil {
		t.cancel(why)
		t.returned(why)
		return nil
	}
	if limit := job.Policy.Timeout; limit > 0 {
		t.mu.Lock() // it may fire before it is assigned
		t.timeout = time.AfterFunc(limit, func() { t.stop(errTimeout, p.e.config.CancelGrace) })
		t.mu.Unlock()
	}
	return t
}

// handOff gives a run to an idle goroutine, or to a new one. An idle goroutine has a
// stack that an earlier handler has grown; a new one has to grow it.
func (p *pool) handOff(t *task) {
	select {
	case p.handoff <- t:
	default:
		go p.runLoop(t)
	}
}

// runLoop runs handlers, one after the other, until the engine ends.
func (p *pool) runLoop(t *task) {
	for {
		t.run()
		if t = p.nextInline(); t != nil {
			continue
		}
		select {
		case t = <-p.handoff:
		case <-p.e.allDone.Done():
			return
		}
	}
}

// notStartedBecause returns why a claimed job must not start, nil if it may.
func notStartedBecause(stopRequested, cut, expired bool) error {
	switch {
	case expired:
		return errLeaseExpired
	case stopRequested:
		return errCancelled
	case cut:
		return errShutdown
	}
	return nil
}

// queueEnd queues the end of a run for the dispatcher. A run that lost its lease has
// nothing to record: the store has another attempt in its place.
func (p *pool) queueEnd(end *ending, err error) {
	t := end.task
	end.item = t.finishItem(err)
	lost := context.Cause(t.ctx) == errLeaseLost
	t.cancel(nil)
	p.mu.Lock()
	if !end.returned {
		p.running--
	}
	if lost {
		p.releaseLocked(t)
		p.freeSlotsOf([]*ending{end})
	} else {
		if p.endings == nil {
			p.endings = make([]*ending, 0, len(p.byRun))
		}
		end.note = t.unsentProgress()
		p.endings = append(p.endings, end)
	}
	wait := p.coalescing && !lost && p.running > 0
	p.mu.Unlock()
	if !wait {
		p.e.dispatcher.signal()
	}
}

// abandon ends a run whose handler does not return.
func (p *pool) abandon(t *task) {
	cause := context.Cause(t.ctx)
	p.mu.Lock()
	p.abandoned++
	p.mu.Unlock()
	p.e.config.Logger.Error("a handler did not return after its context ended and was abandoned; its goroutine still runs",
		"job", t.job.ID, "type", t.job.Type, "error", cause)
	p.end(t, cause, 0)
}

// abandonedReturned notes that an abandoned handler has returned.
func (p *pool) abandonedReturned(t *task) {
	p.mu.Lock()
	p.abandoned--
	p.mu.Unlock()
	p.e.config.Logger.Warn("an abandoned handler has returned", "job", t.job.ID, "type", t.job.Type)
}

// setCoalescing returns how many ends wait to be recorded, and whether every other
// slot runs a handler. While it is on, only the last end signals the dispatcher.
func (p *pool) setCoalescing(on bool) (ended int, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coalescing = on
	return len(p.endings), p.free == 0 && p.running > 0
}

// endedAndFree returns how many ends wait to be recorded, and how many slots are free.
func (p *pool) endedAndFree() (ended, free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.endings), p.free
}

// takeEndings takes the ends that wait to be recorded, and frees their slots.
func (p *pool) takeEndings() []*ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.endings
	p.endings = nil
	p.freeSlotsOf(taken)
	return taken
}

// freeSlotsOf frees the slots of runs that have ended.
func (p *pool) freeSlotsOf(ended []*ending) {
	slots := 0
	for _, end := range ended {
		if !end.slotFreed {
			slots++
		}
	}
	p.freeSlots(slots)
}

// release removes a run whose end is decided.
func (p *pool) release(t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.releaseLocked(t)
}

func (p *pool) releaseLocked(t *task) {
	delete(p.byRun, t.lease.RunID)
	delete(p.byJob, t.job.ID)
	if s, is := p.e.config.Secrets.(forgetter); is {
		s.Forget(t.lease.RunID)
	}
	if t.recorded != nil {
		close(t.recorded)
	}
	p.notifyIdle()
}

// notifyIdle closes the channels of idle if nothing is left.
func (p *pool) notifyIdle() {
	if len(p.byRun)+p.held+p.directCallers > 0 {
		return
	}
	for _, idle := range p.idleWaiters {
		close(idle)
	}
	p.idleWaiters = nil
}

// idle returns a channel that is closed when the end of every run is recorded, and no
// run is about to start.
func (p *pool) idle() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(chan struct{})
	p.idleWaiters = append(p.idleWaiters, idle)
	p.notifyIdle()
	return idle
}

// liveTasks lists the runs whose end is not recorded.
func (p *pool) liveTasks() []*task {
	p.mu.Lock()
	defer p.mu.Unlock()
	tasks := make([]*task, 0, len(p.byRun))
	for _, t := range p.byRun {
		tasks = append(tasks, t)
	}
	return tasks
}

// cutOff stops all runs, and those that a claim in flight still brings.
func (p *pool) cutOff(grace time.Duration) {
	p.mu.Lock()
	p.cutOffGrace = &grace
	p.mu.Unlock()
	for _, t := range p.liveTasks() {
		t.stop(errShutdown, grace)
	}
}

const earlyStopsMax = 1024

// stopJob stops the run of a job, if this process runs it. The claim that started it
// may still be in flight; then the run is stopped when the answer arrives.
func (p *pool) stopJob(id rota.ID) {
	p.mu.Lock()
	t := p.byJob[id]
	if t == nil && p.held > 0 && len(p.earlyStops) < earlyStopsMax { // beyond that, the next heartbeat stops the run
		p.earlyStops[id] = true
	}
	p.mu.Unlock()
	if t != nil {
		t.stop(errCancelled, p.e.config.CancelGrace)
	}
}

// leaseLost stops a run that the store has given to another attempt.
func (p *pool) leaseLost(t *task) {
	if t.isSettled() || t.completes() {
		return // its end is in flight, or was just recorded
	}
	p.countLost()
	p.e.config.Logger.Error("the lease of a run is lost: the store gave the job to another attempt", "job", t.job.ID, "type", t.job.Type)
	t.stop(errLeaseLost, p.e.config.CancelGrace)
}

func (p *pool) countLost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leasesLost++
}

func (p *pool) snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Snapshot{
		Workers: p.e.config.Workers, Running: len(p.byRun), Abandoned: p.abandoned, LeaseLost: p.leasesLost,
	}
}
