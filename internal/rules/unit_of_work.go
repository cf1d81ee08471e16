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

	jobs    map[rota.ID]*jobRow
	rows    []jobRow // to be used for them
	retries map[rota.ID]rota.ID
	chains  map[rota.ID]rota.ID
	plans   map[Plan]rota.ID
	tails   map[int]tail
	audits  map[rota.ID]bool
	pages   map[OrderPage][]rota.ID
	busy    map[rota.ID]bool // jobs that others have locked

	keys         shelf[Key, KeyRecord]
	types        shelf[string, rota.Type]
	templates    shelf[string, rota.Template]
	schedules    shelf[string, rota.Schedule]
	groups       shelf[rota.ID, rota.Group]
	reservations shelf[rota.ID, rota.Reservation]
	requests     shelf[RequestKey, Request]
	buckets      shelf[string, rota.Bucket]
	throttle     shelf[struct{}, rota.Throttle]
	webhooks     shelf[struct{}, rota.Webhooks]
	intents      shelf[Intent, Intent]
	dropped      shelf[string, Dropped]

	jobsOf     book[JobsOf, []rota.ID]
	planned    book[Planned, []rota.ID]
	members    book[Members, []rota.ID]
	blocked    book[Blocked, []rota.ID]
	behind     book[OverlapWaiting, []rota.ID]
	latest     book[Latest, rota.ID]
	dependents book[Dependents, []string]
	reach      book[Reach, bool]
	edges      map[string][]string // what schedules depend on, as Reach found it
	using      book[Using, []string]
	lanes      book[KeyQueue, KeyQueueState]
	open       book[Open, int]
	redriven   book[Redriven, rota.ID]
	attempts   book[Attempts, []rota.ID]
	waits      book[ExpiredWaits, []rota.ID]
	standingBy book[Intents, []Intent]
	bygone     book[ExpiredReservations, []rota.ID]
	lapsed     book[ExpiredRequests, []RequestKey]
	rest       book[DroppedJobs, []rota.ID]

	throttleAsked bool
	webhooksAsked bool
	activeAsked   bool
	activeBinds   bool    // that it is absent matters as well
	active        rota.ID // the active reservation as the store has it

	taken, heads, due, stale, left finding
	took                           bool      // the claim took jobs when it was sent before
	moreHeads                      bool      // there may be others behind the heads
	claims                         []rota.ID // commands whose earlier sendings were asked for
	joint                          bool      // a claim comes behind enqueues
	apart                          bool      // and turns out to have to wait for them

	touchedJobs []*jobRow
	born        map[string][]rota.ID  // jobs made here, by schedule
	joined      map[rota.ID][]rota.ID // jobs made here, by group
	keyed       map[string][]*jobRow  // touched jobs, by concurrency key
	stirred     []string              // concurrency keys to balance at the end of the command
	wake        bool                  // a claim that found nothing may find something
	audit       []rota.AuditEntry
	undo        []undo
	step        int // counts commands, so that each can be taken back alone

	ids map[*rota.Enqueue][]rota.ID // of its jobs, derived once

	more   func(*Need) error // loads what only a decision shows to be missing
	failed error             // what came of that
}

// tail is the end of a priority: the highest position of a QUEUED job there,
// if there is one.
type tail struct {
	position int64
	some     bool
	step     int // the command that moved it last
}

func (t tail) or(position int64) tail {
	if t.some {
		position = max(t.position, position)
	}
	return tail{position: position, some: true}
}

// finding is what one of the orders yielded, in its order.
type finding struct {
	asked bool
	ids   []rota.ID
}

type jobRow struct {
	was, is *rota.Job // as the store has it, as it is decided
	born    *rota.Job // as it was inserted, if this world made it
	step    int       // the command for which `is` is a copy of its own
	touched bool
	asked   bool // it was asked for whole
}

// theThrottle and theWebhooks are the keys of the one row of their kind.
var theThrottle, theWebhooks = struct{}{}, struct{}{}

