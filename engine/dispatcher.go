package engine

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// dispatcher records the runs that have ended and claims the next jobs in one batch:
// an end and the claim for the slot that it frees share a transaction. While one
// batch is in flight, the dispatcher collects the next.
type dispatcher struct {
	e              *Engine
	signals        signal      // a run has ended, or a slot is free
	readyRequested atomic.Bool // delayed jobs have become due

	piggyback      piggyback   // offers a claim to callers that enqueue
	inFlightMax    int         // batches that may be in flight
	inFlight       int         // batches sent and not yet settled
	claimsInFlight int         // those of them that contain a claim
	slotsInFlight  int         // slots taken for these claims
	lastSent       stopwatch   // time since the last batch was sent
	slowTimer      *time.Timer // fires when that batch counts as slow
	done           chan *batch // batches that the store has answered
	wakeups        int         // how often jobs may have become ready

	mayHaveWork   bool        // a claim may find jobs
	lastClaimFull bool        // the last claim was answered with as many jobs as it asked for
	lastStart     stopwatch   // time since jobs were last started
	claimTimer    *time.Timer // fires when a rate limit permits the next claim
	claimAt       time.Time   // when claimTimer fires; zero: it is not running
	coalesceTimer *time.Timer // of coalesceEnds
}

func newDispatcher(e *Engine) *dispatcher {
	claimTimer, coalesceTimer, slowTimer := time.NewTimer(time.Hour), time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	claimTimer.Stop()
	coalesceTimer.Stop()
	slowTimer.Stop()
	return &dispatcher{
		e: e, signals: newSignal(), piggyback: newPiggyback(), inFlightMax: inFlightMax(e.store), done: make(chan *batch, inFlightLimit),
		mayHaveWork: !e.config.Remote, lastSent: newStopwatch(), slowTimer: slowTimer, lastStart: newStopwatch(), claimTimer: claimTimer, coalesceTimer: coalesceTimer,
	}
}

// signal wakes the dispatcher: a run has ended, or a slot is free.
func (d *dispatcher) signal() { d.signals.send() }

// requestReady notifies the dispatcher that delayed jobs have become due.
func (d *dispatcher) requestReady() {
	d.readyRequested.Store(true)
	d.signals.send()
}

func (d *dispatcher) run(ctx context.Context) {
	wake, stop := d.subscribe()
	defer stop()
	for ctx.Err() == nil {
		d.coalesceEnds()
		select {
		case <-wake:
			d.noteWakeup()
		default:
		}
		if d.dispatch(ctx) {
			continue
		}
		d.offerPiggyback()
		select {
		case <-wake:
			d.noteWakeup()
		case b := <-d.done:
			d.settleBatch(ctx, b)
		case answer := <-d.piggyback.answers:
			d.settlePiggyback(ctx, answer)
		case <-d.slowTimer.C: // ends no longer wait for the slow batch
		case <-d.claimTimer.C:
			d.claimAt = time.Time{}
			d.noteWakeup()
		case <-d.signals:
			runtime.Gosched() // runs that were started together end together: let all of them end, for one batch
		case <-ctx.Done():
		}
		d.piggyback.withdraw()
	}
	for d.inFlight > 0 {
		d.settleBatch(ctx, <-d.done)
	}
}

// noteWakeup notes that jobs may have become ready. It counts, so that a claim that is
// in flight and finds none does not clear it.
func (d *dispatcher) noteWakeup() {
	d.mayHaveWork = true
	d.wakeups++
}

// offerPiggyback offers a claim to callers that enqueue, unless a claim is in flight.
func (d *dispatcher) offerPiggyback() {
	if d.claimsInFlight == 0 {
		d.piggyback.offer()
	}
}

// subscribe subscribes to wake-ups and offers piggybacked claims. With a remote store
// the remote claimer claims instead: the dispatcher only records, and mayHaveWork
// stays false.
func (d *dispatcher) subscribe() (wake <-chan struct{}, stop func()) {
	if d.e.config.Remote {
		return nil, func() {}
	}
	wake, stopWake := d.e.store.Wake()
	stopPiggyback := func() {}
	if !d.e.config.WorkOnly { // its jobs are not created by the Enqueue commands that a piggyback waits for
		stopPiggyback = d.piggybackOn()
	}
	return wake, func() {
		stopPiggyback()
		stopWake()
	}
}

// coalesceEnds waits for short runs that were started together, so that one batch
// records all of them instead of one batch for the first and one for the rest. It
// waits while more runs end, only shortly after a start, and only while every slot
// is in use: otherwise a free slot would wait for its claim.
func (d *dispatcher) coalesceEnds() {
	for before := -1; d.lastStart.elapsed() < coalesceWithin; {
		ended, full := d.e.pool.setCoalescing(true)
		if !full || ended == before && !d.e.pool.handOffInline() {
			break
		}
		before = ended
		d.coalesceTimer.Reset(coalesceWait)
		select {
		case <-d.signals:
		case <-d.coalesceTimer.C:
		}
	}
	d.e.pool.setCoalescing(false)
	d.e.pool.handOffInline()
}

