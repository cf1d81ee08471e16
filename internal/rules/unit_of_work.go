package rules

import (
	"bytes"
	"time"

	"github.com/rotajobs/rota"
)

// UnitOfWork holds the rows that one transaction has loaded, overlaid with what
// it has decided so far. A row that is known and nil is absent.
//
// A rule reads rows through the unit of work. At a row that is not known yet the
// rule stops (see miss.go): what it has decided is undone, the row is loaded, and
// the rule runs again. So a rule never takes a row that was not loaded for an
// absent one. To load independent rows together, a rule wants all of them before
// it gets the first.
type UnitOfWork struct {
	Now        time.Time
	ReadAt     time.Time // when Now was read, by the clock of this process; zero: the batch has its own time
	SkipLocked bool      // leases that other transactions have locked are passed to PutLocked
	deferKeys  bool      // jobs of limited concurrency keys become ready later
	deferred   bool      // there is such a job

	tables []table // by kind; nil: nothing of that kind is known
	orders Orders  // what is to be loaded of the orders

	jobs           map[rota.ID]*jobRow
	slab           []jobRow // unused job rows, allocated many at a time
	leases         jobMisses
	fullJobs       jobMisses
	newJobs        jobMisses
	lockedByOthers map[rota.ID]bool // jobs that other transactions have locked
	tails          map[int]tail     // ends of priorities, as decided

	edges      map[string][]string // dependencies of schedules, as Dependencies loaded them
	lockActive bool                // lock the active reservation even if there is none

	claimedBefore, heads, due, stale, unsettled orderResult
	claimRepeated                               bool      // an earlier sending of the claim took jobs
	moreHeads                                   bool      // ready jobs may follow the heads that were found
	claims                                      []rota.ID // claim commands whose earlier sendings were queried

	touchedJobs       []*jobRow
	createdBySchedule map[string][]rota.ID  // jobs created in this transaction, by schedule
	createdByGroup    map[rota.ID][]rota.ID // jobs created in this transaction, by group
	touchedByKey      map[string][]*jobRow  // touched jobs, by concurrency key
	keysToBalance     []keyOfType           // concurrency keys, with the types of their changed jobs, to balance at the end of the command
	wake              bool                  // a claim that found nothing may find a job now
	audit             []rota.AuditEntry
	undo              []undo
	commandSeq        int // number of the current command, so that each can be undone alone

	enqueueIDs map[*rota.Enqueue][]rota.ID // job ids of each command, derived once
}

// tail is the end of a priority: the highest position of a QUEUED job there, if
// there is one.
type tail struct {
	position   int64
	some       bool
	commandSeq int // command that changed it last
}

func (t tail) or(position int64) tail {
	if t.some {
		position = max(t.position, position)
	}
	return tail{position: position, some: true}
}

// orderResult holds what one of the orders returned, in its order.
type orderResult struct {
	queried, known bool
	ids            []rota.ID
}

// queryOnce returns what one of the orders returned. Such a query locks the rows
// that it finds, so it is asked once, when everything that bounds it is known.
func queryOnce[Q any](r *orderResult, slot **Q, query Q) []rota.ID {
	if !r.known {
		wantOnce(r, slot, query)
		panic(missed{})
	}
	return r.ids
}

func wantOnce[Q any](r *orderResult, slot **Q, query Q) {
	if !r.queried {
		r.queried = true
		*slot = &query
	}
}

// one is the key of a row or an answer of which there is one.
var one struct{}

// newUnitOfWork returns an empty unit of work with capacity for so many jobs.
func newUnitOfWork(now time.Time, jobs int) *UnitOfWork {
	u := &UnitOfWork{
		Now:        now,
		jobs:       make(map[rota.ID]*jobRow, jobs),
		slab:       make([]jobRow, 0, jobs),
		tails:      map[int]tail{},
		tables:     make([]table, len(kindNames)),
		commandSeq: 1,
		enqueueIDs: map[*rota.Enqueue][]rota.ID{},
	}
	u.leases.unit, u.fullJobs.unit, u.newJobs.unit = u, u, u
	return u
}

// Deferred reports whether the limit of a concurrency key is left to a later Ready.
func (u *UnitOfWork) Deferred() bool { return u.deferred }

