package engine

import (
	"context"
	"errors"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/payload"
)

// Noop does nothing, well.
type Noop struct{}

// JobType names the type.
func (Noop) JobType() string { return "noop" }

// Sleep does nothing for a while.
type Sleep struct {
	For payload.Duration `json:"for" jsonschema:"description=how long\\, such as 2s"`
}

// JobType names the type.
func (Sleep) JobType() string { return "sleep" }

// Fail fails.
type Fail struct {
	Message   string `json:"message,omitempty" jsonschema:"description=what the error says"`
	Permanent bool   `json:"permanent,omitempty" jsonschema:"description=whether it is of no use to try again"`
}

// JobType names the type.
func (Fail) JobType() string { return "fail" }

// Builtins registers the types that are always there: noop, sleep and fail.
func Builtins(reg *Registry) {
	// Noop takes whatever it is given: it is what people try a queue with.
	reg.Func(Noop{}.JobType(), rota.TypeSpec{}, func(context.Context, *rota.Job) error { return nil },
		WithDescription("does nothing, whatever the params"))
	Handle(reg, sleep, WithDescription("sleeps as long as it is told"))
	Handle(reg, fail, WithDescription("fails, to see what happens then"))
}

func sleep(ctx context.Context, p Sleep) error {
	Log(ctx).Info("sleep", "for", time.Duration(p.For).String())
	timer := time.NewTimer(time.Duration(p.For))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func fail(ctx context.Context, p Fail) error {
	err := errors.New("failed, as it was told to")
	if p.Message != "" {
		err = errors.New(p.Message)
	}
	Log(ctx).Error("fail", "message", err.Error(), "permanent", p.Permanent)
	if p.Permanent {
		return rota.Permanent(err)
	}
	return err
}