const (
	coalesceWithin = time.Millisecond       // since the last start: longer runs are not waited for
	coalesceWait   = 100 * time.Microsecond // without another end: as long as it takes to wake an idle processor
)

// dispatch sends a batch if there is anything to do: it records ends, readies due
// jobs and claims as many jobs as there are free slots. It reports whether there may
// be more to do.
func (d *dispatcher) dispatch(ctx context.Context) bool {
	if !d.worthSending(d.nextBatchSize()) {
		return false
	}
	b := &batch{ended: d.e.pool.takeEndings(), sendsReady: d.readyRequested.Swap(false)}
	// Jobs with adjacent ids share a page in the store: in id order each page is written once.
	slices.SortFunc(b.ended, func(x, y *ending) int { return x.item.JobID.Compare(y.item.JobID) })
	b.commands = noteCommands(b.ended)
	b.notesEnd = len(b.commands)
	b.commands = append(b.commands, finishCommands(b.ended)...)
	b.finishesEnd = len(b.commands)
	if b.sendsReady {
		d.noteWakeup()
		b.commands = append(b.commands, &rota.Ready{Meta: rota.NewMeta("")})
	}
	b.wakeups = d.wakeups
	if d.wantsClaim() {
		if b.claimSlots = d.e.pool.takeSlots(d.claimLimit()); b.claimSlots > 0 {
			b.commands = append(b.commands, d.newClaim(b.claimSlots))
		}
	}
	if len(b.commands) == 0 {
		return false
	}
	d.send(ctx, b)
	return true
}

// wantsClaim reports whether to claim. A second claim in flight is useful only while
// the queue has more jobs than one claim takes.
func (d *dispatcher) wantsClaim() bool {
	return d.mayHaveWork && (d.claimsInFlight == 0 || d.lastClaimFull)
}

// nextBatchSize is how many ends and claimed jobs a batch sent now would carry.
func (d *dispatcher) nextBatchSize() int {
	ended, free := d.e.pool.endedAndFree()
	if !d.wantsClaim() {
		return ended
	}
	return ended + min(d.claimLimit(), ended+free)
}

// newClaim returns a claim for as many jobs as there are slots. A remote claim names
// no incarnation: the server settles the jobs of this worker by their leases, not
// when the server itself restarts.
func (d *dispatcher) newClaim(slots int) *rota.Claim {
	claim := &rota.Claim{
		Meta: rota.NewMeta(""), Worker: d.e.config.Name, Types: d.e.pool.types,
		Limit: slots, Lease: d.e.config.Lease, Seed: rota.NewToken(),
	}
	if !d.e.config.Remote {
		claim.Incarnation = d.e.incarnation
	}
	return claim
}

// startClaimed starts the jobs of an answered claim, and settles the claim.
func (d *dispatcher) startClaimed(slots int, result rota.Result, resent bool, wakeups int) {
	d.start(result)
	d.settleClaim(slots, result, resent, wakeups)
}

// start starts the jobs of an answered claim.
func (d *dispatcher) start(result rota.Result) {
	if result.Err != nil {
		return
	}
	jobs := result.Reply.(*rota.Claimed).Jobs
	tasks := make([]*task, 0, len(jobs))
	for _, job := range jobs {
		if t := d.e.pool.prepare(job, nil); t != nil {
			tasks = append(tasks, t)
		}
	}
	d.e.pool.startTogether(tasks)
}

// settleClaim returns the slots that a claim did not use, and decides whether to
// claim again. A full answer may have left jobs behind. A short one has not, unless
// a wake-up arrived after the claim was sent. The answer to a claim that was sent
// again shows only what the first one took.
func (d *dispatcher) settleClaim(slots int, result rota.Result, resent bool, wakeups int) {
	if result.Err != nil {
		d.e.pool.returnSlots(slots)
		d.mayHaveWork = false
		d.e.config.Logger.Error("a claim was refused", "error", result.Err)
		d.claimAfter(retryMax)
		return
	}
	claimed := result.Reply.(*rota.Claimed)
	if len(claimed.Jobs) > 0 {
		d.lastStart.restart()
	}
	d.e.pool.returnSlots(slots - len(claimed.Jobs))
	d.lastClaimFull = len(claimed.Jobs) == slots
	d.mayHaveWork = claimed.More || d.lastClaimFull || mayExceedAnswerBytes(claimed.Jobs) || resent || wakeups != d.wakeups
	if !claimed.Next.IsZero() {
		d.claimAfter(max(0, claimed.Next.Sub(claimed.Now)))
	}
}

