//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/payload"
)

// Work is the params of a test job: what its handler does.
type Work struct {
	Behave string           `json:"behave,omitempty" jsonschema:"enum=succeed,enum=fail,enum=permanent,enum=sleep,enum=ignore_cancel,enum=panic"`
	For    payload.Duration `json:"for,omitempty"`
	Until  string           `json:"until,omitempty"` // file: the handler waits until it exists
	Log    bool             `json:"log,omitempty"`
	Mark   string           `json:"mark,omitempty"` // identifies the request that enqueued the job
}

// JobType names the type.
func (Work) JobType() string { return "ledger" }

// Types with the same handler. The tests pause one and limit the other.
const (
	pausableType = "pausable"
	limitedType  = "limited"
)

// register registers the types of the test. The backoff is short, because the test
// waits for retries.
func register(reg *engine.Registry, ledgerFile *ledger, kill *killer) {
	w := &worker{ledgerFile, kill}
	options := []engine.TypeOption{engine.WithRetries(3), engine.WithBackoff(50 * time.Millisecond)}
	engine.Handle(reg, w.work, options...)
	for _, name := range []string{pausableType, limitedType} {
		reg.Func(name, rota.TypeSpec{}, func(ctx context.Context, j *rota.Job) error {
			var p Work
			if err := json.Unmarshal(j.Params, &p); err != nil {
				return rota.Permanent(err)
			}
			return w.work(ctx, p)
		}, options...)
	}
}

// worker runs the jobs of the test.
type worker struct {
	ledger *ledger
	kill   *killer
}

func (w *worker) work(ctx context.Context, p Work) error {
	job := engine.Job(ctx)
	w.ledger.recordStart(job, "engine")
	if p.Log {
		engine.Log(ctx).Info("working", "attempt", job.Attempt)
	}
	if err := engine.Progress(ctx, map[string]int{"percent": 50}); err != nil {
		return err
	}
	w.kill.reached("handler", "mid")
	err := doWork(ctx, p)
	result := "ok"
	switch {
	case err != nil && ctx.Err() != nil:
		result = "stopped"
	case err != nil:
		result = "failed"
	}
	w.ledger.recordEnd(job, result)
	if p.Behave == "panic" {
		panic("as the params request")
	}
	return err
}

func doWork(ctx context.Context, p Work) error {
	if p.Behave == "ignore_cancel" {
		time.Sleep(time.Duration(p.For))
		return nil
	}
	if err := sleep(ctx, time.Duration(p.For)); err != nil {
		return err
	}
	for p.Until != "" && !fileExists(p.Until) {
		if err := sleep(ctx, 10*time.Millisecond); err != nil {
			return err
		}
	}
	switch p.Behave {
	case "fail", "panic":
		return errors.New("failed, as the params request")
	case "permanent":
		return rota.Permanent(errors.New("failed permanently, as the params request"))
	}
	return nil
}

func fileExists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
