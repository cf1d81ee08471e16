package rota

import (
	"errors"
	"time"
)

// Permanent marks an error of a handler that trying again cannot mend: the job
// fails without a retry. A nil error stays nil, so that a handler can end with
// it. The error keeps its text and its causes.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent reports whether err, or a cause of it, was marked by Permanent.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}

// RetryAt marks an error of a handler that is worth another try, not before the
// given time instead of after the backoff: for a service that says when it will
// be there again. A nil error stays nil. The error keeps its text and its causes.
func RetryAt(t time.Time, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{t, err}
}

// RetryTime is the time that RetryAt put on err or on a cause of it, the
// outermost if there are several.
func RetryTime(err error) (at time.Time, found bool) {
	var r *retryError
	if !errors.As(err, &r) {
		return time.Time{}, false
	}
	return r.at, true
}

type permanentError struct{ err error }

func (e *permanentError) Error() string { return e.err.Error() }

func (e *permanentError) Unwrap() error { return e.err }

type retryError struct {
	at  time.Time
	err error
}

func (e *retryError) Error() string { return e.err.Error() }

func (e *retryError) Unwrap() error { return e.err }
