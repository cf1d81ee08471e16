package engine

import (
	"context"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
)

// desk records what has ended and takes what comes next, in one step: an end
// and the claim for the slot that it frees share a transaction. It waits for
// nobody: while one step is being written, the next gathers.
type desk struct {
	e    *Engine
	bell bell
	due  atomic.Bool // delayed jobs have become due

	berth   berth        // for a claim that goes along with what others write
	flights int          // how many steps may be under way
	aloft   int          // how many are
	claims  int          // how many of them claim
	taken   int          // slots that those have taken
	left    since        // when the last of them left
	long    *time.Timer  // until it takes long
	landed  chan *flight // those that are back
	woken   int          // how often something may have become ready

	hungry bool        // a claim may find something
	deep   bool        // the last one found as much as it could take
	began  since       // when jobs were started last
	rate   *time.Timer // until a rate has room again
	room   time.Time   // when that is; zero: it does not run
	pause  *time.Timer // of gather
}

func newDesk(e *Engine) *desk {
	rate, pause, long := time.NewTimer(time.Hour), time.NewTimer(time.Hour), time.NewTimer(time.Hour)
	rate.Stop()
	pause.Stop()
	long.Stop()
	return &desk{
		e: e, bell: newBell(), berth: newBerth(), flights: flights(e.store), landed: make(chan *flight, flightsMax),
		hungry: !e.config.Remote, left: newSince(), long: long, began: newSince(), rate: rate, pause: pause,
	}
}

// poke tells the desk to look around: a run has ended, or a slot is free.
func (d *desk) poke() { d.bell.ring() }

// ready tells the desk that delayed jobs have become due.
func (d *desk) ready() {
	d.due.Store(true)
	d.bell.ring()
}

func (d *desk) run(ctx context.Context) {
	wake, off := d.attend()
	defer off()
	for ctx.Err() == nil {
		d.gather()
		select {
		case <-wake:
			d.wakened()
		default:
		}
		if d.step(ctx) {
			continue
		}
		d.offer()
		select {
		case <-wake:
			d.wakened()
		case f := <-d.landed:
			d.land(ctx, f)
		case trip := <-d.berth.trips:
			d.arrived(ctx, trip)
		case <-d.long.C: // what has ended is looked at
		case <-d.rate.C:
			d.room = time.Time{}
			d.wakened()
		case <-d.bell:
			runtime.Gosched() // those that were started together end together: one step for all of them
		case <-ctx.Done():
		}
		d.berth.withdraw()
	}
	for d.aloft > 0 {
		d.land(ctx, <-d.landed)
	}
}

// wakened notes that something may have become ready, whatever a claim under way
// finds.
func (d *desk) wakened() {
	d.hungry = true
	d.woken++
}

// offer lets a claim go along with what others write, unless one is under way.
func (d *desk) offer() {
	if d.claims == 0 {
		d.berth.offer()
	}
}

// attend has the desk hear of what can be claimed, and its claims go along with
// what others write. Of what is claimed far away it is the caller who hears: then
// the desk records, and never is hungry.
func (d *desk) attend() (wake <-chan struct{}, off func()) {
	if d.e.config.Remote {
		return nil, func() {}
	}
	wake, unwake := d.e.store.Wake()
	disembark := func() {}
	if !d.e.config.WorkOnly { // whose jobs come with other commands than those that a berth looks at
		disembark = d.embark()
	}
	return wake, func() {
		disembark()
		unwake()
	}
}

// gather lets short runs end that were started together, so that one step is
// written for all of them and not one for the first and one for the rest. It
// waits while that brings some more, only shortly after a start, and only while
// every slot is in use: then nothing could be started any sooner.
func (d *desk) gather() {
	for before := -1; d.began.passed() < gatherWithin; {
		ended, full := d.e.pool.rally(true)
		if !full || ended == before && !d.e.pool.spread() {
			break
		}
		before = ended
		d.pause.Reset(gatherFor)
		select {
		case <-d.bell:
		case <-d.pause.C:
		}
	}
	d.e.pool.rally(false)
	d.e.pool.spread()
}

const (
	gatherWithin = time.Millisecond       // after a start: what runs longer is not waited for
	gatherFor    = 100 * time.Microsecond // without an end: it takes that long to wake a processor that sleeps
)

// step sends a step, if there is anything to do: it records what has ended,
// readies what is due and claims as much as there is room for. It reports whether
// there may be more to do.
func (d *desk) step(ctx context.Context) bool {
	if !d.worth(d.load()) {
		return false
	}
	f := &flight{ended: d.e.pool.takeEnded(), readies: d.due.Swap(false)}
	// Neighbours in the queue lie on one page of a store: it is written while it is at hand.
	slices.SortFunc(f.ended, func(a, b *ending) int { return a.item.JobID.Compare(b.item.JobID) })
	f.commands = notes(f.ended)
	f.noted = len(f.commands)
	f.commands = append(f.commands, finishes(f.ended)...)
	f.finished = len(f.commands)
	if f.readies {
		d.wakened()
		f.commands = append(f.commands, &rota.Ready{Meta: rota.NewMeta("")})
	}
	f.woken = d.woken
	if d.wants() {
		if f.slots = d.e.pool.take(d.share()); f.slots > 0 {
			f.commands = append(f.commands, d.claim(f.slots))
		}
	}
	if len(f.commands) == 0 {
		return false
	}
	d.depart(ctx, f)
	return true
}

