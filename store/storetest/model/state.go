package model

import (
	"maps"
	"slices"
	"time"

	"github.com/rotajobs/rota"
)

// state is everything the model holds.
type state struct {
	jobs  []*rota.Job // in the order of creation; each contains its run
	keys  map[keyName]keyRecord
	audit []rota.AuditEntry

	types        []*rota.Type
	templates    []*rota.Template
	schedules    []*rota.Schedule
	throttle     rota.Throttle // zero if none was put
	webhooks     rota.Webhooks // zero if none were put
	buckets      map[string]rota.Bucket
	groups       []*rota.Group // their Tally stays zero: copyGroup derives it
	reservations []*rota.Reservation
	requests     map[requestKey]request
	intents      map[intent]bool
	names        map[rota.ID]string // of all definitions that ever existed
	dropped      map[string]drop    // by schedule
	principals   []*rota.Principal
	tokens       []*rota.AccessToken
	access       rota.AccessState // zero if no principal or token was ever put
	secrets      []*rota.Secret
	secretKey    string // fingerprint of the primary key; empty if no secret was ever put
}

// keyName is a unique key. Each type has its own keys.
type keyName struct{ typ, key string }

// keyRecord is the execution that holds a unique key, and until when.
type keyRecord struct {
	execution rota.ID
	freeAt    time.Time // zero: not by time
	ended     bool
}

// intent is a decision about more rows than one command may change. A Sweep executes it.
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

// clone copies what the rules change in place. Documents, lists and specifications are always
// replaced as a whole, so copies may share them.
func (s *state) clone() *state {
	return &state{
		jobs: rowCopies(s.jobs, rowCopy), keys: maps.Clone(s.keys), audit: slices.Clone(s.audit),
		types: rowCopies(s.types, copyOf), templates: rowCopies(s.templates, copyOf),
		schedules: rowCopies(s.schedules, copyOf), throttle: s.throttle, webhooks: s.webhooks, buckets: maps.Clone(s.buckets),
		groups: rowCopies(s.groups, copyOf), reservations: rowCopies(s.reservations, copyOf),
		requests: maps.Clone(s.requests), intents: maps.Clone(s.intents), names: maps.Clone(s.names), dropped: maps.Clone(s.dropped),
		principals: rowCopies(s.principals, copyOf), tokens: rowCopies(s.tokens, copyOf), access: s.access,
		secrets: rowCopies(s.secrets, copyOf), secretKey: s.secretKey,
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

// pickOne returns the first matching row, nil if there is none.
func pickOne[T any](rows []*T, cond func(*T) bool) *T {
	if at := slices.IndexFunc(rows, cond); at >= 0 {
		return rows[at]
	}
	return nil
}

func (s *state) find(id rota.ID) *rota.Job {
	return pickOne(s.jobs, func(j *rota.Job) bool { return j.ID == id })
}

// retryOf returns the retry of a job, nil if there is none.
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

// active returns the ACTIVE reservation, nil if there is none.
func (s *state) active() *rota.Reservation {
	return pickOne(s.reservations, func(r *rota.Reservation) bool { return r.Status == rota.ReservationActive })
}

// pick returns the matching jobs.
func (s *state) pick(cond func(*rota.Job) bool) []*rota.Job {
	var picked []*rota.Job
	for _, j := range s.jobs {
		if cond(j) {
			picked = append(picked, j)
		}
	}
	return picked
}

// tail returns the last attempt of an execution, nil if there is none.
func (s *state) tail(execution rota.ID) *rota.Job {
	var last *rota.Job
	for _, j := range s.jobs {
		if j.ExecutionID == execution && (last == nil || j.Attempt > last.Attempt) {
			last = j
		}
	}
	return last
}

// open counts the matching jobs that hold a slot.
func (s *state) open(cond func(*rota.Job) bool) int {
	return len(s.pick(func(j *rota.Job) bool { return j.Status == rota.StatusRunning && live(j) && cond(j) }))
}

// live reports whether a job has not ended or has not been settled.
func live(j *rota.Job) bool { return j.Sequel == "" }

// leased reports whether a job runs under a lease.
func leased(j *rota.Job) bool {
	return j.Status == rota.StatusRunning && j.Run != nil && j.Run.Open()
}

// scopeOf returns the scope of a job; empty is global.
func scopeOf(j *rota.Job) rota.Scope { return rota.Scope{Kind: j.ScopeKind, ID: j.ScopeID} }

func byID(a, b *rota.Job) int { return a.ID.Compare(b.ID) }

// page cuts a list to a limit, 0 meaning SweepMax, and reports whether there was more.
func page[T any](list []T, limit int) ([]T, bool) {
	if limit == 0 {
		limit = rota.SweepMax
	}
	if len(list) <= limit {
		return list, false
	}
	return list[:limit], true
}
