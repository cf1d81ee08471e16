package rota

import "time"

// Policy is how retries and timeouts work. It is set when a job is enqueued and copied
// to its retries.
type Policy struct {
	MaxAttempts int           `wire:"1"` // retries + 1
	Backoff     time.Duration `wire:"2"` // delay of the first retry; doubles with each retry
	BackoffMax  time.Duration `wire:"3"` // longest delay; 0: none
	Jitter      float64       `wire:"4"` // fraction of the delay, 0–1, by which a hash of the retry's id shortens it
	Timeout     time.Duration `wire:"5"` // of one run; 0: none; enforced by the runner, not by the store: see CodeTimeout
}

// PolicyPatch is the part of a policy that a request, a schedule, a template or a type
// sets. For a nil field, the next of these in this order decides, and finally the
// defaults.
type PolicyPatch struct {
	MaxRetries *int           `wire:"1" json:"max_retries,omitempty"`
	Backoff    *time.Duration `wire:"2" json:"backoff,omitempty"`
	BackoffMax *time.Duration `wire:"3" json:"backoff_max,omitempty"`
	Jitter     *float64       `wire:"4" json:"jitter,omitempty"`
	Timeout    *time.Duration `wire:"5" json:"timeout,omitempty"`
}

// Or fills the nil fields of p from another patch.
func (p PolicyPatch) Or(next PolicyPatch) PolicyPatch {
	return PolicyPatch{
		MaxRetries: firstOf(p.MaxRetries, next.MaxRetries),
		Backoff:    firstOf(p.Backoff, next.Backoff),
		BackoffMax: firstOf(p.BackoffMax, next.BackoffMax),
		Jitter:     firstOf(p.Jitter, next.Jitter),
		Timeout:    firstOf(p.Timeout, next.Timeout),
	}
}

// Policy fills the nil fields of p with the defaults.
func (p PolicyPatch) Policy() Policy {
	return Policy{
		MaxAttempts: valueOf(p.MaxRetries, DefaultMaxRetries) + 1,
		Backoff:     valueOf(p.Backoff, DefaultBackoff).Truncate(time.Microsecond),
		BackoffMax:  valueOf(p.BackoffMax, 0).Truncate(time.Microsecond),
		Jitter:      valueOf(p.Jitter, 0),
		Timeout:     valueOf(p.Timeout, DefaultTimeout).Truncate(time.Microsecond),
	}
}

func valueOf[T any](given *T, otherwise T) T {
	if given == nil {
		return otherwise
	}
	return *given
}

func firstOf[T any](a, b *T) *T {
	if a != nil {
		return a
	}
	return b
}

func (p *PolicyPatch) validate() *Error {
	return first(
		checkIntPtr("max_retries", p.MaxRetries, 0, MaxRetriesMax),
		checkDurationPtr("backoff", p.Backoff, 0, DelayMax),
		checkDurationPtr("backoff_max", p.BackoffMax, 0, DelayMax),
		checkFraction("jitter", p.Jitter),
		checkDurationPtr("timeout", p.Timeout, 0, DelayMax),
	)
}
