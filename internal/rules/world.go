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
	undo        []undo
	step        int // counts commands, so that each can be taken back alone

	ids map[*rota.Enqueue][]rota.ID // of its jobs, derived once
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
		ids:     map[*rota.Enqueue][]rota.ID{},
	}
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

// insert adds a job that was not there.
func (w *World) insert(j *rota.Job) {
	r := w.jobs[j.ID]
	if r == nil {
		r = &jobRow{}
		w.jobs[j.ID] = r
	}
	w.remember(r)
	r.is, r.born, r.step = j, j, w.step
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
	end := w.tails[priority]
	if end.step != w.step {
		w.otherwise(func() { w.tails[priority] = end })
	}
	end = tail{position: end.position + rota.PositionGap, some: true, step: w.step}
	w.tails[priority] = end
	return end.position
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
	w.otherwise(func() { w.tails[priority] = end })
}

// jobIDs are the ids of a command's jobs.
func (w *World) jobIDs(c *rota.Enqueue) []rota.ID {
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
	w.otherwise(func() { r.is = before })
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
	w.otherwise(func() { w.audit = w.audit[:kept] })
	setWithUndo(w, w.audits, id, true)
	w.audit = append(w.audit, rota.AuditEntry{
		ID: id, At: w.Now, Actor: c.Head().Actor, Act: act, JobID: job, Detail: detail,
	})
}