// newUnitOfWork is an empty one, with room for so many jobs.
func newUnitOfWork(now time.Time, jobs int) *UnitOfWork {
	return &UnitOfWork{
		Now:     now,
		jobs:    make(map[rota.ID]*jobRow, jobs),
		rows:    make([]jobRow, 0, jobs),
		retries: map[rota.ID]rota.ID{},
		chains:  map[rota.ID]rota.ID{},
		plans:   map[Plan]rota.ID{},
		tails:   map[int]tail{},
		audits:  map[rota.ID]bool{},
		pages:   map[OrderPage][]rota.ID{},
		step:    1,
		ids:     map[*rota.Enqueue][]rota.ID{},
	}
}

// newRow is a row of which nothing is known. Rows are made many at a time.
func (w *UnitOfWork) newRow() *jobRow {
	if len(w.rows) == cap(w.rows) {
		w.rows = make([]jobRow, 0, max(8, 2*cap(w.rows)))
	}
	w.rows = w.rows[:len(w.rows)+1]
	return &w.rows[len(w.rows)-1]
}

// job returns a job to read, nil if it is absent.
func (w *UnitOfWork) job(id rota.ID) *rota.Job {
	if r := w.jobs[id]; r != nil {
		return r.is
	}
	return nil
}

// tailOfChain is the last job of the chain that a job stands in: the last that
// the store knows, and what was added to it here.
func (w *UnitOfWork) tailOfChain(id rota.ID) rota.ID {
	if last, known := w.chains[id]; known {
		id = last
	}
	for !w.retries[id].IsZero() {
		id = w.retries[id]
	}
	return id
}

// edit returns a job to change, with a run of its own to change.
func (w *UnitOfWork) edit(id rota.ID) *rota.Job {
	r := w.jobs[id]
	if r.step == w.step {
		return r.is
	}
	w.remember(r)
	copied := *r.is
	if copied.Run != nil {
		run := *copied.Run
		copied.Run = &run
	}
	r.is, r.step = &copied, w.step
	w.touch(r)
	return r.is
}

// depart returns a job to change that leaves the queue. One that was made in this
// very step is parted from how it entered: a job enters the store as QUEUED, and
// whoever made it may use what its params were read from for others.
func (w *UnitOfWork) depart(id rota.ID) *rota.Job {
	if r := w.jobs[id]; r.born != nil && r.is == r.born {
		w.remember(r)
		copied := *r.is
		copied.Params = bytes.Clone(copied.Params)
		r.is, r.step = &copied, w.step
	}
	return w.edit(id)
}

// insert adds a job that was not there.
func (w *UnitOfWork) insert(j *rota.Job) {
	r := w.jobs[j.ID]
	if r == nil {
		r = w.newRow()
		w.jobs[j.ID] = r
	}
	w.remember(r)
	r.is, r.born, r.step = j, j, w.step
	w.touch(r)
	w.bear(j)
	if !j.RetryOf.IsZero() {
		setWithUndo(w, w.retries, j.RetryOf, j.ID)
		return
	}
	if p, planned := PlanOf(j); planned {
		setWithUndo(w, w.plans, p, j.ID)
	}
}

func (w *UnitOfWork) touch(r *jobRow) {
	if r.touched {
		return
	}
	r.touched = true
	w.touchedJobs = append(w.touchedJobs, r)
	if key := r.is.ConcurrencyKey; key != "" {
		if w.keyed == nil {
			w.keyed = map[string][]*jobRow{}
		}
		w.keyed[key] = append(w.keyed[key], r)
	}
}

// bear remembers a job that was made here under its schedule and its group. One
// that is taken back is absent from the world, and so passed over where this is
// read.
func (w *UnitOfWork) bear(j *rota.Job) {
	if j.Schedule != "" {
		if w.born == nil {
			w.born = map[string][]rota.ID{}
		}
		w.born[j.Schedule] = append(w.born[j.Schedule], j.ID)
	}
	if !j.GroupID.IsZero() {
		if w.joined == nil {
			w.joined = map[rota.ID][]rota.ID{}
		}
		w.joined[j.GroupID] = append(w.joined[j.GroupID], j.ID)
	}
}

// remove takes a job out of the store, with its run.
func (w *UnitOfWork) remove(id rota.ID) {
	r := w.jobs[id]
	w.remember(r)
	w.touch(r)
	r.is = nil
}

