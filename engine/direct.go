package engine

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// direct lets callers run a job now, past the queue. It serves one caller after the
// other, since a store has one reservation at a time.
type direct struct {
	e                  *Engine
	turn               chan struct{} // holds one token: the caller that takes it is served
	released           signal        // a reservation has ended
	closed             chan struct{}
	closeOnce          sync.Once
	waitingReservation atomic.Pointer[rota.ID] // reservation of the caller that waits for a slot; nil: none
}

// directCall is the request of one caller.
type directCall struct {
	actor    string                                    // on whose behalf it runs
	allow    func(context.Context, *rota.Direct) error // nil: everything
	job      rota.NewJob
	wait     time.Duration
	started  chan error    // receives one value: nil if the run has begun
	id       rota.ID       // of the job that has begun
	recorded chan struct{} // closed when its end is recorded
}

// reserveRetry is how long to wait for the reservation of another process, which may
// end without an event in this one.
const reserveRetry = 100 * time.Millisecond

func newDirect(e *Engine) *direct {
	d := &direct{e: e, turn: make(chan struct{}, 1), released: newSignal(), closed: make(chan struct{})}
	d.turn <- struct{}{}
	return d
}

func (d *direct) reservationEnded() { d.released.send() }

// reservationToExtend is the reservation to extend until its run begins, zero if there
// is none. It lasts no longer than a lease unless extended: if this process dies,
// other processes wait no longer than that.
func (d *direct) reservationToExtend() (id rota.ID) {
	if waiting := d.waitingReservation.Load(); waiting != nil {
		id = *waiting
	}
	return id
}

func (d *direct) close() { d.closeOnce.Do(func() { close(d.closed) }) }

// Direct runs a job now, past the queue, in the next free slot, and returns the job
// as it ended. The job names its type or its template. The actor of the client is
// recorded as its creator. Meanwhile this engine claims nothing. If the run cannot
// begin within wait, the error is Busy. If ctx ends once the run has begun, the run
// continues.
func (e *Engine) Direct(ctx context.Context, job rota.NewJob, wait time.Duration) (*rota.Job, error) {
	return e.DirectAs(ctx, e.client.Actor(), nil, job, wait)
}

// DirectAs is Direct on behalf of an actor: the run and its reservation record it. When a slot is free, allow may refuse the
// command that starts the run, or write into it what it depends on. The actor may have lost its right while it waited.
func (e *Engine) DirectAs(ctx context.Context, actor string, allow func(context.Context, *rota.Direct) error, job rota.NewJob, wait time.Duration) (*rota.Job, error) {
	if e.config.WorkOnly {
		return nil, &rota.Error{
			Code: rota.Conflict, Act: "direct", Reason: "this process only runs jobs from the queue",
			Hint: "send the request to the process that opened the store",
		}
	}
	if err := e.fixDirectType(ctx, &job); err != nil {
		return nil, err
	}
	c := &directCall{actor: actor, allow: allow, job: job, wait: max(wait, 0), started: make(chan error, 1), recorded: make(chan struct{})}
	if err := e.direct.enter(ctx, c); err != nil {
		return nil, err
	}
	select {
	case err := <-c.started:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-c.recorded:
		return e.store.Job(ctx, c.id)
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-e.allDone.Done():
		return e.answerAtStop(ctx, c)
	}
}

// fixDirectType sets the type of a job that names a template, so that the store refuses
// the job if the template has another type by then, and requires a handler of the type.
func (e *Engine) fixDirectType(ctx context.Context, job *rota.NewJob) error {
	if err := job.TypeOrTemplate(); err != nil {
		return err
	}
	if job.Template == "" && job.Type == "" {
		return &rota.Error{Code: rota.Invalid, Act: "direct", Field: "type", Reason: "is empty, and so is template", Hint: "set one of them"}
	}
	if job.Template != "" {
		template, err := e.store.Template(ctx, job.Template)
		if rota.CodeOf(err) == rota.NotFound {
			return &rota.Error{Code: rota.NotFound, Act: "direct", Field: "template", Reason: "there is no template " + job.Template, Hint: "check the name"}
		}
		if err != nil {
			return err
		}
		job.Type = template.Spec.Type
	}
	if e.reg.types[job.Type] == nil {
		return &rota.Error{
			Code: rota.Invalid, Act: "direct", Field: "type", Reason: "no handler for type " + job.Type + " is registered in this process",
			Hint: "use a type that this process runs, or enqueue the job",
		}
	}
	return nil
}

