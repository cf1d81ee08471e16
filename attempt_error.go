package rota

import (
	"errors"
	"time"
)

// Permanent marks a handler's error as one that a retry cannot fix: the job fails
// without a retry. It returns nil for a nil error, so a handler can return its
// result directly. The error keeps its text and its causes.
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

// RetryAt marks a handler's error with the time of the retry, which replaces the
// backoff. Use it for a service that says when it is available again. It returns
// nil for a nil error. The error keeps its text and its causes.
func RetryAt(t time.Time, err error) error {
	if err == nil {
		return nil
	}
	return &retryError{t, err}
}

// RetryTime returns the time that RetryAt set on err or on one of its causes. If
// there are several, it returns the outermost.
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