// append is the position at the end of a priority. An empty one begins at the
// first gap.
func (w *UnitOfWork) append(priority int) int64 {
	end, known := w.tails[priority]
	if !known {
		end = w.tailAnew(priority)
	}
	if end.step != w.step {
		w.otherwise(func() { w.tails[priority] = end })
	}
	longer := tail{position: end.position + rota.PositionGap, some: true, step: w.step}
	w.tails[priority] = longer
	return longer.position
}

// tailAnew looks for the end of a priority whose tail has left it in this very
// step: the one thing that a decision can miss.
func (w *UnitOfWork) tailAnew(priority int) tail {
	n := &Need{unit: w}
	n.tail(priority)
	if w.more != nil && w.failed == nil {
		w.failed = w.more(n)
	}
	return w.tails[priority]
}

// leave forgets the tail of a priority if the job that leaves it may be the
// tail, so that whoever appends next asks for it again.
func (w *UnitOfWork) leave(j *rota.Job) {
	end, known := w.tails[j.Priority]
	if !known || j.Position < end.position {
		return
	}
	priority := j.Priority
	delete(w.tails, priority)
	w.otherwise(func() { w.tails[priority] = end })
}

// jobIDs are the ids of a command's jobs.
func (w *UnitOfWork) jobIDs(c *rota.Enqueue) []rota.ID {
	ids, known := w.ids[c]
	if !known {
		ids = make([]rota.ID, len(c.Jobs))
		for i := range ids {
			ids[i] = c.JobID(i)
		}
		w.ids[c] = ids
	}
	return ids
}

// standing is the end of what this world itself has put at a priority, for a
// tail that is asked for again.
func (w *UnitOfWork) standing(priority int) (end tail) {
	for _, r := range w.touchedJobs {
		if r.is != nil && standsAt(r.is, priority) {
			end = end.or(r.is.Position)
		}
	}
	return end
}

func standsAt(j *rota.Job, priority int) bool {
	return j.Status == rota.StatusQueued && j.Priority == priority
}

// wrote says whether a command has written about a job before.
func (w *UnitOfWork) wrote(c rota.Command, job rota.ID) bool {
	return w.audits[rota.AuditID(c.Head().ID, c.Verb(), job)]
}

func (w *UnitOfWork) log(c rota.Command, act string, job rota.ID, detail string) {
	w.write(rota.AuditEntry{
		ID: rota.AuditID(c.Head().ID, c.Verb(), job), At: w.Now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}

// wroteOf says whether a command has written about something with a name before.
func (w *UnitOfWork) wroteOf(c rota.Command, subject string) bool {
	return w.audits[rota.AuditNameID(c.Head().ID, c.Verb(), subject)]
}

// logOf writes about something that has a name.
func (w *UnitOfWork) logOf(c rota.Command, act, subject, detail string) {
	w.write(rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), subject), At: w.Now, Actor: c.Head().Actor, Act: act,
		Subject: subject, Detail: detail,
	})
}

// noteOf writes what a command did to something besides what it is about. A
// command may do several things to one.
func (w *UnitOfWork) noteOf(c rota.Command, act, subject, detail string) {
	w.write(rota.AuditEntry{
		ID: rota.AuditNameID(c.Head().ID, c.Verb(), act+" "+subject), At: w.Now, Actor: c.Head().Actor, Act: act,
		Subject: subject, Detail: detail,
	})
}

func (w *UnitOfWork) write(e rota.AuditEntry) {
	kept := len(w.audit)
	w.otherwise(func() { w.audit = w.audit[:kept] })
	setWithUndo(w, w.audits, e.ID, true)
	w.audit = append(w.audit, e)
}

// activeReservation is the one that is active, nil if none is.
func (w *UnitOfWork) activeReservation() *rota.Reservation {
	if r := w.reservations.get(w.active); r != nil && r.Status == rota.ReservationActive {
		return r
	}
	for _, k := range w.reservations.touched {
		if k.is != nil && k.is.Status == rota.ReservationActive {
			return k.is
		}
	}
	return nil
}

// drop forgets an intent, whether or not it stands.
func (w *UnitOfWork) drop(i Intent) {
	if w.intents.rows[i] == nil {
		w.intents.put(i, &i)
	}
	w.intents.set(w, i, nil)
}

// intend notes down that a Sweep has something to do.
func (w *UnitOfWork) intend(kind, name string) {
	i := Intent{Kind: kind, Name: name}
	w.intents.set(w, i, &i)
}
