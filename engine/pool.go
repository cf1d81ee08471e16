package engine

import (
	"context"
	"sync"
	"time"

	"github.com/rotajobs/rota"
)

// pool runs handlers, each in a goroutine that it has to itself meanwhile, in a
// fixed number of slots. It calls neither the store nor the feed, so that both may call it.
type pool struct {
	e         *Engine
	heartbeat *heartbeat
	baseCtx   context.Context
	types     []string
	runners   map[string]*typeRunner // the same
	handoff   chan *task             // to goroutines that have nothing to do

	mu            sync.Mutex
	free          int               // slots nobody holds
	held          int               // slots taken for what has yet to start
	directCallers int               // of direct runs that have not begun
	closed        bool              // no more are taken
	openUntil     context.Context   // nor when this has ended
	cutOffGrace   *time.Duration    // what still starts is told to stop, with this grace; nil: it is not
	slotWaiters   []chan error      // direct runs that wait for a slot, in their order
	running       int               // runs that have not ended
	byRun         map[rota.ID]*task // those whose end is not recorded
	byJob         map[rota.ID]*task // the same
	earlyStops    map[rota.ID]bool  // jobs asked to stop while the answer that brings them may be under way
	endings       []*ending         // those whose end has yet to be recorded
	heldWaiters   []chan struct{}   // closed when no slot is held
	idleWaiters   []chan struct{}   // closed when nothing is left
	abandoned     int
	leasesLost    int
	coalescing    bool    // the desk waits for those that end together
	inlineQueue   []*task // those that run one after the other and have not begun
}

// ending is a run that has ended, and how.
type ending struct {
	task *task
	item rota.FinishItem
	note *rota.NoteItem // what it last told of its progress; nil: that is known
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

// prepare makes a run that can be handed on, nil if it need not be.
func (p *pool) prepare(job *rota.Job, recorded chan struct{}) *task {
	t := &task{pool: p, job: job, runner: p.runners[job.Type], lease: job.Lease(), recorded: recorded}
	t.log.logs, t.log.job, t.log.processLog = p.e.config.Logs, job, p.e.config.Logger
	ctx, cancel := context.WithCancelCause(p.baseCtx)
	t.ctx, t.cancel = context.WithValue(ctx, taskKey{}, t), cancel
	p.mu.Lock()
	p.byRun[t.lease.RunID], p.byJob[job.ID] = t, t
	p.held--
	p.running++
	stopRequested, cut := p.earlyStops[job.ID], p.cutOffGrace
	p.notifyNoneHeld()
	p.mu.Unlock()
	if p.e.storeShared() {
		t.setLease(job.Run)
	}
	if why := notStartedBecause(stopRequested, cut != nil, t.leaseExpired(time.Now())); why != nil { // its handler need not begin
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

// handOff gives a run to a goroutine that has nothing to do, or to a new one: one
// that has run a handler keeps the stack that it took, which a new one has to
// grow.
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

// notStartedBecause says why a job that was claimed is not begun any more.
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

// queueEnd hands the end of a run to the desk. One that lost its lease has nothing
// to record: another attempt stands for it.
func (p *pool) queueEnd(t *task, err error) {
	item := t.finishItem(err)
	lost := context.Cause(t.ctx) == errLeaseLost
	t.cancel(nil)
	p.mu.Lock()
	p.running--
	if lost {
		p.releaseLocked(t)
		p.freeSlots(1)
	} else {
		if p.endings == nil {
			p.endings = make([]*ending, 0, len(p.byRun))
		}
		p.endings = append(p.endings, &ending{t, item, t.unsentProgress()})
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
	p.e.config.Logger.Error("a handler ignores the end of its context and was given up; its goroutine still runs",
		"job", t.job.ID, "type", t.job.Type, "why", cause)
	p.queueEnd(t, cause)
}

// abandonedReturned is told when a handler returns that was given up.
func (p *pool) abandonedReturned(t *task) {
	p.mu.Lock()
	p.abandoned--
	p.mu.Unlock()
	p.e.config.Logger.Warn("a handler that was given up has returned", "job", t.job.ID, "type", t.job.Type)
}

// setCoalescing is how many runs wait for their end to be recorded, and whether others
// run in all slots that are left. While it is on, the desk is told of an end only
// when it is the last.
func (p *pool) setCoalescing(on bool) (ended int, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.coalescing = on
	return len(p.endings), p.free == 0 && p.running > 0
}

// endedAndFree is how many runs wait for their end to be recorded, and how many slots
// are free.
func (p *pool) endedAndFree() (ended, free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.endings), p.free
}

// takeEndings takes the runs whose end is to be recorded, and frees their slots.
func (p *pool) takeEndings() []*ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.endings
	p.endings = nil
	p.freeSlots(len(taken))
	return taken
}

// release lets go of a run whose end is decided.
func (p *pool) release(t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.releaseLocked(t)
}

func (p *pool) releaseLocked(t *task) {
	delete(p.byRun, t.lease.RunID)
	delete(p.byJob, t.job.ID)
	if t.recorded != nil {
		close(t.recorded)
	}
	p.notifyIdle()
}

// notifyIdle tells those who wait for it that nothing is left.
func (p *pool) notifyIdle() {
	if len(p.byRun)+p.held+p.directCallers > 0 {
		return
	}
	for _, idle := range p.idleWaiters {
		close(idle)
	}
	p.idleWaiters = nil
}

// idle returns a channel that is closed when no run is left whose end is not
// recorded, and none is about to start.
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

// cutOff stops all that run, and what a claim under way still brings.
func (p *pool) cutOff(grace time.Duration) {
	p.mu.Lock()
	p.cutOffGrace = &grace
	p.mu.Unlock()
	for _, t := range p.liveTasks() {
		t.stop(errShutdown, grace)
	}
}

const earlyStopsMax = 1024

// stopJob stops the run of a job, if it is one of ours. It may be one that the
// store has given us and we have not heard of yet.
func (p *pool) stopJob(id rota.ID) {
	p.mu.Lock()
	t := p.byJob[id]
	if t == nil && p.held > 0 && len(p.earlyStops) < earlyStopsMax { // beyond it they hear of it with their next heartbeat
		p.earlyStops[id] = true
	}
	p.mu.Unlock()
	if t != nil {
		t.stop(errCancelled, p.e.config.CancelGrace)
	}
}

// leaseLost stops a run that belongs to nobody, or to somebody else, by now.
func (p *pool) leaseLost(t *task) {
	if t.isSettled() {
		return // its end is under way, or was recorded just now
	}
	p.countLost()
	p.e.config.Logger.Error("a lease is lost: the run was given to another attempt", "job", t.job.ID, "type", t.job.Type)
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
