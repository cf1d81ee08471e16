package engine

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// dispatcher records what has ended and takes what comes next, in one step: an end
// and the claim for the slot that it frees share a transaction. It waits for
// nobody: while one step is being written, the next gathers.
type dispatcher struct {
	e              *Engine
	signals        signal
	readyRequested atomic.Bool // delayed jobs have become due

	piggyback      piggyback   // for a claim that goes along with what others write
	inFlightMax    int         // how many steps may be under way
	inFlight       int         // how many are
	claimsInFlight int         // how many of them claim
	slotsInFlight  int         // slots that those have taken
	lastSent       stopwatch   // when the last of them left
	slowTimer      *time.Timer // until it takes long
	done           chan *batch // those that are back
	wakeups        int         // how often something may have become ready

	mayHaveWork   bool        // a claim may find something
	lastClaimFull bool        // the last one found as much as it could take
	lastStart     stopwatch   // when jobs were started last
	claimTimer    *time.Timer // until a rate has room again
	claimAt       time.Time   // when that is; zero: it does not run
	coalesceTimer *time.Timer // of gather
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

// signal tells the desk to look around: a run has ended, or a slot is free.
func (d *dispatcher) signal() { d.signals.send() }

// requestReady tells the desk that delayed jobs have become due.
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
		case trip := <-d.piggyback.answers:
			d.settlePiggyback(ctx, trip)
		case <-d.slowTimer.C: // what has ended is looked at
		case <-d.claimTimer.C:
			d.claimAt = time.Time{}
			d.noteWakeup()
		case <-d.signals:
			runtime.Gosched() // those that were started together end together: one step for all of them
		case <-ctx.Done():
		}
		d.piggyback.withdraw()
	}
	for d.inFlight > 0 {
		d.settleBatch(ctx, <-d.done)
	}
}

// noteWakeup notes that something may have become ready, whatever a claim under way
// finds.
func (d *dispatcher) noteWakeup() {
	d.mayHaveWork = true
	d.wakeups++
}

// offerPiggyback lets a claim go along with what others write, unless one is under way.
func (d *dispatcher) offerPiggyback() {
	if d.claimsInFlight == 0 {
		d.piggyback.offer()
	}
}

// subscribe has the desk hear of what can be claimed, and its claims go along with
// what others write. Of what is claimed far away it is the caller who hears: then
// the desk records, and never is hungry.
func (d *dispatcher) subscribe() (wake <-chan struct{}, stop func()) {
	if d.e.config.Remote {
		return nil, func() {}
	}
	wake, stopWake := d.e.store.Wake()
	stopPiggyback := func() {}
	if !d.e.config.WorkOnly { // whose jobs come with other commands than those that a berth looks at
		stopPiggyback = d.piggybackOn()
	}
	return wake, func() {
		stopPiggyback()
		stopWake()
	}
}

// coalesceEnds lets short runs end that were started together, so that one step is
// written for all of them and not one for the first and one for the rest. It
// waits while that brings some more, only shortly after a start, and only while
// every slot is in use: then nothing could be started any sooner.
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
	coalesceWithin = time.Millisecond       // after a start: what runs longer is not waited for
	coalesceWait   = 100 * time.Microsecond // without an end: it takes that long to wake a processor that sleeps
)

// dispatch sends a step, if there is anything to do: it records what has ended,
// readies what is due and claims as much as there is room for. It reports whether
// there may be more to do.
func (d *dispatcher) dispatch(ctx context.Context) bool {
	if !d.worthSending(d.nextBatchSize()) {
		return false
	}
	b := &batch{ended: d.e.pool.takeEndings(), sendsReady: d.readyRequested.Swap(false)}
	// Neighbours in the queue lie on one page of a store: it is written while it is at hand.
	slices.SortFunc(b.ended, func(a, b *ending) int { return a.item.JobID.Compare(b.item.JobID) })
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

// wantsClaim says whether to claim. Two claims at once are for a queue that is deep.
func (d *dispatcher) wantsClaim() bool {
	return d.mayHaveWork && (d.claimsInFlight == 0 || d.lastClaimFull)
}

// nextBatchSize is how much a step would bring.
func (d *dispatcher) nextBatchSize() int {
	ended, free := d.e.pool.endedAndFree()
	if !d.wantsClaim() {
		return ended
	}
	return ended + min(d.claimLimit(), ended+free)
}

// newClaim asks for jobs. One that is sent far away names no life: it is the server
// who settles what this worker leaves, and not by the time of its own start.
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

// startClaimed starts what was claimed, and settles the claim.
func (d *dispatcher) startClaimed(slots int, result rota.Result, resent bool, wakeups int) {
	d.start(result)
	d.settleClaim(slots, result, resent, wakeups)
}

// start starts what was claimed.
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

// settleClaim gives back what a claim did not use, and knows whether to claim again: a
// full answer may have left some, a short one has not until somebody wakes us,
// and one to a claim that was sent again tells nothing of what else there is, nor
// does one to a claim that left before somebody woke us.
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

// claimAfter has the desk claim again in a while, or sooner if it is to already.
func (d *dispatcher) claimAfter(wait time.Duration) {
	if at := time.Now().Add(wait); d.claimAt.IsZero() || at.Before(d.claimAt) {
		d.claimAt = at
		d.claimTimer.Reset(wait)
	}
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

func (d *dispatcher) settleReady(result rota.Result) {
	if result.Err != nil {
		d.e.config.Logger.Error("due jobs were not readied", "error", result.Err)
		return
	}
	if result.Reply.(*rota.Readied).More {
		d.readyRequested.Store(true)
	}
}

// settleFinishes lets go of the runs whose end is decided. Where a whole Finish was
// refused, each of its items is tried by itself, and at last recorded as failed:
// no run is left open.
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
		if d.e.denied.Load() != nil { // it is failed when its lease runs out
			d.dropUnrecorded(end.task, why)
			continue
		}
		item := end.item
		finished, err := do[*rota.Finished](ctx, d.e, finishOf(item))
		if err != nil && ctx.Err() == nil {
			d.e.config.Logger.Error("the end of a run was refused as it was told", "job", end.task.job.ID, "error", err, "before", why)
			finished, err = do[*rota.Finished](ctx, d.e, finishOf(refusedItem(item, err)))
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
		d.e.config.Logger.Error("a run ended after its lease was lost; how it ended is dropped", "job", t.job.ID, "type", t.job.Type)
	}
	d.e.pool.release(t)
}

// noteCommands is what runs told of their progress just before they ended. A note that
// is refused is no reason not to record an end.
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

// finishCommands puts endings into as few commands as can carry them.
func finishCommands(ended []*ending) (commands []rota.Command) {
	items := make([]rota.FinishItem, len(ended))
	var last *rota.Finish
	from, entries, bytes := 0, 0, 0
	for i := range ended {
		items[i] = ended[i].item
		n, weight := rota.Weigh(&rota.Finish{Items: items[i : i+1]})
		if last == nil || entries+n > rota.ItemsMax || bytes+weight > rota.CommandBytesMax/2 {
			last = &rota.Finish{Meta: rota.NewMeta("")}
			commands = append(commands, last)
			from, entries, bytes = i, 0, 0
		}
		last.Items = items[from : i+1]
		entries, bytes = entries+n, bytes+weight
	}
	return commands
}

func finishOf(item rota.FinishItem) *rota.Finish {
	return &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}}
}
