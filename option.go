package rota

import (
	"fmt"
	"time"
)

// Option says more about a job or a schedule than its payload does. Each is
// given at most once; one that does not fit the call is Invalid.
type Option interface{ set(*request) }

// call is the kind of call that an option is given to.
type call string

const (
	callEnqueue  call = "Enqueue"
	callSchedule call = "Schedule"
)

// request gathers what the options of one call say.
type request struct {
	call  call
	job   NewJob       // of Enqueue; of Schedule the part that is the template's
	spec  ScheduleSpec // of Schedule
	given map[string]bool
	err   *Error
}

// take reads the options and returns what is wrong with the first bad one.
func (r *request) take(options []Option) error {
	r.given = map[string]bool{}
	for i, o := range options {
		if o == nil {
			return Invalidf("options", "option %d is nil", i+1)
		}
		if o.set(r); r.err != nil {
			return r.err
		}
	}
	return nil
}

// option is one that is made by a function of its name.
type option struct {
	name  string // of the function
	field string // what it sets, by the name it has elsewhere
	fits  []call // none: all
	give  func(*request)
	check *Error // what is wrong with its value
}

func (o option) set(r *request) {
	switch {
	case len(o.fits) > 0 && o.fits[0] != r.call:
		r.err = Invalidf(o.field, "the option %s is for %s; it does not fit %s", o.name, o.fits[0], r.call)
	case r.given[o.name]:
		r.err = Invalidf(o.field, "the option %s is given twice", o.name)
	case o.check != nil:
		r.err = o.check
	default:
		r.given[o.name] = true
		o.give(r)
	}
}

var (
	forEnqueue  = []call{callEnqueue}
	forSchedule = []call{callSchedule}
)

// At says when: a job is not run before then, a schedule fires once, then.
func At(t time.Time) Option {
	return option{name: "At", field: "at", check: checkGiven("at", t), give: func(r *request) {
		if r.call == callSchedule {
			r.spec.At = t
			return
		}
		r.job.RunAt = t
	}}
}

// After puts a job off, counted by the clock of the store.
func After(d time.Duration) Option {
	return option{name: "After", field: "delay", fits: forEnqueue, give: func(r *request) { r.job.Delay = d }}
}

// Unique gives a job a key. A second job of its type and key is answered with
// the first, as long as that is kept, or for as long as UniqueFor says.
func Unique(key string) Option {
	var empty *Error
	if key == "" {
		empty = Invalidf("unique_key", "is empty; leave the option Unique out for a job without one")
	}
	return option{name: "Unique", field: "unique_key", fits: forEnqueue, check: empty, give: func(r *request) { r.job.UniqueKey = key }}
}

// UniqueFor says how long after it was enqueued a job holds its unique key.
func UniqueFor(d time.Duration) Option {
	return option{name: "UniqueFor", field: "unique_for", fits: forEnqueue, give: func(r *request) { r.job.UniqueFor = d }}
}

// Priority puts a job before others: a higher number is taken first. It is 0
// unless it is given.
func Priority(n int) Option {
	return option{name: "Priority", field: "priority", give: func(r *request) { r.job.Priority = &n }}
}

// Retries says how often a job that failed is tried again.
func Retries(n int) Option {
	return option{name: "Retries", field: "max_retries", give: func(r *request) { r.job.MaxRetries = &n }}
}

// Backoff is how long the first retry waits; each further one waits twice as
// long.
func Backoff(d time.Duration) Option {
	return option{name: "Backoff", field: "backoff", give: func(r *request) { r.job.Backoff = &d }}
}

// BackoffMax is the longest that a retry waits.
func BackoffMax(d time.Duration) Option {
	return option{name: "BackoffMax", field: "backoff_max", give: func(r *request) { r.job.BackoffMax = &d }}
}

// Jitter is the fraction of a retry's wait, 0 to 1, that is taken off by chance,
// so that what failed together is not tried again together.
func Jitter(fraction float64) Option {
	return option{name: "Jitter", field: "jitter", give: func(r *request) { r.job.Jitter = &fraction }}
}

// Timeout is how long one run may take; 0 is as long as it likes.
func Timeout(d time.Duration) Option {
	return option{name: "Timeout", field: "timeout", give: func(r *request) { r.job.Timeout = &d }}
}

// ForScope says what a job is for, such as ("user", "7").
func ForScope(kind, id string) Option {
	return option{name: "ForScope", field: "scope_kind", fits: forEnqueue, give: func(r *request) {
		r.job.ScopeKind, r.job.ScopeID = kind, id
	}}
}

// Planned is the time that a job stands for. A second job of its name, scope and
// plan time is answered with the first.
func Planned(t time.Time) Option {
	return option{name: "Planned", field: "plan_time", fits: forEnqueue, check: checkGiven("plan_time", t), give: func(r *request) {
		r.job.PlanTime = t
	}}
}

// Key is the concurrency key of a job: how many of one key run at once can be
// limited.
func Key(name string) Option {
	return option{name: "Key", field: "concurrency_key", give: func(r *request) { r.job.ConcurrencyKey = &name }}
}

// Name is the name that an execution goes by instead of its type.
func Name(name string) Option {
	return option{name: "Name", field: "name", fits: forEnqueue, give: func(r *request) { r.job.Name = name }}
}

// checkGiven refuses the zero time, which would say nothing and often is a
// variable that was never set.
func checkGiven(field string, t time.Time) *Error {
	if t.IsZero() {
		return &Error{Code: Invalid, Field: field, Reason: "is the zero time", Hint: fmt.Sprintf("leave the option out if there is no %s", field)}
	}
	return nil
}
