package rules

import (
	"bytes"
	"time"

	"github.com/rotajobs/rota"
)

// UnitOfWork is the part of a store that one step has loaded, overlaid with what
// it has decided so far. A row that is known and nil is absent.
type UnitOfWork struct {
	Now time.Time

	jobs           map[rota.ID]*jobRow
	slab           []jobRow // to be used for them
	retries        map[rota.ID]rota.ID
	chains         map[rota.ID]rota.ID
	plans          map[Plan]rota.ID
	tails          map[int]tail
	auditIDs       map[rota.ID]bool
	pages          map[OrderPage][]rota.ID
	lockedByOthers map[rota.ID]bool // jobs that others have locked

	keys         rowSet[Key, KeyRecord]
	types        rowSet[string, rota.Type]
	templates    rowSet[string, rota.Template]
	schedules    rowSet[string, rota.Schedule]
	groups       rowSet[rota.ID, rota.Group]
	reservations rowSet[rota.ID, rota.Reservation]
	requests     rowSet[RequestKey, Request]
	buckets      rowSet[string, rota.Bucket]
	throttle     rowSet[struct{}, rota.Throttle]
	webhooks     rowSet[struct{}, rota.Webhooks]
	intents      rowSet[Intent, Intent]
	dropped      rowSet[string, Dropped]

	jobsOf              queryCache[JobsOf, []rota.ID]
	planned             queryCache[Planned, []rota.ID]
	members             queryCache[Members, []rota.ID]
	blocked             queryCache[Blocked, []rota.ID]
	overlapWaiting      queryCache[OverlapWaiting, []rota.ID]
	latest              queryCache[Latest, rota.ID]
	dependents          queryCache[Dependents, []string]
	reach               queryCache[Reach, bool]
	edges               map[string][]string // what schedules depend on, as Reach found it
	using               queryCache[Using, []string]
	keyQueues           queryCache[KeyQueue, KeyQueueState]
	open                queryCache[Open, int]
	redriven            queryCache[Redriven, rota.ID]
	attempts            queryCache[Attempts, []rota.ID]
	expiredWaits        queryCache[ExpiredWaits, []rota.ID]
	pendingIntents      queryCache[Intents, []Intent]
	expiredReservations queryCache[ExpiredReservations, []rota.ID]
	expiredRequests     queryCache[ExpiredRequests, []RequestKey]
	droppedJobs         queryCache[DroppedJobs, []rota.ID]

	throttleQueried bool
	webhooksQueried bool
	activeQueried   bool
	lockActive      bool    // that it is absent matters as well
	active          rota.ID // the active reservation as the store has it

	claimedBefore, heads, due, stale, unsettled orderResult
	claimRepeated                               bool      // the claim took jobs when it was sent before
	moreHeads                                   bool      // there may be others behind the heads
	claims                                      []rota.ID // commands whose earlier sendings were asked for
	afterEnqueues                               bool      // a claim comes behind enqueues
	claimAlone                                  bool      // and turns out to have to wait for them

	touchedJobs       []*jobRow
	createdBySchedule map[string][]rota.ID  // jobs made here, by schedule
	createdByGroup    map[rota.ID][]rota.ID // jobs made here, by group
	touchedByKey      map[string][]*jobRow  // touched jobs, by concurrency key
	keysToBalance     []string              // concurrency keys to balance at the end of the command
	wake              bool                  // a claim that found nothing may find something
	audit             []rota.AuditEntry
	undo              []undo
	commandSeq        int // counts commands, so that each can be taken back alone

	enqueueIDs map[*rota.Enqueue][]rota.ID // of its jobs, derived once

	loadMore func(*Need) error // loads what only a decision shows to be missing
	loadErr  error             // what came of that
}

// tail is the end of a priority: the highest position of a QUEUED job there,
// if there is one.
type tail struct {
	position   int64
	some       bool
	commandSeq int // the command that moved it last
}

func (t tail) or(position int64) tail {
	if t.some {
		position = max(t.position, position)
	}
	return tail{position: position, some: true}
}

// orderResult is what one of the orders yielded, in its order.
type orderResult struct {
	queried bool
	ids     []rota.ID
}

