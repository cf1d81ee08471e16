package rules

import (
	"bytes"
	"time"

	"github.com/rotajobs/rota"
)

// UnitOfWork holds the rows that one transaction has loaded, overlaid with what
// it has decided so far. A row that is known and nil is absent.
type UnitOfWork struct {
	Now time.Time

	jobs           map[rota.ID]*jobRow
	slab           []jobRow // unused job rows, allocated many at a time
	retries        map[rota.ID]rota.ID
	chains         map[rota.ID]rota.ID
	plans          map[Plan]rota.ID
	tails          map[int]tail
	auditIDs       map[rota.ID]bool
	pages          map[OrderPage][]rota.ID
	lockedByOthers map[rota.ID]bool // jobs that other transactions have locked

	keys         rowSet[UniqueKey, UniqueKeyRecord]
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
	edges               map[string][]string // dependencies of schedules, as Reach loaded them
	using               queryCache[Using, []string]
	keyQueues           queryCache[KeyQueue, KeyQueueState]
	open                queryCache[OpenCount, int]
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
	lockActive      bool    // lock the active reservation even if there is none
	active          rota.ID // active reservation in the store

	claimedBefore, heads, due, stale, unsettled orderResult
	claimRepeated                               bool      // an earlier sending of the claim took jobs
	moreHeads                                   bool      // ready jobs may follow the heads that were found
	claims                                      []rota.ID // claim commands whose earlier sendings were queried
	afterEnqueues                               bool      // the last command is a claim after enqueues
	claimAlone                                  bool      // that claim has to be applied by itself

	touchedJobs       []*jobRow
	createdBySchedule map[string][]rota.ID  // jobs created in this transaction, by schedule
	createdByGroup    map[rota.ID][]rota.ID // jobs created in this transaction, by group
	touchedByKey      map[string][]*jobRow  // touched jobs, by concurrency key
	keysToBalance     []string              // concurrency keys to balance at the end of the command
	wake              bool                  // a claim that found nothing may find a job now
	audit             []rota.AuditEntry
	undo              []undo
	commandSeq        int // number of the current command, so that each can be rolled back alone

	enqueueIDs map[*rota.Enqueue][]rota.ID // job ids of each command, derived once

	loadMore func(*Need) error // loads rows that only a decision shows to be missing
	loadErr  error             // error of loadMore
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
	queried bool
	ids     []rota.ID
}

type jobRow struct {
	was, is    *rota.Job // as stored, as decided
	inserted   *rota.Job // as it was inserted, if this transaction created it
	commandSeq int       // command that made its own copy of is
	touched    bool
	queried    bool // the full job was queried
}

// throttleKey and webhooksKey are the keys of row sets that have a single row.
var throttleKey, webhooksKey = struct{}{}, struct{}{}

// newUnitOfWork returns an empty unit of work with capacity for so many jobs.
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

// newRow returns a row of which nothing is known. Rows are allocated many at a
// time.
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

// tailOfChain returns the last job of the chain that a job belongs to,
// including jobs added in this transaction.
func (u *UnitOfWork) tailOfChain(id rota.ID) rota.ID {
	if last, known := u.chains[id]; known {
		id = last
	}
	for !u.retries[id].IsZero() {
		id = u.retries[id]
	}
	return id
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

// indexCreated indexes a job created in this transaction by its schedule and
// its group. A job that is rolled back stays in the index; readers skip it
// because the row is absent.
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

// reloadTail loads the tail of a priority whose last job left it in the same
// transaction.
func (u *UnitOfWork) reloadTail(priority int) tail {
	n := &Need{unit: u}
	n.tail(priority)
	if u.loadMore != nil && u.loadErr == nil {
		u.loadErr = u.loadMore(n)
	}
	return u.tails[priority]
}

// forgetTailOf forgets the tail of a job's priority if the job leaves the queue
// and may be that tail. The next append then loads the tail again.
func (u *UnitOfWork) forgetTailOf(j *rota.Job) {
	end, known := u.tails[j.Priority]
	if !known || j.Position < end.position {
		return
	}
	priority := j.Priority
	delete(u.tails, priority)
	u.onRollback(func() { u.tails[priority] = end })
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

// ownTail returns the tail of a priority among the jobs this transaction has
// touched. It is the start of a tail that is loaded again.
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

// audited reports whether an earlier sending of the command wrote an audit
// entry about the job.
func (u *UnitOfWork) audited(c rota.Command, job rota.ID) bool {
	return u.auditIDs[rota.AuditID(c.Head().ID, c.Verb(), job)]
}

// auditJob writes an audit entry about a job.
func (u *UnitOfWork) auditJob(c rota.Command, act string, job rota.ID, detail string) {
	u.appendAudit(rota.AuditEntry{
		ID: rota.AuditID(c.Head().ID, c.Verb(), job), At: u.Now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}

// auditedSubject reports whether an earlier sending of the command wrote an
// audit entry about a named subject.
func (u *UnitOfWork) auditedSubject(c rota.Command, subject string) bool {
	return u.auditIDs[rota.AuditNameID(c.Head().ID, c.Verb(), subject)]
}

// auditSubject writes an audit entry about a named subject.
func (u *UnitOfWork) auditSubject(c rota.Command, act, subject, detail string) {
	u.appendAudit(rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), subject), At: u.Now, Actor: c.Head().Actor, Act: act,
		Subject: subject, Detail: detail,
	})
}

// auditSideEffect writes an audit entry about a subject that the command
// changes besides its own. The id of the entry contains the act, since one
// command may change a subject in several ways.
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

// activeReservation returns the active reservation, nil if there is none.
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

// removeIntent deletes an intent record, whether or not it exists.
func (u *UnitOfWork) removeIntent(i Intent) {
	if u.intents.rows[i] == nil {
		u.intents.put(i, &i)
	}
	u.intents.set(u, i, nil)
}

// addIntent records work for a later Sweep.
func (u *UnitOfWork) addIntent(kind, name string) {
	i := Intent{Kind: kind, Name: name}
	u.intents.set(u, i, &i)
}