// claimAfter schedules the next claim, unless an earlier one is scheduled.
func (d *dispatcher) claimAfter(wait time.Duration) {
	if at := time.Now().Add(wait); d.claimAt.IsZero() || at.Before(d.claimAt) {
		d.claimAt = at
		d.claimTimer.Reset(wait)
	}
}

// mayExceedAnswerBytes reports whether the store may have left jobs behind because
// their params did not fit into the answer.
func mayExceedAnswerBytes(jobs []*rota.Job) bool {
	bytes := 0
	for _, job := range jobs {
		bytes += len(job.Params)
	}
	return bytes > rota.ClaimBytesMax-rota.ParamsMax
}

func (d *dispatcher) settleReady(result rota.Result) {
	if result.Err != nil {
		d.e.config.Logger.Error("the store refused the Ready command", "error", result.Err)
		return
	}
	if result.Reply.(*rota.Readied).More {
		d.readyRequested.Store(true)
	}
}

// settleFinishes releases the runs whose end is decided. If the store refused a whole
// Finish, it sends each item by itself, and at last records the run as failed: no
// run is left open.
func (d *dispatcher) settleFinishes(ctx context.Context, ended []*ending, commands []rota.Command, results []rota.Result) {
	for i, command := range commands {
		finish := command.(*rota.Finish)
		mine := ended[:len(finish.Items)]
		ended = ended[len(finish.Items):]
		if results[i].Err != nil {
			d.recordEach(ctx, mine, results[i].Err)
			continue
		}
		for k, answer := range results[i].Reply.(*rota.Finished).Items {
			d.release(mine[k].task, answer)
		}
	}
}

func (d *dispatcher) recordEach(ctx context.Context, ended []*ending, why error) {
	for _, end := range ended {
		if d.e.denied.Load() != nil { // the run fails when its lease expires
			d.dropUnrecorded(end.task, why)
			continue
		}
		finished, err := d.record(ctx, end)
		if err != nil && ctx.Err() == nil {
			d.e.config.Logger.Error("the store refused the end of a run; recording the run as failed", "job", end.task.job.ID, "error", err, "before", why)
			refused := *end
			refused.item = refusedItem(end.item, err)
			finished, err = d.record(ctx, &refused)
		}
		if err != nil {
			d.dropUnrecorded(end.task, err)
			continue
		}
		d.release(end.task, finished.Items[0])
	}
}

func (d *dispatcher) dropUnrecorded(t *task, why error) {
	d.e.config.Logger.Error("the end of a run was not recorded", "job", t.job.ID, "error", why)
	d.e.pool.release(t)
}

func (d *dispatcher) release(t *task, answer rota.FinishAnswer) {
	if answer.Code == rota.LeaseLost {
		d.e.pool.countLost()
		d.e.config.Logger.Error("a run ended after its lease was lost; its outcome is dropped", "job", t.job.ID, "type", t.job.Type)
	}
	d.e.pool.release(t)
}

// noteCommands returns the progress that runs reported just before they ended. It is
// a command of its own: if the store refuses it, the ends are still recorded.
func noteCommands(ended []*ending) (commands []rota.Command) {
	note := &rota.Note{Meta: rota.NewMeta("")}
	for i := range ended {
		if ended[i].note != nil && len(note.Items) < rota.ItemsMax {
			note.Items = append(note.Items, *ended[i].note)
		}
	}
	if len(note.Items) > 0 {
		commands = append(commands, note)
	}
	return commands
}

// finishCommands puts endings into as few commands as possible.
func finishCommands(ended []*ending) (commands []rota.Command) {
	items := make([]rota.FinishItem, len(ended))
	var last *rota.Finish
	now, from, entries, bytes := time.Now(), 0, 0, 0
	for i := range ended {
		items[i] = ended[i].sentAt(now)
		n, weight := rota.Weigh(&rota.Finish{Items: items[i : i+1]})
		if last == nil || entries+n > rota.ItemsMax || bytes+weight > rota.CommandBytesMax/2 {
			last = &rota.Finish{Meta: rota.NewMeta(""), Sent: now}
			commands = append(commands, last)
			from, entries, bytes = i, 0, 0
		}
		last.Items = items[from : i+1]
		entries, bytes = entries+n, bytes+weight
	}
	return commands
}

// record sends one end in a command of its own.
func (d *dispatcher) record(ctx context.Context, end *ending) (*rota.Finished, error) {
	results, err := d.e.apply(ctx, finishCommands([]*ending{end})...)
	return replyOf[*rota.Finished](results, err)
}