type jobRow struct {
	was, is    *rota.Job // as the store has it, as it is decided
	inserted   *rota.Job // as it was inserted, if this world made it
	commandSeq int       // the command for which `is` is a copy of its own
	touched    bool
	queried    bool // it was asked for whole
}

// throttleKey and webhooksKey are the keys of the one row of their kind.
var throttleKey, webhooksKey = struct{}{}, struct{}{}

// newUnitOfWork is an empty one, with room for so many jobs.
func newUnitOfWork(now time.Time, jobs int) *UnitOfWork {
	return &UnitOfWork{
		Now:        now,
		jobs:       make(map[rota.ID]*jobRow, jobs),
		slab:       make([]jobRow, 0, jobs),
		retries:    map[rota.ID]rota.ID{},
		chains:     map[rota.ID]rota.ID{},
		plans:      map[Plan]rota.ID{},
		tails:      map[int]tail{},
		auditIDs:   map[rota.ID]bool{},
		pages:      map[OrderPage][]rota.ID{},
		commandSeq: 1,
		enqueueIDs: map[*rota.Enqueue][]rota.ID{},
	}
}

// newRow is a row of which nothing is known. Rows are made many at a time.
func (u *UnitOfWork) newRow() *jobRow {
	if len(u.slab) == cap(u.slab) {
		u.slab = make([]jobRow, 0, max(8, 2*cap(u.slab)))
	}
	u.slab = u.slab[:len(u.slab)+1]
	return &u.slab[len(u.slab)-1]
}

// job returns a job to read, nil if it is absent.
func (u *UnitOfWork) job(id rota.ID) *rota.Job {
	if r := u.jobs[id]; r != nil {
		return r.is
	}
	return nil
}

// tailOfChain is the last job of the chain that a job stands in: the last that
// the store knows, and what was added to it here.
func (u *UnitOfWork) tailOfChain(id rota.ID) rota.ID {
	if last, known := u.chains[id]; known {
		id = last
	}
	for !u.retries[id].IsZero() {
		id = u.retries[id]
	}
	return id
}

// edit returns a job to change, with a run of its own to change.
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

// editLeavingQueue returns a job to change that leaves the queue. One that was made in this
// very step is parted from how it entered: a job enters the store as QUEUED, and
// whoever made it may use what its params were read from for others.
func (u *UnitOfWork) editLeavingQueue(id rota.ID) *rota.Job {
	if r := u.jobs[id]; r.inserted != nil && r.is == r.inserted {
		u.saveRow(r)
		copied := *r.is
		copied.Params = bytes.Clone(copied.Params)
		r.is, r.commandSeq = &copied, u.commandSeq
	}
	return u.edit(id)
}

