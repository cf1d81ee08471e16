package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

// Noop is the payload of the type noop, which does nothing.
type Noop struct{}

// JobType returns "noop".
func (Noop) JobType() string { return "noop" }

// Sleep is the payload of the type sleep, which waits.
type Sleep struct {
	For payload.Duration `json:"for" jsonschema:"description=how long\\, such as 2s"`
}

// JobType returns "sleep".
func (Sleep) JobType() string { return "sleep" }

// Fail is the payload of the type fail, which fails.
type Fail struct {
	Message   string `json:"message,omitempty" jsonschema:"description=error text of the run"`
	Permanent bool   `json:"permanent,omitempty" jsonschema:"description=whether the failure is permanent\\, so that no retry follows"`
}

// JobType returns "fail".
func (Fail) JobType() string { return "fail" }

// Builtins registers the types that every process has: noop, sleep and fail.
func Builtins(reg *Registry) {
	// Noop accepts any params: people use it to try a queue.
	reg.Func(Noop{}.JobType(), rota.TypeSpec{}, func(context.Context, *rota.Job) error { return nil },
		WithDescription("does nothing and accepts any params"))
	Handle(reg, sleep, WithDescription("sleeps for the given time"))
	Handle(reg, fail, WithDescription("fails, to show how failures are handled"))
}

func sleep(ctx context.Context, p Sleep) error {
	Log(ctx).Info("sleep", "for", time.Duration(p.For).String())
	if !pause(ctx, time.Duration(p.For)) {
		return context.Cause(ctx)
	}
	return nil
}

func fail(ctx context.Context, p Fail) error {
	err := errors.New("the job failed as requested")
	if p.Message != "" {
		err = errors.New(p.Message)
	}
	Log(ctx).Error("fail", "message", err.Error(), "permanent", p.Permanent)
	if p.Permanent {
		return rota.Permanent(err)
	}
	return err
}
