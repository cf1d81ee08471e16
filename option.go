package rota

import (
	"fmt"
	"slices"
	"time"
)

// Option configures a job or a schedule. Each option may be given once. An option that
// does not fit the call gives an Invalid error.
type Option interface{ set(*request) }

// call is the method that an option is passed to.
type call string

const (
	callEnqueue  call = "Enqueue"
	callSchedule call = "Schedule"
	callEdit     call = "Edit"
	callRetry    call = "Retry"
	callRunAgain call = "RunAgain"
)

// request collects the options of one call.
type request struct {
	call  call
	job   NewJob       // for Enqueue; for Schedule the fields of the template; for others the changes
	spec  ScheduleSpec // for Schedule
	given map[string]bool
	err   *Error
}

// take applies the options and returns the error of the first wrong one.
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

// option is an Option that a function of the same name returns.
type option struct {
	name  string // name of the function
	field string // field that it sets, as errors name it
	fits  []call // calls that accept it; empty: Enqueue and Schedule
	give  func(*request)
	check *Error // error of its value; nil: none
}

func (o option) set(r *request) {
	fits := o.fits
	if len(fits) == 0 {
		fits = forBoth
	}
	switch {
	case !slices.Contains(fits, r.call):
		r.err = Invalidf(o.field, "the option %s is for %s, not for %s", o.name, callNames(fits), r.call)
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
	forBoth     = []call{callEnqueue, callSchedule}
)

// callNames lists calls in a text.
func callNames(calls []call) string {
	text := string(calls[0])
	for i, c := range calls[1:] {
		separator := ", "
		if i == len(calls)-2 {
			separator = " and "
		}
		text += separator + string(c)
	}
	return text
}

// At sets a time: a job does not run before it; a schedule fires once at that time.
func At(t time.Time) Option {
	return option{name: "At", field: "at", fits: []call{callEnqueue, callSchedule, callEdit}, check: checkGiven("at", t), give: func(r *request) {
		if r.call == callSchedule {
			r.spec.At = t
			return
		}
		r.job.RunAt = t
	}}
}

// After delays a job, measured by the store's clock.
func After(d time.Duration) Option {
	return option{name: "After", field: "delay", fits: []call{callEnqueue, callEdit}, give: func(r *request) { r.job.Delay = d }}
}

// Unique sets the unique key of a job. A second job of the same type and key is not
// created; the call returns the first job. The key is held as long as the first job is
// kept, or for the time that UniqueFor sets.
func Unique(key string) Option {
	var empty *Error
	if key == "" {
		empty = Invalidf("unique_key", "is empty; omit the option Unique for a job without a key")
	}
	return option{name: "Unique", field: "unique_key", fits: forEnqueue, check: empty, give: func(r *request) { r.job.UniqueKey = key }}
}

// UniqueFor sets how long a job holds its unique key after it was enqueued.
func UniqueFor(d time.Duration) Option {
	return option{name: "UniqueFor", field: "unique_for", fits: forEnqueue, give: func(r *request) { r.job.UniqueFor = d }}
}

// Priority sets the priority of a job. Jobs with a higher number run first. The default
// is 0.
func Priority(n int) Option {
	return option{name: "Priority", field: "priority", fits: []call{callEnqueue, callSchedule, callEdit}, give: func(r *request) { r.job.Priority = &n }}
}

// SetParams changes params of a job that exists: each key of fields replaces that key
// of the old params, and the other keys stay. Fields is a struct or a map that encodes
// as a JSON object.
func SetParams(fields any) Option {
	params, err := encodeObject(fields)
	return option{name: "SetParams", field: "params", fits: []call{callEdit, callRetry, callRunAgain}, check: err, give: func(r *request) {
		r.job.Params = params
	}}
}

// Retries sets how often a failed job is retried.
func Retries(n int) Option {
	return option{name: "Retries", field: "max_retries", give: func(r *request) { r.job.MaxRetries = &n }}
}

// Backoff sets the delay of the first retry. It doubles with each retry.
func Backoff(d time.Duration) Option {
	return option{name: "Backoff", field: "backoff", give: func(r *request) { r.job.Backoff = &d }}
}

// BackoffMax caps the delay of a retry.
func BackoffMax(d time.Duration) Option {
	return option{name: "BackoffMax", field: "backoff_max", give: func(r *request) { r.job.BackoffMax = &d }}
}

// Jitter sets the fraction of a retry's delay, 0 to 1, by which the delay is randomly
// shortened, so that jobs that failed together are not retried together.
func Jitter(fraction float64) Option {
	return option{name: "Jitter", field: "jitter", give: func(r *request) { r.job.Jitter = &fraction }}
}

// Timeout sets how long one run may take; 0 means no limit.
func Timeout(d time.Duration) Option {
	return option{name: "Timeout", field: "timeout", give: func(r *request) { r.job.Timeout = &d }}
}

// ForScope sets what a job is for, such as ("user", "7").
func ForScope(kind, id string) Option {
	return option{name: "ForScope", field: "scope_kind", fits: forEnqueue, give: func(r *request) {
		r.job.ScopeKind, r.job.ScopeID = kind, id
	}}
}

// Planned sets the plan time of a job. A second job with the same name, scope and plan
// time is not created; the call returns the first job.
func Planned(t time.Time) Option {
	return option{name: "Planned", field: "plan_time", fits: forEnqueue, check: checkGiven("plan_time", t), give: func(r *request) {
		r.job.PlanTime = t
	}}
}

// Key sets the concurrency key of a job. Jobs with the same key share a concurrency
// limit.
func Key(name string) Option {
	return option{name: "Key", field: "concurrency_key", give: func(r *request) { r.job.ConcurrencyKey = &name }}
}

// Name sets the name of an execution; the default is its type.
func Name(name string) Option {
	return option{name: "Name", field: "name", fits: forEnqueue, give: func(r *request) { r.job.Name = name }}
}

// checkGiven refuses the zero time, which is often a variable that was never set.
func checkGiven(field string, t time.Time) *Error {
	if t.IsZero() {
		return &Error{Code: Invalid, Field: field, Reason: "is the zero time", Hint: fmt.Sprintf("omit the option if there is no %s", field)}
	}
	return nil
}
