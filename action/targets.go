package action

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// runner runs the jobs of the types sql and call on their targets.
type runner struct {
	config  Config
	targets map[string]Target
	reg     *engine.Registry // handlers that a call may name
	cleaner effectCleaner
}

func newRunner(reg *engine.Registry, config Config) *runner {
	targets := map[string]Target{MainTarget: {URL: MainURL}}
	maps.Copy(targets, config.Targets)
	return &runner{config: config, targets: targets, reg: reg}
}

// run executes a work on a target and reports the result to the engine.
func (r *runner) run(ctx context.Context, name, runAs string, w *work) error {
	job := engine.Job(ctx)
	if job == nil {
		return permanentFailure(codeParams, "statements run only as a job, and this is not a job")
	}
	target, known := r.targets[name]
	if !known {
		return permanentFailure(codeTarget, "there is no target %.64q; there are %s: name one of them, or add it to targets in the configuration",
			name, strings.Join(slices.Sorted(maps.Keys(r.targets)), ", "))
	}
	auth, err := r.authorize(ctx, job, name, target, runAs)
	if err != nil {
		return err
	}
	if target.Timeout > 0 {
		var done context.CancelFunc
		ctx, done = context.WithTimeoutCause(ctx, target.Timeout,
			failed(rota.CodeTimeout, "target %s: it took more than the %v that its timeout allows", name, target.Timeout))
		defer done()
	}
	w.execution, w.job, w.role = job.ExecutionID, cmp.Or(job.Name, job.Type), auth.role
	w.deadline = deadline(ctx, job.Policy.Timeout)
	w.cleanUp = r.cleaner.due(name+" "+auth.url, time.Now())
	if auth, err = auth.fillSecrets(ctx); err != nil {
		return err
	}
	begun := time.Now()
	d, err := r.open(auth).do(ctx, w)
	if err != nil {
		return r.failed(ctx, auth, begun, err)
	}
	return r.done(ctx, auth, begun, d)
}

// deadline is the earliest deadline of the run. The engine cancels the context of the
// handler at the job's timeout, but sets no deadline on it.
func deadline(ctx context.Context, timeout time.Duration) time.Time {
	at, _ := ctx.Deadline()
	if timeout > 0 {
		if own := time.Now().Add(timeout); at.IsZero() || own.Before(at) {
			return own
		}
	}
	return at
}

func (r *runner) open(auth login) database {
	switch dialectOf(auth.url) {
	case dialectPostgres:
		return &postgresDB{login: auth}
	case dialectMaria:
		return &mariaDB{login: auth}
	}
	return &sqliteDB{login: auth, data: r.config.Data, store: r.config.Store}
}

func (r *runner) done(ctx context.Context, auth login, begun time.Time, d *workResult) error {
	engine.RowsAffected(ctx, d.affected)
	if !d.earlier.IsZero() {
		engine.Log(ctx).Info("sql: an earlier attempt has committed the work; nothing was executed", "target", auth.target,
			"done_at", d.earlier.UTC().Format(time.RFC3339Nano), "rows_affected", d.affected)
		return nil
	}
	engine.Log(ctx).Info("sql", "target", auth.target, "statements", d.statements, "rows_affected", d.affected,
		"duration", time.Since(begun).Round(time.Millisecond).String())
	if d.rows == nil {
		return nil
	}
	// The work is committed, so an error in storing its rows must not fail the run.
	if err := engine.Result(ctx, d.rows); err != nil {
		engine.Log(ctx).Warn("sql: the rows are not stored as the result", "error", err.Error())
	}
	return nil
}

// failed returns the error of a run: the cause of its cancellation, if it was cancelled.
func (r *runner) failed(ctx context.Context, auth login, begun time.Time, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	} else {
		err = runError(auth, err)
	}
	engine.Log(ctx).Error("sql", "target", auth.target, "duration", time.Since(begun).Round(time.Millisecond).String(), "error", err.Error())
	return err
}

// secondsUntil is the time until a deadline, at least one millisecond.
func secondsUntil(until time.Time) float64 { return max(time.Until(until).Seconds(), 0.001) }