// answerAtStop answers a caller when the engine has ended.
func (e *Engine) answerAtStop(ctx context.Context, c *directCall) (*rota.Job, error) {
	select {
	case <-c.recorded:
		return e.store.Job(ctx, c.id)
	default:
		return nil, rota.Errorf(rota.Unavailable, "direct", "the process stopped before the end of job %s could be recorded", c.id)
	}
}

// enter begins a call in a goroutine of its own: the commands it sends to the store
// are completed even if the caller stops waiting.
func (d *direct) enter(ctx context.Context, c *directCall) error {
	select {
	case <-d.e.ready:
	default:
		return errNotReady()
	}
	if !d.e.pool.enterDirect() {
		return errNotReady()
	}
	waitCtx, done := context.WithTimeout(ctx, c.wait)
	go func() {
		defer d.e.pool.leaveDirect()
		defer done()
		c.answer(d.begin(ctx, waitCtx, c))
	}()
	return nil
}

// answer answers the caller. Only the first answer counts.
func (c *directCall) answer(err error) {
	select {
	case c.started <- err:
	default:
	}
}

// begin waits for its turn, for the reservation and for a slot, all within the wait of
// the caller, and starts the job.
func (d *direct) begin(ctx, waitCtx context.Context, c *directCall) error {
	if err := d.awaitTurn(waitCtx); err != nil {
		return d.waitError(ctx, err, "another direct run is in progress")
	}
	defer func() { d.turn <- struct{}{} }()
	for {
		reservation, err := d.reserve(ctx, waitCtx, c)
		if err != nil {
			return err
		}
		if err = d.start(ctx, waitCtx, reservation, c); err == nil {
			return nil
		}
		d.release(reservation, c.actor)
		if rota.CodeOf(err) != rota.Busy || !d.retryWait(waitCtx) {
			return d.waitError(ctx, err, "no slot came free")
		}
	}
}

// retryWait waits before another attempt where a limit or a pause holds the job back.
// Nothing is reserved meanwhile, so the queue continues.
func (d *direct) retryWait(waitCtx context.Context) bool {
	timer := time.NewTimer(reserveRetry)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-d.closed:
		return false
	case <-waitCtx.Done():
		return false
	}
}