// wants says whether to claim. Two claims at once are for a queue that is deep.
func (d *desk) wants() bool { return d.hungry && (d.claims == 0 || d.deep) }

// load is how much a step would bring.
func (d *desk) load() int {
	ended, free := d.e.pool.idling()
	if !d.wants() {
		return ended
	}
	return ended + min(d.share(), ended+free)
}

// claim asks for jobs. One that is sent far away names no life: it is the server
// who settles what this worker leaves, and not by the time of its own start.
func (d *desk) claim(slots int) *rota.Claim {
	claim := &rota.Claim{
		Meta: rota.NewMeta(""), Worker: d.e.config.Name, Types: d.e.pool.types,
		Limit: slots, Lease: d.e.config.Lease, Seed: rota.NewToken(),
	}
	if !d.e.config.Remote {
		claim.Incarnation = d.e.incarnation
	}
	return claim
}

// claimed starts what was claimed, and settles the claim.
func (d *desk) claimed(slots int, result rota.Result, again bool, woken int) {
	d.begin(result)
	d.settle(slots, result, again, woken)
}

// begin starts what was claimed.
func (d *desk) begin(result rota.Result) {
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
	d.e.pool.launch(tasks)
}

// settle gives back what a claim did not use, and knows whether to claim again: a
// full answer may have left some, a short one has not until somebody wakes us,
// and one to a claim that was sent again tells nothing of what else there is, nor
// does one to a claim that left before somebody woke us.
func (d *desk) settle(slots int, result rota.Result, again bool, woken int) {
	if result.Err != nil {
		d.e.pool.give(slots)
		d.hungry = false
		d.e.config.Logger.Error("a claim was refused", "error", result.Err)
		d.claimIn(againMax)
		return
	}
	claimed := result.Reply.(*rota.Claimed)
	if len(claimed.Jobs) > 0 {
		d.began.mark()
	}
	d.e.pool.give(slots - len(claimed.Jobs))
	d.deep = len(claimed.Jobs) == slots
	d.hungry = claimed.More || d.deep || heavy(claimed.Jobs) || again || woken != d.woken
	if !claimed.Next.IsZero() {
		d.claimIn(max(0, claimed.Next.Sub(claimed.Now)))
	}
}

// claimIn has the desk claim again in a while, or sooner if it is to already.
func (d *desk) claimIn(wait time.Duration) {
	if at := time.Now().Add(wait); d.room.IsZero() || at.Before(d.room) {
		d.room = at
		d.rate.Reset(wait)
	}
}

// heavy reports whether jobs may have been left because their params did not fit
// into the answer.
func heavy(jobs []*rota.Job) bool {
	bytes := 0
	for _, job := range jobs {
		bytes += len(job.Params)
	}
	return bytes > rota.ClaimBytesMax-rota.ParamsMax
}

func (d *desk) readied(result rota.Result) {
	if result.Err != nil {
		d.e.config.Logger.Error("due jobs were not readied", "error", result.Err)
		return
	}
	if result.Reply.(*rota.Readied).More {
		d.due.Store(true)
	}
}

// recorded lets go of the runs whose end is decided. Where a whole Finish was
// refused, each of its items is tried by itself, and at last recorded as failed:
// no run is left open.
func (d *desk) recorded(ctx context.Context, ended []*ending, commands []rota.Command, results []rota.Result) {
	for i, command := range commands {
		finish := command.(*rota.Finish)
		mine := ended[:len(finish.Items)]
		ended = ended[len(finish.Items):]
		if results[i].Err != nil {
			d.recordEach(ctx, mine, results[i].Err)
			continue
		}
		for k, answer := range results[i].Reply.(*rota.Finished).Items {
			d.letGo(mine[k].task, answer)
		}
	}
}

func (d *desk) recordEach(ctx context.Context, ended []*ending, why error) {
	for _, one := range ended {
		if d.e.denied.Load() != nil { // it is failed when its lease runs out
			d.unrecorded(one.task, why)
			continue
		}
		item := one.item
		finished, err := do[*rota.Finished](ctx, d.e, finishOf(item))
		if err != nil && ctx.Err() == nil {
			d.e.config.Logger.Error("the end of a run was refused as it was told", "job", one.task.job.ID, "error", err, "before", why)
			finished, err = do[*rota.Finished](ctx, d.e, finishOf(refused(item, err)))
		}
		if err != nil {
			d.unrecorded(one.task, err)
			continue
		}
		d.letGo(one.task, finished.Items[0])
	}
}

func (d *desk) unrecorded(t *task, why error) {
	d.e.config.Logger.Error("the end of a run was not recorded", "job", t.job.ID, "error", why)
	d.e.pool.forget(t)
}

func (d *desk) letGo(t *task, answer rota.FinishAnswer) {
	if answer.Code == rota.LeaseLost {
		d.e.pool.countLost()
		d.e.config.Logger.Error("a run ended after its lease was lost; how it ended is dropped", "job", t.job.ID, "type", t.job.Type)
	}
	d.e.pool.forget(t)
}

// notes is what runs told of their progress just before they ended. A note that
// is refused is no reason not to record an end.
func notes(ended []*ending) (commands []rota.Command) {
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

// finishes puts endings into as few commands as can carry them.
func finishes(ended []*ending) (commands []rota.Command) {
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