// insert adds a job that was not there.
func (u *UnitOfWork) insert(j *rota.Job) {
	r := u.jobs[j.ID]
	if r == nil {
		r = u.newRow()
		u.jobs[j.ID] = r
	}
	u.saveRow(r)
	r.is, r.inserted, r.commandSeq = j, j, u.commandSeq
	u.touch(r)
	u.indexCreated(j)
	if !j.RetryOf.IsZero() {
		setWithUndo(u, u.retries, j.RetryOf, j.ID)
		return
	}
	if p, planned := PlanOf(j); planned {
		setWithUndo(u, u.plans, p, j.ID)
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

// indexCreated remembers a job that was made here under its schedule and its group. One
// that is taken back is absent from the world, and so passed over where this is
// read.
func (u *UnitOfWork) indexCreated(j *rota.Job) {
	if j.Schedule != "" {
		if u.createdBySchedule == nil {
			u.createdBySchedule = map[string][]rota.ID{}
		}
		u.createdBySchedule[j.Schedule] = append(u.createdBySchedule[j.Schedule], j.ID)
	}
	if !j.GroupID.IsZero() {
		if u.createdByGroup == nil {
			u.createdByGroup = map[rota.ID][]rota.ID{}
		}
		u.createdByGroup[j.GroupID] = append(u.createdByGroup[j.GroupID], j.ID)
	}
}

// remove takes a job out of the store, with its run.
func (u *UnitOfWork) remove(id rota.ID) {
	r := u.jobs[id]
	u.saveRow(r)
	u.touch(r)
	r.is = nil
}

// appendPosition is the position at the end of a priority. An empty one begins at the
// first gap.
func (u *UnitOfWork) appendPosition(priority int) int64 {
	end, known := u.tails[priority]
	if !known {
		end = u.reloadTail(priority)
	}
	if end.commandSeq != u.commandSeq {
		u.onRollback(func() { u.tails[priority] = end })
	}
	longer := tail{position: end.position + rota.PositionGap, some: true, commandSeq: u.commandSeq}
	u.tails[priority] = longer
	return longer.position
}

// reloadTail looks for the end of a priority whose tail has left it in this very
// step: the one thing that a decision can miss.
func (u *UnitOfWork) reloadTail(priority int) tail {
	n := &Need{unit: u}
	n.tail(priority)
	if u.loadMore != nil && u.loadErr == nil {
		u.loadErr = u.loadMore(n)
	}
	return u.tails[priority]
}

// forgetTailOf forgets the tail of a priority if the job that leaves it may be the
// tail, so that whoever appends next asks for it again.
func (u *UnitOfWork) forgetTailOf(j *rota.Job) {
	end, known := u.tails[j.Priority]
	if !known || j.Position < end.position {
		return
	}
	priority := j.Priority
	delete(u.tails, priority)
	u.onRollback(func() { u.tails[priority] = end })
}

// jobIDs are the ids of a command's jobs.
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

// ownTail is the end of what this world itself has put at a priority, for a
// tail that is asked for again.
func (u *UnitOfWork) ownTail(priority int) (end tail) {
	for _, r := range u.touchedJobs {
		if r.is != nil && isQueuedAt(r.is, priority) {
			end = end.or(r.is.Position)
		}
	}
	return end
}

func isQueuedAt(j *rota.Job, priority int) bool {
	return j.Status == rota.StatusQueued && j.Priority == priority
}

// audited says whether a command has written about a job before.
func (u *UnitOfWork) audited(c rota.Command, job rota.ID) bool {
	return u.auditIDs[rota.AuditID(c.Head().ID, c.Verb(), job)]
}

func (u *UnitOfWork) auditJob(c rota.Command, act string, job rota.ID, detail string) {
	u.appendAudit(rota.AuditEntry{
		ID: rota.AuditID(c.Head().ID, c.Verb(), job), At: u.Now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}

// auditedSubject says whether a command has written about something with a name before.
func (u *UnitOfWork) auditedSubject(c rota.Command, subject string) bool {
	return u.auditIDs[rota.AuditNameID(c.Head().ID, c.Verb(), subject)]
}

// auditSubject writes about something that has a name.
func (u *UnitOfWork) auditSubject(c rota.Command, act, subject, detail string) {
	u.appendAudit(rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), subject), At: u.Now, Actor: c.Head().Actor, Act: act,
		Subject: subject, Detail: detail,
	})
}

// auditSideEffect writes what a command did to something besides what it is about. A
// command may do several things to one.
func (u *UnitOfWork) auditSideEffect(c rota.Command, act, subject, detail string) {
	u.appendAudit(rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), act+" "+subject), At: u.Now, Actor: c.Head().Actor, Act: act,
		Subject: subject, Detail: detail,
	})
}

func (u *UnitOfWork) appendAudit(e rota.AuditEntry) {
	length := len(u.audit)
	u.onRollback(func() { u.audit = u.audit[:length] })
	setWithUndo(u, u.auditIDs, e.ID, true)
	u.audit = append(u.audit, e)
}

// activeReservation is the one that is active, nil if none is.
func (u *UnitOfWork) activeReservation() *rota.Reservation {
	if r := u.reservations.get(u.active); r != nil && r.Status == rota.ReservationActive {
		return r
	}
	for _, k := range u.reservations.touched {
		if k.is != nil && k.is.Status == rota.ReservationActive {
			return k.is
		}
	}
	return nil
}

// removeIntent forgets an intent, whether or not it stands.
func (u *UnitOfWork) removeIntent(i Intent) {
	if u.intents.rows[i] == nil {
		u.intents.put(i, &i)
	}
	u.intents.set(u, i, nil)
}

// addIntent notes down that a Sweep has something to do.
func (u *UnitOfWork) addIntent(kind, name string) {
	i := Intent{Kind: kind, Name: name}
	u.intents.set(u, i, &i)
}