// awaitTurn waits for the turn. If it is free, it is taken even if ctx has ended.
func (d *direct) awaitTurn(ctx context.Context) error {
	select {
	case <-d.closed:
		return errNotReady()
	default:
	}
	select {
	case <-d.turn:
		return nil
	default:
	}
	select {
	case <-d.turn:
		return nil
	case <-d.closed:
		return errNotReady()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func errNotReady() error {
	return &rota.Error{Code: rota.Unavailable, Act: "direct", Reason: "this process is starting or stopping", Hint: "retry in a moment"}
}

// waitError returns why the wait of a caller ended: its context, or the reason.
func (d *direct) waitError(ctx context.Context, err error, reason string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == context.DeadlineExceeded {
		return &rota.Error{Code: rota.Busy, Act: "direct", Reason: reason, Hint: "wait longer, or enqueue the job"}
	}
	return err
}

// reserve makes the reservation, which holds back the claims of this process. It tries
// once even if wait is zero. If it gives up without knowing whether the store has
// made the reservation, it releases it: otherwise it would block the queue until it
// expires.
func (d *direct) reserve(ctx, waitCtx context.Context, c *directCall) (rota.ID, error) {
	reserve := &rota.Reserve{
		Meta: rota.NewMeta(c.actor), Node: d.e.config.Name, Incarnation: d.e.incarnation, For: d.e.config.Lease,
	}
	for unknown := false; ; {
		results, err := d.e.store.Apply(d.e.allDone, rota.Batch{Commands: []rota.Command{reserve}})
		switch {
		case err != nil:
			unknown = true
		case results[0].Err == nil:
			return reserve.ReservationID(), nil
		case results[0].Err.Code != rota.Busy:
			return rota.ID{}, results[0].Err
		}
		if waitErr := d.awaitRelease(waitCtx); waitErr != nil {
			if err == nil {
				err = d.waitError(ctx, waitErr, "another direct run is in progress")
			}
			if unknown {
				c.answer(err)
				d.release(reserve.ReservationID(), c.actor)
			}
			return rota.ID{}, err
		}
	}
}

// awaitRelease waits until another attempt is worth it.
func (d *direct) awaitRelease(waitCtx context.Context) error {
	timer := time.NewTimer(reserveRetry)
	defer timer.Stop()
	select {
	case <-d.released:
		return nil
	case <-timer.C:
		return nil
	case <-d.closed:
		return errNotReady()
	case <-waitCtx.Done():
		return waitCtx.Err()
	}
}

// start takes a slot and begins the run, unless the caller has stopped waiting.
func (d *direct) start(ctx, waitCtx context.Context, reservation rota.ID, c *directCall) error {
	d.waitingReservation.Store(&reservation)
	defer d.waitingReservation.Store(nil)
	if err := d.e.pool.awaitSlot(waitCtx); err != nil {
		return err
	}
	err := ctx.Err()
	if err == nil {
		err = d.send(reservation, c)
	}
	if err != nil {
		d.e.pool.returnSlots(1)
		d.e.dispatcher.signal()
	}
	return err
}

// send starts the job in the store and in the pool. It retries until it knows whether
// the store has started the job: no other part of the process looks after it.
func (d *direct) send(reservation rota.ID, c *directCall) error {
	started, err := d.sendAllowed(reservation, c)
	if reservationExpired(err) {
		return &rota.Error{Code: rota.Busy, Act: "direct", Reason: "the reservation expired before the run could begin", Hint: "retry the request"}
	}
	if err != nil {
		return err
	}
	c.id = started.Job.ID
	if !started.Job.Run.Open() { // the first answer was lost, and the run was ended since
		d.e.pool.returnSlots(1)
		close(c.recorded)
		return nil
	}
	d.e.pool.start(started.Job, c.recorded)
	return nil
}

// expectTries is how often a run is allowed again because a definition changed in between.
const expectTries = 5

// sendAllowed sends the command that starts the run, as long as the actor may send it.
func (d *direct) sendAllowed(reservation rota.ID, c *directCall) (started *rota.Directed, err error) {
	for range expectTries {
		start := &rota.Direct{
			Meta: rota.NewMeta(c.actor), ReservationID: reservation, Job: c.job, Lease: d.e.config.Lease, Seed: rota.NewToken(),
		}
		if c.allow != nil {
			if err := c.allow(d.e.allDone, start); err != nil {
				return nil, err
			}
		}
		var changed *rota.Error
		started, err = do[*rota.Directed](d.e.allDone, d.e, start)
		if !errors.As(err, &changed) || changed.Code != rota.Conflict || changed.Field != "expect" {
			break
		}
	}
	return started, err
}

// reservationExpired reports whether a run was refused because its reservation is
// over: the store received no heartbeat of this process for the time of a lease.
func reservationExpired(err error) bool {
	var refused *rota.Error
	return errors.As(err, &refused) && refused.Code == rota.Conflict && refused.Field == "reservation_id"
}

// release ends a reservation whose run never began.
func (d *direct) release(reservation rota.ID, actor string) {
	ctx, done := context.WithTimeout(context.Background(), recordGrace)
	defer done()
	_, err := do[*rota.Released](ctx, d.e, &rota.Release{Meta: rota.NewMeta(actor), ReservationID: reservation})
	if err != nil && rota.CodeOf(err) != rota.NotFound {
		d.e.config.Logger.Warn("a reservation was not released; it expires with its lease", "reservation", reservation, "error", err)
	}
}
