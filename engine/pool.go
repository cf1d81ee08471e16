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
	e     *Engine
	heart *heart
	base  context.Context
	types []string
	kinds map[string]*kind // the same
	runs  chan *task       // to goroutines that have nothing to do

	mu        sync.Mutex
	free      int               // slots nobody holds
	held      int               // slots taken for what has yet to start
	callers   int               // of direct runs that have not begun
	closed    bool              // no more are taken
	until     context.Context   // nor when this has ended
	cut       *time.Duration    // what still starts is told to stop, with this grace; nil: it is not
	waiters   []chan error      // direct runs that wait for a slot, in their order
	going     int               // runs that have not ended
	byRun     map[rota.ID]*task // those whose end is not recorded
	byJob     map[rota.ID]*task // the same
	early     map[rota.ID]bool  // jobs asked to stop while the answer that brings them may be under way
	done      []*ending         // those whose end has yet to be recorded
	landing   []chan struct{}   // closed when no slot is held
	emptied   []chan struct{}   // closed when nothing is left
	abandoned int
	lost      int
	rallies   bool    // the desk waits for those that end together
	relay     []*task // those that run one after the other and have not begun
}

// ending is a run that has ended, and how.
type ending struct {
	task *task
	item rota.FinishItem
	note *rota.NoteItem // what it last told of its progress; nil: that is known
}

func newPool(e *Engine) *pool {
	return &pool{
		e: e, runs: make(chan *task), heart: e.heart, base: context.Background(), until: context.Background(), free: e.config.Workers, types: e.reg.Types(),
		byRun: map[rota.ID]*task{}, byJob: map[rota.ID]*task{}, early: map[rota.ID]bool{},
	}
}

// start runs a job in a slot that was taken for it.
func (p *pool) start(job *rota.Job, recorded chan struct{}) {
	if t := p.prepare(job, recorded); t != nil {
		p.hand(t)
	}
}

// prepare makes a run that can be handed on, nil if it need not be.
func (p *pool) prepare(job *rota.Job, recorded chan struct{}) *task {
	t := &task{pool: p, job: job, typ: p.kinds[job.Type], lease: job.Lease(), recorded: recorded}
	t.log.logs, t.log.job, t.log.server = p.e.config.Logs, job, p.e.config.Logger
	ctx, cancel := context.WithCancelCause(p.base)
	t.ctx, t.cancel = context.WithValue(ctx, taskKey{}, t), cancel
	p.mu.Lock()
	p.byRun[t.lease.RunID], p.byJob[job.ID] = t, t
	p.held--
	p.going++
	asked, cut := p.early[job.ID], p.cut
	p.land()
	p.mu.Unlock()
	if p.e.shares() {
		t.begins(job.Run)
	}
	if why := tooLate(asked, cut != nil, t.outlived(time.Now())); why != nil { // its handler need not begin
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

// hand gives a run to a goroutine that has nothing to do, or to a new one: one
// that has run a handler keeps the stack that it took, which a new one has to
// grow.
func (p *pool) hand(t *task) {
	select {
	case p.runs <- t:
	default:
		go p.run(t)
	}
}

// run runs handlers, one after the other, until the engine ends.
func (p *pool) run(t *task) {
	for {
		t.run()
		if t = p.next(); t != nil {
			continue
		}
		select {
		case t = <-p.runs:
		case <-p.e.last.Done():
			return
		}
	}
}

// tooLate says why a job that was claimed is not begun any more.
func tooLate(asked, cut, outlived bool) error {
	switch {
	case outlived:
		return errOutlived
	case asked:
		return errAsked
	case cut:
		return errShutdown
	}
	return nil
}

// ended hands the end of a run to the desk. One that lost its lease has nothing
// to record: another attempt stands for it.
func (p *pool) ended(t *task, err error) {
	item := t.item(err)
	lost := context.Cause(t.ctx) == errLost
	t.cancel(nil)
	p.mu.Lock()
	p.going--
	if lost {
		p.drop(t)
		p.freed(1)
	} else {
		if p.done == nil {
			p.done = make([]*ending, 0, len(p.byRun))
		}
		p.done = append(p.done, &ending{t, item, t.lastNote()})
	}
	wait := p.rallies && !lost && p.going > 0
	p.mu.Unlock()
	if !wait {
		p.e.desk.poke()
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
	p.ended(t, cause)
}

// cameBack is told when a handler returns that was given up.
func (p *pool) cameBack(t *task) {
	p.mu.Lock()
	p.abandoned--
	p.mu.Unlock()
	p.e.config.Logger.Warn("a handler that was given up has returned", "job", t.job.ID, "type", t.job.Type)
}

// rally is how many runs wait for their end to be recorded, and whether others
// run in all slots that are left. While it is on, the desk is told of an end only
// when it is the last.
func (p *pool) rally(on bool) (ended int, full bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rallies = on
	return len(p.done), p.free == 0 && p.going > 0
}

// idling is how many runs wait for their end to be recorded, and how many slots
// are free.
func (p *pool) idling() (ended, free int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.done), p.free
}

// takeEnded takes the runs whose end is to be recorded, and frees their slots.
func (p *pool) takeEnded() []*ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken := p.done
	p.done = nil
	p.freed(len(taken))
	return taken
}

// forget lets go of a run whose end is decided.
func (p *pool) forget(t *task) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.drop(t)
}

func (p *pool) drop(t *task) {
	delete(p.byRun, t.lease.RunID)
	delete(p.byJob, t.job.ID)
	if t.recorded != nil {
		close(t.recorded)
	}
	p.rest()
}

// rest tells those who wait for it that nothing is left.
func (p *pool) rest() {
	if len(p.byRun)+p.held+p.callers > 0 {
		return
	}
	for _, idle := range p.emptied {
		close(idle)
	}
	p.emptied = nil
}

// idle returns a channel that is closed when no run is left whose end is not
// recorded, and none is about to start.
func (p *pool) idle() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	idle := make(chan struct{})
	p.emptied = append(p.emptied, idle)
	p.rest()
	return idle
}

// live lists the runs whose end is not recorded.
func (p *pool) live() []*task {
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
	p.cut = &grace
	p.mu.Unlock()
	for _, t := range p.live() {
		t.stop(errShutdown, grace)
	}
}

const earlyMax = 1024

// stopJob stops the run of a job, if it is one of ours. It may be one that the
// store has given us and we have not heard of yet.
func (p *pool) stopJob(id rota.ID) {
	p.mu.Lock()
	t := p.byJob[id]
	if t == nil && p.held > 0 && len(p.early) < earlyMax { // beyond it they hear of it with their next heartbeat
		p.early[id] = true
	}
	p.mu.Unlock()
	if t != nil {
		t.stop(errAsked, p.e.config.CancelGrace)
	}
}

// leaseLost stops a run that belongs to nobody, or to somebody else, by now.
func (p *pool) leaseLost(t *task) {
	if t.over() {
		return // its end is under way, or was recorded just now
	}
	p.countLost()
	p.e.config.Logger.Error("a lease is lost: the run was given to another attempt", "job", t.job.ID, "type", t.job.Type)
	t.stop(errLost, p.e.config.CancelGrace)
}

func (p *pool) countLost() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost++
}

func (p *pool) snapshot() Snapshot {
	p.mu.Lock()
	defer p.mu.Unlock()
	return Snapshot{
		Workers: p.e.config.Workers, Running: len(p.byRun), Abandoned: p.abandoned, LeaseLost: p.lost,
	}
}
