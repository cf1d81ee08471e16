package model

import (
	"maps"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// state is everything the model holds.
type state struct {
	jobs  []*rota.Job // in the order they were made; each has its run inside
	keys  map[keyName]keyRecord
	audit []rota.AuditEntry

	types        []*rota.Type
	templates    []*rota.Template
	schedules    []*rota.Schedule
	throttle     rota.Throttle // zero: none was ever set
	webhooks     rota.Webhooks // likewise
	buckets      map[string]rota.Bucket
	groups       []*rota.Group // their Tally stays zero: it is derived when they are shown
	reservations []*rota.Reservation
	requests     map[requestKey]request
	intents      map[intent]bool
	names        map[rota.ID]string // of all definitions there ever were
	dropped      map[string]drop    // by schedule
}

// keyName names a unique key: it belongs to a type.
type keyName struct{ typ, key string }

// keyRecord says which execution holds a unique key, and until when.
type keyRecord struct {
	execution rota.ID
	freeAt    time.Time // zero: never by time
	ended     bool
}

// intent is something that was decided for more rows than a command may touch.
// A Sweep carries it out.
type intent struct {
	kind string // group, key, template or drop
	name string
}

func newState() *state {
	return &state{
		keys: map[keyName]keyRecord{}, buckets: map[string]rota.Bucket{}, requests: map[requestKey]request{},
		intents: map[intent]bool{}, names: map[rota.ID]string{}, dropped: map[string]drop{},
	}
}

// clone copies what the law writes in place. Documents, lists and
// specifications are always replaced whole, so two copies may share them.
func (s *state) clone() *state {
	return &state{
		jobs: rowCopies(s.jobs, rowCopy), keys: maps.Clone(s.keys), audit: slices.Clone(s.audit),
		types: rowCopies(s.types, copyOf), templates: rowCopies(s.templates, copyOf),
		schedules: rowCopies(s.schedules, copyOf), throttle: s.throttle, webhooks: s.webhooks, buckets: maps.Clone(s.buckets),
		groups: rowCopies(s.groups, copyOf), reservations: rowCopies(s.reservations, copyOf),
		requests: maps.Clone(s.requests), intents: maps.Clone(s.intents), names: maps.Clone(s.names), dropped: maps.Clone(s.dropped),
	}
}

func rowCopies[T any](rows []*T, one func(*T) *T) []*T {
	copies := make([]*T, len(rows))
	for i, r := range rows {
		copies[i] = one(r)
	}
	return copies
}

func rowCopy(j *rota.Job) *rota.Job {
	c := *j
	c.Run = copyOf(j.Run)
	return &c
}

func copyOf[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// pickOne is the first row that a condition holds for, nil if there is none.
func pickOne[T any](rows []*T, cond func(*T) bool) *T {
	if at := slices.IndexFunc(rows, cond); at >= 0 {
		return rows[at]
	}
	return nil
}

func (s *state) find(id rota.ID) *rota.Job {
	return pickOne(s.jobs, func(j *rota.Job) bool { return j.ID == id })
}

// retryOf is the job that retries another, nil if there is none.
func (s *state) retryOf(id rota.ID) *rota.Job {
	return pickOne(s.jobs, func(j *rota.Job) bool { return j.RetryOf == id })
}

func (s *state) typ(name string) *rota.Type {
	return pickOne(s.types, func(t *rota.Type) bool { return t.Name == name })
}

func (s *state) template(name string) *rota.Template {
	return pickOne(s.templates, func(t *rota.Template) bool { return t.Name == name })
}

func (s *state) schedule(name string) *rota.Schedule {
	return pickOne(s.schedules, func(d *rota.Schedule) bool { return d.Name == name })
}

func (s *state) group(id rota.ID) *rota.Group {
	return pickOne(s.groups, func(g *rota.Group) bool { return g.ID == id })
}

func (s *state) reservation(id rota.ID) *rota.Reservation {
	return pickOne(s.reservations, func(r *rota.Reservation) bool { return r.ID == id })
}

// active is the one reservation that is ACTIVE, nil if none is.
func (s *state) active() *rota.Reservation {
	return pickOne(s.reservations, func(r *rota.Reservation) bool { return r.Status == rota.ReservationActive })
}

// pick returns the jobs that a condition holds for.
func (s *state) pick(cond func(*rota.Job) bool) []*rota.Job {
	var picked []*rota.Job
	for _, j := range s.jobs {
		if cond(j) {
			picked = append(picked, j)
		}
	}
	return picked
}

// tail is the last attempt of an execution, nil if there is none.
func (s *state) tail(execution rota.ID) *rota.Job {
	var last *rota.Job
	for _, j := range s.jobs {
		if j.ExecutionID == execution && (last == nil || j.Attempt > last.Attempt) {
			last = j
		}
	}
	return last
}

// open counts the jobs that hold a slot and that a condition holds for.
func (s *state) open(cond func(*rota.Job) bool) int {
	return len(s.pick(func(j *rota.Job) bool { return j.Status == rota.StatusRunning && live(j) && cond(j) }))
}

// live says that a job has not ended, or not been settled yet.
func live(j *rota.Job) bool { return j.Sequel == "" }

// leased says that a job runs, and that somebody holds its lease.
func leased(j *rota.Job) bool {
	return j.Status == rota.StatusRunning && j.Run != nil && j.Run.Open()
}

// scopeOf is what a job is for; empty is global.
func scopeOf(j *rota.Job) rota.Scope { return rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID} }

func byID(a, b *rota.Job) int { return a.ID.Compare(b.ID) }

// page cuts a list to a limit, 0 meaning SweepMax, and says if there was more.
func page[T any](list []T, limit int) ([]T, bool) {
	if limit == 0 {
		limit = rota.SweepMax
	}
	if len(list) <= limit {
		return list, false
	}
	return list[:limit], true
}