// load loads the rows that rules have missed.
func (u *UnitOfWork) load(tx Tx) error {
	if err := tx.Load(u); err != nil {
		return err
	}
	for _, t := range u.tables {
		if t != nil {
			t.loaded()
		}
	}
	u.leases.loaded()
	u.fullJobs.loaded()
	u.newJobs.loaded()
	for _, r := range []*orderResult{&u.claimedBefore, &u.heads, &u.due, &u.stale, &u.unsettled} {
		r.known = r.queried
	}
	u.orders, u.SkipLocked = Orders{}, false
	return nil
}

// forgetMissing drops what rules have asked for and did not need. After the rows
// are locked, loading it would replace the versions that were checked.
func (u *UnitOfWork) forgetMissing() {
	for _, t := range u.tables {
		if t != nil {
			t.forgetMissing()
		}
	}
	u.leases.forgetMissing()
	u.fullJobs.forgetMissing()
	u.newJobs.forgetMissing()
}

// misses reports whether there is anything to load.
func (u *UnitOfWork) misses() bool {
	for _, t := range u.tables {
		if t != nil && t.missing() > 0 {
			return true
		}
	}
	return len(u.leases.ids)+len(u.fullJobs.ids)+len(u.newJobs.ids) > 0 || u.orders != Orders{}
}

// rowOf returns the row of a job, which is new if nothing was known of the job.
func (u *UnitOfWork) rowOf(id rota.ID) *jobRow {
	r := u.jobs[id]
	if r == nil {
		r = u.newRow()
		u.jobs[id] = r
	}
	return r
}

// newRow returns a row of which nothing is known. Rows are allocated many at a
// time.
func (u *UnitOfWork) newRow() *jobRow {
	if len(u.slab) == cap(u.slab) {
		u.slab = make([]jobRow, 0, max(8, 2*cap(u.slab)))
	}
	u.slab = u.slab[:len(u.slab)+1]
	return &u.slab[len(u.slab)-1]
}

// tailOfChain returns the id of the last job of the chain that a job belongs to,
// including jobs added in this transaction.
func (u *UnitOfWork) tailOfChain(id rota.ID) rota.ID {
	if j := u.job(id); j != nil && j.Sequel == rota.SequelRetry {
		if next, known := Retries.peek(u, id); !known || next.IsZero() {
			id = Chains.get(u, id)
		}
	}
	for {
		next, known := Retries.peek(u, id)
		if !known || next.IsZero() {
			return id
		}
		id = next
	}
}

// edit returns a job to change, with its own copy of the run.
func (u *UnitOfWork) edit(id rota.ID) *rota.Job {
	r := u.jobs[id]
	if r.commandSeq == u.commandSeq {
		return r.is
	}
	u.saveRow(r)
	copied := *r.is
	if copied.Run != nil {
		run := *copied.Run
		copied.Run = &run
	}
	r.is, r.commandSeq = &copied, u.commandSeq
	u.touch(r)
	return r.is
}

// editLeavingQueue returns a job to change that leaves the queue. A job created
// in the same transaction is copied first: it is stored as QUEUED and then
// changed. Its params are cloned, since the caller may reuse the memory they
// were read from.
func (u *UnitOfWork) editLeavingQueue(id rota.ID) *rota.Job {
	if r := u.jobs[id]; r.inserted != nil && r.is == r.inserted {
		u.saveRow(r)
		copied := *r.is
		copied.Params = bytes.Clone(copied.Params)
		r.is, r.commandSeq = &copied, u.commandSeq
	}
	return u.edit(id)
}

// insert adds a job that does not exist yet.
func (u *UnitOfWork) insert(j *rota.Job) {
	r := u.rowOf(j.ID)
	u.saveRow(r)
	r.is, r.inserted, r.commandSeq = j, j, u.commandSeq
	r.known, r.complete = true, true
	u.touch(r)
	u.indexCreated(j)
	if !j.RetryOf.IsZero() {
		Retries.set(u, j.RetryOf, j.ID)
		return
	}
	if p, planned := PlanOf(j); planned {
		Plans.set(u, p, j.ID)
	}
}

func (u *UnitOfWork) touch(r *jobRow) {
	if r.touched {
		return
	}
	r.touched = true
	u.touchedJobs = append(u.touchedJobs, r)
	if key := r.is.ConcurrencyKey; key != "" {
		if u.touchedByKey == nil {
			u.touchedByKey = map[string][]*jobRow{}
		}
		u.touchedByKey[key] = append(u.touchedByKey[key], r)
	}
}

