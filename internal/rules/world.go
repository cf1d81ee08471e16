package rules

import (
	"time"

	"github.com/rotajobs/rota"
)

// World is the part of a store that one step has loaded, overlaid with what
// it has decided so far. A row that is known and nil is absent.
type World struct {
	Now time.Time

	jobs    map[rota.ID]*jobRow
	retries map[rota.ID]rota.ID
	chains  map[rota.ID]rota.ID
	keys    map[Key]*keyRow
	plans   map[Plan]rota.ID
	tails   map[int]tail
	audits  map[rota.ID]bool
	pages   map[OrderPage][]rota.ID

	taken, heads, due, stale, left finding
	claims                         []rota.ID // commands whose earlier sendings were asked for

	touchedJobs []*jobRow
	touchedKeys []*keyRow
	audit       []rota.AuditEntry
	undo        []func()
	step        int // counts commands, so that each can be taken back alone
}

// tail is the end of a priority: the highest position of a QUEUED job there,
// if there is one.
type tail struct {
	position int64
	some     bool
}

func (t tail) or(position int64) tail {
	if t.some {
		position = max(t.position, position)
	}
	return tail{position, true}
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

type keyRow struct {
	key     Key
	was, is *KeyRecord
	touched bool
}

func newWorld(now time.Time) *World {
	return &World{
		Now:     now,
		jobs:    map[rota.ID]*jobRow{},
		retries: map[rota.ID]rota.ID{},
		chains:  map[rota.ID]rota.ID{},
		keys:    map[Key]*keyRow{},
		plans:   map[Plan]rota.ID{},
		tails:   map[int]tail{},
		audits:  map[rota.ID]bool{},
		pages:   map[OrderPage][]rota.ID{},
		step:    1,
	}
}

// PutJob brings in a job as the store has it, with its run. It gives way to
// what was decided about the job, and to the job with its params.
func (w *World) PutJob(j *rota.Job) {
	r := w.jobs[j.ID]
	if r == nil {
		w.jobs[j.ID] = &jobRow{was: j, is: j}
		return
	}
	if !r.touched && (r.is == nil || r.is.Params == nil) {
		r.was, r.is = j, j
	}
}

// PutRetry says which job retries another.
func (w *World) PutRetry(of, id rota.ID) { w.retries[of] = id }

// PutChain says which job is the last of a chain.
func (w *World) PutChain(id, last rota.ID) { w.chains[id] = last }

// PutKey brings in a unique key's record.
func (w *World) PutKey(k KeyRecord) {
	if r := w.keys[k.Key]; r != nil && !r.touched {
		r.was, r.is = &k, &k
	}
}

// PutPlan says which first attempt holds a plan key.
func (w *World) PutPlan(p Plan, id rota.ID) { w.plans[p] = id }

// PutAudit says that an audit entry stands.
func (w *World) PutAudit(id rota.ID) { w.audits[id] = true }

// PutTail offers the last QUEUED job of a priority. It reports false if that
// job has left its place in this world: the store then offers the one before.
func (w *World) PutTail(priority int, id rota.ID, position int64) bool {
	if r := w.jobs[id]; r != nil && r.is != nil && !standsAt(r.is, priority) {
		return false
	}
	w.tails[priority] = w.tails[priority].or(position)
	return true
}

// PutTaken adds a job that an earlier sending of the claim took.
func (w *World) PutTaken(j *rota.Job) { w.find(&w.taken, j) }

// PutHead adds a job of the claim order.
func (w *World) PutHead(j *rota.Job) { w.find(&w.heads, j) }

// PutDue adds a job that is due.
func (w *World) PutDue(j *rota.Job) { w.find(&w.due, j) }

// PutStale adds a job whose lease is stale.
func (w *World) PutStale(j *rota.Job) { w.find(&w.stale, j) }

// PutLeft adds a job that nobody settled.
func (w *World) PutLeft(j *rota.Job) { w.find(&w.left, j) }

// PutPage adds a job to a page of the order.
func (w *World) PutPage(p OrderPage, j *rota.Job) {
	w.PutJob(j)
	w.pages[p] = append(w.pages[p], j.ID)
}

func (w *World) find(f *finding, j *rota.Job) {
	w.PutJob(j)
	f.ids = append(f.ids, j.ID)
}

// job returns a job to read, nil if it is absent.
func (w *World) job(id rota.ID) *rota.Job {
	if r := w.jobs[id]; r != nil {
		return r.is
	}
	return nil
}

// tailOfChain is the last job of the chain that a job stands in: the last that
// the store knows, and what was added to it here.
func (w *World) tailOfChain(id rota.ID) rota.ID {
	if last, known := w.chains[id]; known {
		id = last
	}
	for !w.retries[id].IsZero() {
		id = w.retries[id]
	}
	return id
}

// edit returns a job to change, with a run of its own to change.
func (w *World) edit(id rota.ID) *rota.Job {
	r := w.jobs[id]
	if r.step == w.step {
		return r.is
	}
	before, stepBefore := r.is, r.step
	w.undo = append(w.undo, func() { r.is, r.step = before, stepBefore })
	copied := *r.is
	if copied.Run != nil {
		run := *copied.Run
		copied.Run = &run
	}
	r.is, r.step = &copied, w.step
	w.touch(r)
	return r.is
}

// insert adds a job that was not there.
func (w *World) insert(j *rota.Job) {
	r := w.jobs[j.ID]
	if r == nil {
		r = &jobRow{}
		w.jobs[j.ID] = r
	}
	r.is, r.born, r.step = j, j, w.step
	w.undo = append(w.undo, func() { r.is, r.born, r.step = nil, nil, 0 })
	w.touch(r)
	if !j.RetryOf.IsZero() {
		setWithUndo(w, w.retries, j.RetryOf, j.ID)
		return
	}
	if p, planned := PlanOf(j); planned {
		setWithUndo(w, w.plans, p, j.ID)
	}
}

func (w *World) touch(r *jobRow) {
	if !r.touched {
		r.touched = true
		w.touchedJobs = append(w.touchedJobs, r)
	}
}

// append is the position at the end of a priority. An empty one begins at the
// first gap.
func (w *World) append(priority int) int64 {
	position := w.tails[priority].position + rota.PositionGap
	setWithUndo(w, w.tails, priority, tail{position, true})
	return position
}

// leave forgets the tail of a priority if the job that leaves it may be the
// tail, so that whoever appends next asks for it again.
func (w *World) leave(j *rota.Job) {
	end, known := w.tails[j.Priority]
	if !known || j.Position < end.position {
		return
	}
	priority := j.Priority
	delete(w.tails, priority)
	w.undo = append(w.undo, func() { w.tails[priority] = end })
}

// standing is the end of what this world itself has put at a priority, for a
// tail that is asked for again.
func (w *World) standing(priority int) (end tail) {
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

func (w *World) key(k Key) *KeyRecord {
	if r := w.keys[k]; r != nil {
		return r.is
	}
	return nil
}

// setKey holds a unique key, or frees it with a nil record.
func (w *World) setKey(k Key, record *KeyRecord) {
	r := w.keys[k]
	before := r.is
	w.undo = append(w.undo, func() { r.is = before })
	r.key, r.is = k, record
	if !r.touched {
		r.touched = true
		w.touchedKeys = append(w.touchedKeys, r)
	}
}

// wrote says whether a command has written about a job before.
func (w *World) wrote(c rota.Command, job rota.ID) bool {
	return w.audits[rota.AuditID(c.Head().ID, c.Verb(), job)]
}

func (w *World) log(c rota.Command, act string, job rota.ID, detail string) {
	kept, id := len(w.audit), rota.AuditID(c.Head().ID, c.Verb(), job)
	w.undo = append(w.undo, func() { w.audit = w.audit[:kept] })
	setWithUndo(w, w.audits, id, true)
	w.audit = append(w.audit, rota.AuditEntry{
		ID: id, At: w.Now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}

// mark begins a command; back takes back what was decided since.
func (w *World) mark() int {
	w.step++
	return len(w.undo)
}

func (w *World) back(mark int) {
	for i := len(w.undo) - 1; i >= mark; i-- {
		w.undo[i]()
	}
	w.undo = w.undo[:mark]
}

func setWithUndo[K comparable, V any](w *World, m map[K]V, key K, value V) {
	before, known := m[key]
	w.undo = append(w.undo, func() {
		if known {
			m[key] = before
		} else {
			delete(m, key)
		}
	})
	m[key] = value
}
