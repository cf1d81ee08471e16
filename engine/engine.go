package engine

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/eventring"
)

// Engine runs the jobs of a store: it claims them, runs their handlers, extends
// their leases, records how they ended, fires schedules and does the maintenance.
type Engine struct {
	client      *rota.Client
	store       rota.Store
	reg         *Registry
	config      Config
	events      *eventring.Ring
	incarnation rota.ID // this start of this process

	pool           *pool
	dispatcher     *dispatcher
	firer          *firer
	sweeper        *sweeper
	disabledLog    *disabledLog
	heartbeat      *heartbeat
	notifier       *notifier
	direct         *direct
	membership     *membership
	uptime         uptime
	leaseDeadlines *leaseDeadlines
	reporter       *reporter // nil: no Reporter is configured

	ran       atomic.Bool
	cancelRun context.CancelFunc         // ends Run as the end of its context does
	denied    atomic.Pointer[rota.Error] // why the server denied this worker; nil: it did not
	resent    atomic.Int64               // how many batches had to be sent again
	ready     chan struct{}              // closed when the engine claims jobs
	cut       chan struct{}              // closed when the grace of a shutdown is to end at once
	cutOnce   sync.Once

	allDone    context.Context // ends when the last end is recorded, or the engine gives up on recording it
	setAllDone context.CancelFunc

	cutGrace, recordGrace, reportGrace time.Duration // for tests
}

// New creates an engine; Run starts it.
func New(client *rota.Client, reg *Registry, config Config) *Engine {
	e := &Engine{
		client: client, store: client.Store(), reg: reg, config: config.withDefaults(), incarnation: rota.NewID(),
		ready: make(chan struct{}), cut: make(chan struct{}), cutGrace: cutGrace, recordGrace: recordGrace, reportGrace: reportGrace,
	}
	e.allDone, e.setAllDone = context.WithCancel(context.Background())
	e.heartbeat = newHeartbeat(e)
	e.pool = newPool(e)
	e.dispatcher = newDispatcher(e)
	e.firer = newFirer(e)
	e.sweeper = newSweeper(e)
	e.disabledLog = newDisabledLog(e)
	e.notifier = newNotifier(e)
	e.direct = newDirect(e)
	e.membership = newMembership(e)
	e.leaseDeadlines = newLeaseDeadlines()
	if e.config.Reporter != nil && !e.config.WorkOnly {
		e.reporter = newReporter(e)
	}
	return e
}

// Ready is closed when the engine has settled what its previous incarnation left
// open, and claims jobs.
func (e *Engine) Ready() <-chan struct{} { return e.ready }

// Cut ends the grace of a shutdown at once: handlers that still run are cut off,
// and their jobs are retried.
func (e *Engine) Cut() { e.cutOnce.Do(func() { close(e.cut) }) }

// Snapshot counts what an engine runs.
type Snapshot struct {
	Workers   int // slots
	Running   int // slots in use
	Abandoned int // handlers that did not stop in time and have not returned
	LeaseLost int // leases lost since the start
}

// Snapshot returns the present counts.
func (e *Engine) Snapshot() Snapshot { return e.pool.snapshot() }

// Handles reports whether this engine runs jobs of a type.
func (e *Engine) Handles(typ string) bool { return e.reg.types[typ] != nil }

// ValidateParams decodes the params of a job as the Go type that Handle registered for the
// type, and calls its Validate. The error is Invalid. A type without a Go type in this
// process accepts all params.
func (e *Engine) ValidateParams(typ string, params json.RawMessage) error {
	one := e.reg.types[typ]
	if one == nil || one.validate == nil {
		return nil
	}
	if len(params) == 0 {
		params = json.RawMessage("{}")
	}
	return one.validate(params)
}

// Run runs jobs until ctx ends. Then it claims no more, waits for running handlers
// as long as the grace allows, cuts off the rest, and returns when the end of each
// is recorded. An engine runs once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return rota.Errorf(rota.Conflict, "engine: run", "this engine has run already; create a new one with engine.New")
	}
	defer e.setAllDone()
	if err := e.config.validate(); err != nil {
		return err
	}
	if err := e.checkStore(); err != nil {
		return err
	}
	if err := e.reg.check(); err != nil {
		return err
	}
	e.reg.Introduce(e.client)
	runners, err := e.reg.typeRunners()
	if err != nil {
		return err
	}
	e.pool.runners = runners
	defer e.subscribe()()
	runCtx, end := context.WithCancel(ctx)
	defer end()
	e.cancelRun = end
	if err := e.prepare(runCtx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return e.runLoops(runCtx)
}

// checkStore refuses the client of a server, which supports no engine: that server has one.
func (e *Engine) checkStore() error {
	if store, partial := rota.StoreAs[interface{ CheckEngine() error }](e.store); partial && !e.config.Remote {
		return store.CheckEngine()
	}
	if store, bounded := rota.StoreAs[interface{ CheckLease(time.Duration) error }](e.store); bounded && !e.config.Remote {
		return store.CheckLease(e.config.Lease)
	}
	return nil
}

