package engine

import (
	"errors"
	"fmt"
	"log/slog"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/mask"
)

// masked returns an error that shows no secret that the run has got.
func (t *task) masked(err error) (shown error) {
	if err == nil || t == nil || t.secrets.Empty() {
		return err
	}
	defer func() {
		if p := recover(); p != nil { // a method of the handler's error panics, as those of a nil pointer do
			shown = hide(newPanicError(p), &t.secrets)
		}
	}()
	if !shows(err, &t.secrets) {
		return err
	}
	return hide(err, &t.secrets)
}

// shows reports whether an error, or one that it wraps, shows a secret to those who log or report it.
func shows(err error, secrets *mask.Set) bool {
	texts := []string{fmt.Sprintf("%s\n%+v", err.Error(), err)}
	if coded, is := err.(interface{ Code() string }); is {
		texts = append(texts, coded.Code())
	}
	if valuer, is := err.(slog.LogValuer); is {
		texts = append(texts, slog.AnyValue(valuer).Resolve().String())
	}
	for _, text := range texts {
		if secrets.String(text) != text {
			return true
		}
	}
	switch wraps := err.(type) {
	case interface{ Unwrap() error }:
		return wraps.Unwrap() != nil && shows(wraps.Unwrap(), secrets)
	case interface{ Unwrap() []error }:
		for _, one := range wraps.Unwrap() {
			if one != nil && shows(one, secrets) {
				return true
			}
		}
	}
	return false
}

// hide returns an error with the text and the code of another one without the secrets. It keeps what decides about a retry.
func hide(err error, secrets *mask.Set) error {
	hidden := &maskedError{text: secrets.String(err.Error()), original: err}
	var coded interface{ Code() string }
	if errors.As(err, &coded) {
		hidden.code = secrets.String(coded.Code())
	}
	var p *panicError
	if errors.As(err, &p) {
		hidden.panicked = &panicError{secrets.String(fmt.Sprint(p.value)), []byte(secrets.String(string(p.stack)))}
	}
	shown := error(hidden)
	if at, is := rota.RetryTime(err); is {
		shown = rota.RetryAt(at, shown)
	}
	if rota.IsPermanent(err) {
		shown = rota.Permanent(shown)
	}
	return shown
}

// maskedError stands in place of an error that shows a secret. Neither Unwrap nor As gives the original, whose text and
// methods have the secret.
type maskedError struct {
	text     string
	code     string
	panicked *panicError // nil: the original is no panic
	original error
}

func (e *maskedError) Error() string { return e.text }

// Code is the error code of the run.
func (e *maskedError) Code() string { return e.code }

// Is compares the causes of the original, such as context.Canceled.
func (e *maskedError) Is(target error) bool { return errors.Is(e.original, target) }

// As gives a panic without the secrets.
func (e *maskedError) As(target any) bool {
	p, is := target.(**panicError)
	if is && e.panicked != nil {
		*p = e.panicked
		return true
	}
	return false
}