// indexCreated indexes a job created in this transaction by its schedule and
// its group.
func (u *UnitOfWork) indexCreated(j *rota.Job) {
	if j.Schedule != "" {
		appendWithUndo(u, &u.createdBySchedule, j.Schedule, j.ID)
	}
	if !j.GroupID.IsZero() {
		appendWithUndo(u, &u.createdByGroup, j.GroupID, j.ID)
	}
}

// remove deletes a job with its run.
func (u *UnitOfWork) remove(id rota.ID) {
	r := u.jobs[id]
	u.saveRow(r)
	u.touch(r)
	r.is = nil
}

// appendPosition returns the position after the last job of a priority. The
// first job of an empty priority gets one position gap.
func (u *UnitOfWork) appendPosition(priority int) int64 {
	end := u.tailOf(priority)
	if end.commandSeq != u.commandSeq {
		u.onUndo(func() { u.tails[priority] = end })
	}
	longer := tail{position: end.position + rota.PositionGap, some: true, commandSeq: u.commandSeq}
	u.tails[priority] = longer
	return longer.position
}

// tailOf returns the end of a priority as decided.
func (u *UnitOfWork) tailOf(priority int) tail {
	end, known := u.tails[priority]
	if known {
		return end
	}
	// As long as all jobs of the answer have left the priority in this
	// transaction, ask for many more, so that there are few such queries.
	for count := tailCount; !known; count *= widening {
		end, known = u.storedTail(Tail{Priority: priority, Count: count})
	}
	for _, r := range u.touchedJobs {
		if r.is != nil && isQueuedAt(r.is, priority) {
			end = end.or(r.is.Position)
		}
	}
	u.onUndo(func() { delete(u.tails, priority) })
	u.tails[priority] = end
	return end
}

// storedTail returns the end of a priority in the store, without the jobs that
// have left the priority in this transaction. It reports false if there may be
// jobs before those that were queried.
func (u *UnitOfWork) storedTail(q Tail) (end tail, known bool) {
	last := Tails.get(u, q)
	for _, j := range last {
		if r := u.jobs[j.ID]; r == nil || r.is == nil || isQueuedAt(r.is, q.Priority) {
			return tail{position: j.Position, some: true}, true
		}
	}
	return tail{}, len(last) < q.Count
}

// forgetTailOf forgets the tail of a job's priority if the job leaves the queue
// and may be that tail.
func (u *UnitOfWork) forgetTailOf(j *rota.Job) {
	end, known := u.tails[j.Priority]
	if !known || j.Position < end.position {
		return
	}
	priority := j.Priority
	delete(u.tails, priority)
	u.onUndo(func() { u.tails[priority] = end })
}

// jobIDs returns the ids of a command's jobs.
func (u *UnitOfWork) jobIDs(c *rota.Enqueue) []rota.ID {
	ids, known := u.enqueueIDs[c]
	if !known {
		ids = make([]rota.ID, len(c.Jobs))
		for i := range ids {
			ids[i] = c.JobID(i)
		}
		u.enqueueIDs[c] = ids
	}
	return ids
}

func isQueuedAt(j *rota.Job, priority int) bool {
	return j.Status == rota.StatusQueued && j.Priority == priority
}

// activeReservation returns the active reservation, nil if there is none.
func (u *UnitOfWork) activeReservation() *rota.Reservation {
	if id := Active.get(u, one); !id.IsZero() {
		if r := Reservations.get(u, id); r != nil && r.Status == rota.ReservationActive {
			return r
		}
	}
	for k := range Reservations.of(u).changed() {
		if k.is != nil && k.is.Status == rota.ReservationActive {
			return k.is
		}
	}
	return nil
}

// removeIntent deletes an intent record, whether or not it exists.
func (u *UnitOfWork) removeIntent(i Intent) {
	IntentRecords.of(u).put(i, &i)
	IntentRecords.set(u, i, nil)
}

// addIntent records work for a later Sweep.
func (u *UnitOfWork) addIntent(kind, name string) {
	i := Intent{Kind: kind, Name: name}
	IntentRecords.set(u, i, &i)
}