// subscribe reads the events of the store. A remote store has none.
func (e *Engine) subscribe() (stop func()) {
	if e.config.Remote {
		return func() {}
	}
	closeRing := func() {}
	if e.events = e.config.Events; e.events == nil {
		e.events = eventring.New(e.store, 1) // the engine only subscribes: it never pages back
		closeRing = e.events.Close
	}
	unsubscribe, endStops := e.events.Subscribe(e.handleEvents), e.events.OnStop(e.pool.stopJob)
	return func() {
		endStops()
		unsubscribe()
		closeRing()
	}
}

// prepare declares the types, settles what an earlier incarnation left open, and reads
// the clock from which on this process fires schedules. For a remote worker the server
// does all but the first.
func (e *Engine) prepare(ctx context.Context) error {
	if err := e.declare(ctx); err != nil {
		return err
	}
	if e.config.Remote {
		return nil
	}
	if err := e.recover(ctx); err != nil || e.config.WorkOnly {
		return err
	}
	asked := time.Now()
	if due, err := e.store.NextDue(ctx); err == nil { // otherwise the loops read it as soon as they can
		e.uptime.observe(due.Now, asked)
	}
	return nil
}

// runLoops runs the loops. Loops that start new work end with ctx; loops that finish
// started work end when all of it is recorded.
func (e *Engine) runLoops(ctx context.Context) error {
	e.pool.setOpenUntil(ctx)
	e.reporter.start()
	var ends, works sync.WaitGroup
	finishing, starting := e.loops()
	for _, loop := range finishing {
		ends.Go(func() { loop(e.allDone) })
	}
	for _, loop := range starting {
		works.Go(func() { loop(ctx) })
	}
	close(e.ready)
	<-ctx.Done()
	e.direct.close()
	e.pool.close()
	err := e.drain()
	works.Wait()
	e.setAllDone()
	ends.Wait()
	e.flushLogs(context.Background())
	e.reporter.close()
	if why := e.denied.Load(); why != nil {
		return why
	}
	return err
}

// loops returns the loops that finish started work, and those that start new work.
func (e *Engine) loops() (ends, works []func(context.Context)) {
	ends = append(ends, e.dispatcher.run, e.heartbeat.run, e.heartbeat.watchLeases)
	works = append(works, e.pruneLogs)
	switch {
	case e.config.Remote:
		works = append(works, newRemoteClaimer(e).run)
	case !e.config.WorkOnly:
		ends = append(ends, e.notifier.run)
		works = append(works, e.membership.run, newDueChecker(e).run, e.firer.run, e.sweeper.run, newReaper(e).run, newPruner(e).run, newSealer(e).run, e.disabledLog.run)
	}
	return ends, works
}

// drain waits for running handlers, cuts them off when the grace is over, and waits
// until the end of all of them is recorded.
func (e *Engine) drain() error {
	grace := time.NewTimer(e.config.ShutdownGrace)
	defer grace.Stop()
	idle := e.pool.idle()
	select {
	case <-idle:
		return nil
	case <-grace.C:
		e.pool.cutOff(e.cutGrace)
	case <-e.cut:
		e.pool.cutOff(cutGraceNow)
	}
	return e.awaitRecorded(idle)
}

// awaitRecorded waits until the end of each run that was cut off is recorded. A
// second signal shortens the time that handlers have left.
func (e *Engine) awaitRecorded(idle <-chan struct{}) error {
	last := time.NewTimer(e.cutGrace + e.recordGrace)
	defer last.Stop()
	for cut := e.cut; ; cut = nil { // the second signal counts once
		select {
		case <-idle:
			return nil
		case <-last.C:
			return e.unrecorded()
		case <-cut:
			e.pool.cutOff(cutGraceNow)
		}
	}
}

func (e *Engine) unrecorded() error {
	runs := e.pool.snapshot().Running
	if runs == 0 {
		return rota.Errorf(rota.Unavailable, "engine: stop", "the %s did not answer a claim; jobs that it may have started fail and are retried at the next start", e.storeName())
	}
	return rota.Errorf(rota.Unavailable, "engine: stop", "the end of %d runs was not recorded; they fail and are retried at the next start", runs)
}

const (
	cutGrace    = time.Second            // how long a handler has to return once a shutdown has cut it off
	cutGraceNow = 100 * time.Millisecond // the same after Cut
	recordGrace = 10 * time.Second       // how long a store may take to record the runs that were cut off
)

// handleEvents passes events to the parts of the engine that need them. The store
// waits until it returns.
func (e *Engine) handleEvents(events []rota.Event) {
	e.reporter.handleEvents(events)
	for i := range events {
		switch ev := &events[i]; ev.Kind {
		case rota.EventReservationReleased, rota.EventReservationExpired:
			e.direct.reservationEnded()
		case rota.EventJobCompleted, rota.EventJobDead, rota.EventJobCancelled, rota.EventJobSkipped:
			if !ev.GroupID.IsZero() && !e.config.WorkOnly {
				e.notifier.memberEnded(ev.GroupID)
			}
		}
	}
}
