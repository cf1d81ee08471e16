package engine

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/rotajobs/rota"
)

// Recovery turns a panic into an error with the code "panic", and writes its stack to
// the log of the run. The engine already wraps every handler in it and recovers
// panics of middleware itself. Add it inside a middleware that should see the panics
// of another middleware as errors.
func Recovery() Middleware {
	return func(next Handler) Handler {
		return func(ctx context.Context, job *rota.Job) (err error) {
			defer func() {
				if p := recover(); p != nil {
					err = logPanic(p, Output(ctx))
				}
			}()
			return next(ctx, job)
		}
	}
}

// panicError is a panic of a handler as an error.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(value any) *panicError { return &panicError{value, debug.Stack()} }

// logPanic turns a panic into an error and logs it. It must be called where the panic
// is recovered, while the stack is intact.
func logPanic(value any, log io.Writer) error {
	err := newPanicError(value)
	_, _ = fmt.Fprintf(log, "%s\n", err.Error())
	return err
}

func (e *panicError) Error() string { return e.brief() + "\n\n" + string(e.stack) }

func (e *panicError) brief() string { return fmt.Sprintf("panic: %v", e.value) }

// Code is the error code of the run.
func (e *panicError) Code() string { return codePanic }
