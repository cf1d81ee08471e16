package engine

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"

	"github.com/rotajobs/rota"
)

// Recovery turns a panic into an error with the code "panic", and writes its
// stack to the log of the run. The engine has it next to every handler, and sees
// to the panics of middleware by itself; one more is for a middleware whose
// panics those around it are to see as errors, too.
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

// panicError is what a handler panicked with.
type panicError struct {
	value any
	stack []byte
}

func newPanicError(value any) *panicError { return &panicError{value, debug.Stack()} }

// logPanic writes a panic down where it was recovered: the stack is still there.
func logPanic(value any, log io.Writer) error {
	err := newPanicError(value)
	_, _ = fmt.Fprintf(log, "%s\n", err.Error())
	return err
}

func (e *panicError) Error() string { return e.brief() + "\n\n" + string(e.stack) }

func (e *panicError) brief() string { return fmt.Sprintf("panic: %v", e.value) }

// Code is the error code of the run.
func (e *panicError) Code() string { return codePanic }
