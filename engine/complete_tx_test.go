package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/buffertx"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// newTxHarness opens a store whose transactions the test controls.
func newTxHarness(t *testing.T) (*harness, *buffertx.Store) {
	t.Helper()
	h := newHarness(t)
	return h, h.withTx()
}

func (h *harness) withTx() *buffertx.Store {
	return buffertx.New(h.T, h.store, func(path string) (rota.Store, error) {
		return sqlite.OpenWith(path, sqlite.Config{AllowMoved: true, Clock: h.clock.now})
	})
}

// awaitIdle waits until no run is left in an engine.
func (r *runningEngine) awaitIdle() {
	r.h.Helper()
	r.h.eventually("no run is left", func() bool { return r.Snapshot().Running == 0 })
}

func isAlready(err error) bool {
	return rota.CodeOf(err) == rota.Invalid && strings.Contains(fmt.Sprint(err), "already")
}

var errLate = errors.New("something went wrong")

func TestTransactionDecidesOutcome(t *testing.T) {
	tomorrow := time.Now().Add(24 * time.Hour).UTC().Truncate(time.Microsecond)
	commit := func(tx *buffertx.Tx) error { return tx.Commit() }
	rollBack := func(tx *buffertx.Tx) error { tx.Rollback(); return nil }
	const uncommitted = "engine.CompleteTx was not committed; commit it before the handler returns"
	cases := map[string]struct {
		end     func(*buffertx.Tx) error
		then    func() error
		sequel  rota.Sequel // none: the run is COMPLETED
		text    string      // part of the error
		retryAt time.Time
	}{
		"committed":                            {end: commit},
		"committed, then an error":             {end: commit, then: func() error { return errLate }},
		"committed, then a permanent error":    {end: commit, then: func() error { return rota.Permanent(errLate) }},
		"committed, then a panic":              {end: commit, then: func() error { panic("boom") }},
		"rolled back":                          {end: rollBack, sequel: rota.SequelRetry, text: uncommitted},
		"rolled back, then an error":           {end: rollBack, then: func() error { return errLate }, sequel: rota.SequelRetry, text: uncommitted + "; error of the handler: something went wrong"},
		"rolled back, then a permanent error":  {end: rollBack, then: func() error { return rota.Permanent(errLate) }, sequel: rota.SequelDead, text: "something"},
		"rolled back, then a retry time":       {end: rollBack, then: func() error { return rota.RetryAt(tomorrow, errLate) }, sequel: rota.SequelRetry, text: "something", retryAt: tomorrow},
		"rolled back, then an error with code": {end: rollBack, then: func() error { return &coded{"E7"} }, sequel: rota.SequelRetry, text: "coded E7"},
		"rolled back, then a panic":            {end: rollBack, then: func() error { panic("boom") }, sequel: rota.SequelRetry, text: "panic: boom"},
	}
	h, store := newTxHarness(t)
	r := h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		c, tx := cases[job.UniqueKey], store.Begin()
		if err := engine.CompleteTx(ctx, tx, "done"); err != nil {
			return err
		}
		if err := c.end(tx); err != nil || c.then == nil {
			return err
		}
		return c.then()
	}), engine.Config{Workers: 2})
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			id := h.add(rota.NewJob{UniqueKey: name, Backoff: new(time.Hour)})[0]
			job := h.awaitEnded(id)
			run := job.Run
			if c.sequel == "" {
				if run.Outcome != rota.OutcomeCompleted || string(run.Result) != `"done"` || run.Error != "" || job.State() != rota.StateCompleted {
					t.Errorf("%s, result %s, error %q", run.Outcome, run.Result, run.Error)
				}
				return
			}
			if run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeUncommitted || !strings.Contains(run.Error, c.text) || run.Result != nil {
				t.Errorf("%s, code %q, result %s, error %q", run.Outcome, run.ErrorCode, run.Result, run.Error)
			}
			if job.Sequel != c.sequel {
				t.Fatalf("%s, want %s", job.Sequel, c.sequel)
			}
			if !c.retryAt.IsZero() && !h.awaitRetry(id).RunAt.Equal(c.retryAt) {
				t.Errorf("retried at %s", h.awaitRetry(id).RunAt)
			}
		})
	}
	r.awaitIdle()
	if got := r.Snapshot(); got.LeaseLost != 0 || h.log.count("level=ERROR") != 0 {
		t.Errorf("%+v, and %d errors in the log", got, h.log.count("level=ERROR"))
	}
	if n := h.log.count("level=WARN", "stays COMPLETED"); n != 3 {
		t.Errorf("%d errors after a commit are logged, want 3", n)
	}
}

func TestCompletionOfSavepointThatIsRolledBackFails(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		tx := store.Begin()
		back := tx.Savepoint()
		if err := engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
		back()
		if job.Attempt > 1 { // this time once more, in the same transaction
			if err := engine.CompleteTx(ctx, tx, job.Attempt); err != nil {
				return err
			}
		}
		return tx.Commit()
	}), engine.Config{})
	id := h.addOne()
	if run := h.awaitEnded(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeUncommitted {
		t.Errorf("%s, code %q", run.Outcome, run.ErrorCode)
	}
	if run := h.awaitEnded(h.awaitRetry(id).ID).Run; run.Outcome != rota.OutcomeCompleted || string(run.Result) != "2" {
		t.Errorf("the second attempt: %s, %q", run.Outcome, run.Error)
	}
}

// What the handler writes with the transaction is not there before the commit.
func TestRunIsOpenUntilCommit(t *testing.T) {
	h, store := newTxHarness(t)
	client := rota.New(store)
	var next *rota.Job
	h.startOn(store, registry(func(ctx context.Context, job *rota.Job) (err error) {
		tx := store.Begin()
		if next, err = client.EnqueueTx(ctx, tx, letter{To: "ada"}, rota.After(time.Hour)); err != nil {
			return err
		}
		if err := engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
		if _, err := client.Job(ctx, next.ID); !h.job(job.ID).Run.Open() || rota.CodeOf(err) != rota.NotFound {
			t.Error("the transaction has an effect before its commit")
		}
		return tx.Commit()
	}), engine.Config{})
	if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
	if got := h.job(next.ID); got.State() != rota.StateScheduled {
		t.Errorf("the next job is %s", got.State())
	}
}

func TestCompletionStoresWhatHandlerReported(t *testing.T) {
	h, store := newTxHarness(t)
	logs := newMemoryLogs()
	h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		value, err := engine.Secret(ctx, "KEY")
		engine.RowsAffected(ctx, 7)
		engine.ExitCode(ctx, 0)
		err = errors.Join(err, engine.Artifact(ctx, "/tmp/report"), engine.Progress(ctx, "half of "+value), engine.Result(ctx, "replaced"))
		tx := store.Begin()
		if err = errors.Join(err, engine.CompleteTx(ctx, tx, map[string]string{"login": value})); err != nil {
			return err
		}
		engine.Log(ctx).Info("the transaction is complete") // the first line
		return tx.Commit()
	}), engine.Config{Logs: logs, Secrets: fixedSecrets{}})
	id := h.addOne()
	run := h.awaitEnded(id).Run
	if run.Outcome != rota.OutcomeCompleted || strings.Contains(string(run.Result)+string(run.Progress), secretValue) || !strings.Contains(string(run.Result), "login") ||
		!strings.Contains(string(run.Progress), "half of") || *run.RowsAffected != 7 || *run.ExitCode != 0 || !slices.Equal(run.Artifacts, []string{"/tmp/report"}) || run.LogPath == "" {
		t.Errorf("%+v", run)
	}
	h.eventually("the log is closed", func() bool { _, closes := logs.text(id); return closes == 1 })
	if text, _ := logs.text(id); !strings.Contains(text, "the transaction is complete") {
		t.Errorf("the log: %q", text)
	}
}

func TestCompletionWithoutResultKeepsReportedOne(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		if job.UniqueKey == "" {
			if err := engine.Result(ctx, 7); err != nil {
				return err
			}
		}
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
		return tx.Commit()
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; string(run.Result) != "7" {
		t.Errorf("%s", run.Result)
	}
	if run := h.awaitEnded(h.add(rota.NewJob{UniqueKey: "none"})[0]).Run; run.Result != nil || run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%s", run.Result)
	}
}

func TestProgressOfRolledBackCompletionIsWritten(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		err := errors.Join(engine.Progress(ctx, 50), engine.CompleteTx(ctx, tx, nil))
		tx.Rollback()
		return err
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; string(run.Progress) != "50" || run.Outcome != rota.OutcomeFailed {
		t.Errorf("%s, progress %s", run.Outcome, run.Progress)
	}
}

// On PostgreSQL a write of progress would wait for the row that the transaction holds.
func TestOpenTransactionWritesNoProgress(t *testing.T) {
	h, store := newTxHarness(t)
	beats := make(chan struct{}, 1_000)
	var open atomic.Bool
	watched := wrap.Flaky(store, wrap.Fault{Before: func(b rota.Batch) error {
		for _, command := range b.Commands {
			switch c := command.(type) {
			case *rota.Note:
				if len(b.Commands) == 1 && open.Load() {
					t.Errorf("the heartbeat writes %s", c.Items[0].Progress)
				}
			case *rota.Extend:
				if c.Items[0].Progress != nil && open.Load() {
					t.Errorf("the heartbeat extends with %s", c.Items[0].Progress)
				}
				beats <- struct{}{}
			}
		}
		return nil
	}})
	h.startOn(watched, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		if err := errors.Join(engine.CompleteTx(ctx, tx, nil), engine.Progress(ctx, 50)); err != nil {
			return err
		}
		open.Store(true)
		for range 3 {
			<-beats
		}
		open.Store(false)
		return tx.Commit()
	}), engine.Config{Lease: rota.LeaseMin})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%s: %s", run.Outcome, run.Error)
	}
}

func TestRunIsCompletedOnce(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		first, second := store.Begin(), store.Begin()
		if err := engine.CompleteTx(ctx, first, 1); err != nil {
			return err
		}
		for what, tx := range map[string]*buffertx.Tx{"the same transaction": first, "another one": second} {
			if err := engine.CompleteTx(ctx, tx, 2); !isAlready(err) {
				t.Errorf("%s: %v", what, err)
			}
		}
		first.Rollback()
		second.Rollback()
		third := store.Begin()
		if err := engine.CompleteTx(ctx, third, 3); err != nil {
			return err
		}
		if err := third.Commit(); err != nil {
			return err
		}
		if err := engine.CompleteTx(ctx, store.Begin(), 4); !isAlready(err) {
			t.Errorf("after the commit: %v", err)
		}
		return nil
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeCompleted || string(run.Result) != "3" {
		t.Errorf("%s, result %s, %s", run.Outcome, run.Result, run.Error)
	}
}

// The store finds out late that the first transaction was rolled back.
func TestSecondTransactionWaitsForEndOfFirst(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		first, second := store.Begin(), store.Begin()
		if err := engine.CompleteTx(ctx, first, 1); err != nil {
			return err
		}
		time.AfterFunc(time.Millisecond, first.Rollback)
		if err := engine.CompleteTx(ctx, second, 2); err != nil {
			return err
		}
		return second.Commit()
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeCompleted || string(run.Result) != "2" {
		t.Errorf("%s, result %s, %s", run.Outcome, run.Result, run.Error)
	}
}

// The store does not know yet that the first transaction was committed.
func TestSecondTransactionAfterCommitIsRefused(t *testing.T) {
	h, store := newTxHarness(t)
	r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		first, second := store.Begin(), store.Begin()
		if err := engine.CompleteTx(ctx, first, 1); err != nil {
			return err
		}
		tell, err := first.CommitUntold()
		if err != nil {
			return err
		}
		time.AfterFunc(time.Millisecond, tell)
		if err := engine.CompleteTx(ctx, second, 2); !isAlready(err) {
			t.Errorf("%v", err)
		}
		second.Rollback()
		return nil
	}), engine.Config{})
	run := h.awaitEnded(h.addOne()).Run
	r.awaitIdle() // the handler is still running
	if run.Outcome != rota.OutcomeCompleted || string(run.Result) != "1" {
		t.Errorf("%s, result %s, %s", run.Outcome, run.Result, run.Error)
	}
}

// unchangedTx is a store that reports at once that a batch has changed nothing.
type unchangedTx struct{ *buffertx.Store }

func (u unchangedTx) ApplyTx(ctx context.Context, tx any, batch rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	results, pending, err := u.Store.ApplyTx(ctx, tx, batch)
	if pending != nil {
		pending.End(true)
	}
	return results, pending, err
}

// The run was completed before, by a call whose answer was lost.
func TestCompletionThatChangesNothingIsRefused(t *testing.T) {
	h, store := newTxHarness(t)
	h.startOn(unchangedTx{store}, registry(func(ctx context.Context, _ *rota.Job) error {
		if err := engine.CompleteTx(ctx, store.Begin(), 1); !isAlready(err) {
			t.Errorf("%v", err)
		}
		return nil
	}), engine.Config{})
	h.awaitEnded(h.addOne())
}

// A refused call leaves a rollback of an earlier transaction in effect.
func TestRefusedCompletionAfterRollbackIsNotCompleted(t *testing.T) {
	h, store := newTxHarness(t)
	busy := &busyTx{Store: store}
	h.startOn(busy, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, 1); err != nil {
			return err
		}
		tx.Rollback()
		busy.refuses = true
		if err := engine.CompleteTx(ctx, store.Begin(), 2); rota.CodeOf(err) != rota.Busy {
			t.Errorf("%v, want Busy", err)
		}
		return nil
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeUncommitted {
		t.Errorf("%s, code %q", run.Outcome, run.ErrorCode)
	}
}

func TestCompletionIsRepeatedAfterBusy(t *testing.T) {
	h, store := newTxHarness(t)
	busy := &busyTx{Store: store, refuses: true}
	h.startOn(busy, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, 1); rota.CodeOf(err) != rota.Busy {
			t.Errorf("%v, want Busy", err)
		}
		busy.refuses = false
		if err := engine.CompleteTx(ctx, tx, 1); err != nil {
			return err
		}
		return tx.Commit()
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeCompleted {
		t.Errorf("%s, %s", run.Outcome, run.Error)
	}
}

// busyTx is a store in which another transaction holds a lock.
type busyTx struct {
	*buffertx.Store
	refuses bool // set by the goroutine of the handler
}

func (b *busyTx) ApplyTx(ctx context.Context, tx any, batch rota.Batch) ([]rota.Result, *rota.PendingTx, error) {
	if b.refuses {
		return nil, nil, rota.Errorf(rota.Busy, "apply", "a lock is held")
	}
	return b.Store.ApplyTx(ctx, tx, batch)
}

// A run whose CompleteTx was refused ends with what its handler returns.
func TestCompletionIsRefusedByName(t *testing.T) {
	if err := engine.CompleteTx(t.Context(), 7, nil); rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "no run in this context") {
		t.Errorf("outside of a handler: %v", err)
	}
	h, store := newTxHarness(t)
	wants := map[string]struct {
		store  rota.Store
		tx     any
		result any
		field  string
		text   string
	}{
		"no transaction":                      {store, nil, nil, "tx", "is nil"},
		"not a transaction":                   {store, 7, nil, "tx", "int"},
		"a result that is no JSON":            {store, store.Begin(), func() {}, "result", "JSON"},
		"a store without such a transaction":  {struct{ rota.Store }{h.store}, 7, nil, "tx", "cannot be used"},
		"a result that is longer than stored": {store, store.Begin(), strings.Repeat("x", rota.ResultMax), "result", "at most"},
	}
	for name, want := range wants {
		t.Run(name, func(t *testing.T) {
			got := make(chan error, 1)
			r := h.startOn(want.store, registry(func(ctx context.Context, _ *rota.Job) error {
				got <- engine.CompleteTx(ctx, want.tx, want.result)
				return nil
			}), engine.Config{})
			job := h.awaitEnded(h.addOne())
			var e *rota.Error
			if err := <-got; !errors.As(err, &e) || e.Code != rota.Invalid || e.Field != want.field || !strings.Contains(err.Error(), want.text) {
				t.Errorf("%v, want Invalid of %s with %q", err, want.field, want.text)
			}
			if job.State() != rota.StateCompleted {
				t.Errorf("the run is %s", job.State())
			}
			_ = r.shutdown()
		})
	}
}

func TestRemoteWorkerCannotCompleteInTransaction(t *testing.T) {
	h := newHarness(t)
	got := make(chan error, 1)
	h.startOn(h.newRemoteStore(), registry(func(ctx context.Context, _ *rota.Job) error {
		got <- engine.CompleteTx(ctx, 7, nil)
		return nil
	}), engine.Config{Remote: true})
	h.awaitEnded(h.addOne())
	if err := <-got; rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), "worker of a server") {
		t.Errorf("%v", err)
	}
}

func TestCompletionWithLostLeaseIsRefused(t *testing.T) {
	h, store := newTxHarness(t)
	started, lost := make(chan *rota.Job, 2), make(chan struct{})
	got := make(chan error, 2)
	r := h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		started <- job
		if job.Attempt > 1 {
			return nil
		}
		<-lost
		tx := store.Begin()
		defer tx.Rollback()
		err := engine.CompleteTx(ctx, tx, nil)
		got <- err
		<-ctx.Done()
		got <- context.Cause(ctx)
		return err
	}), engine.Config{Lease: time.Hour})
	id := h.addOne()
	<-started
	h.reapAll()
	second := <-started
	close(lost)
	if err := <-got; rota.CodeOf(err) != rota.LeaseLost {
		t.Errorf("%v, want LeaseLost", err)
	}
	if cause := <-got; cause.Error() != "the lease of the run was lost" {
		t.Errorf("the context ended with %v", cause)
	}
	h.awaitEnded(second.ID)
	r.awaitIdle()
	if run := h.job(id).Run; run.ErrorCode != rota.CodeLeaseExpired || r.Snapshot().LeaseLost != 1 {
		t.Errorf("%s, code %q, %+v", run.Outcome, run.ErrorCode, r.Snapshot())
	}
}

// While the transaction is open, heartbeats cannot extend the lease, and nobody else takes the job.
func TestOpenTransactionKeepsRunBeyondItsLease(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		store := h.withTx()
		flaky := wrap.Flaky(store, wrap.Fault{Before: func(b rota.Batch) error {
			if hasVerb(b, rota.VerbExtend) {
				return errDown
			}
			return nil
		}})
		causes := make(chan error, 1)
		r := h.startOn(flaky, registry(func(ctx context.Context, _ *rota.Job) error {
			tx := store.Begin()
			if err := engine.CompleteTx(ctx, tx, nil); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(h.lease + h.lease/2): // the lease watch has seen that it is over
			}
			causes <- context.Cause(ctx)
			return tx.Commit()
		}), h.sharedConfig())
		if job := h.awaitEnded(h.addOne()); job.State() != rota.StateCompleted {
			h.Errorf("%s: %s", job.State(), job.Run.Error)
		}
		if cause := <-causes; cause != nil {
			h.Errorf("the handler was stopped: %v", cause)
		}
		r.awaitIdle()
		if got := r.Snapshot(); got.LeaseLost != 0 {
			h.Errorf("%+v", got)
		}
	})
}

// After the commit the store answers heartbeats that the lease is gone.
func TestHandlerContinuesAfterCommit(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		store := h.withTx()
		causes := make(chan error, 1)
		r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
			tx := store.Begin()
			if err := errors.Join(engine.CompleteTx(ctx, tx, nil), tx.Commit()); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(h.lease + h.lease/2):
			}
			causes <- context.Cause(ctx)
			return nil
		}), h.sharedConfig())
		h.awaitEnded(h.addOne())
		if cause := <-causes; cause != nil {
			h.Errorf("the handler was stopped: %v", cause)
		}
		r.awaitIdle()
		if got := r.Snapshot(); got.LeaseLost != 0 {
			h.Errorf("%+v", got)
		}
	})
}

// The context of the handler ends as usual, and the transaction decides.
func TestStoppedRunEndsAsItsTransactionDoes(t *testing.T) {
	for name, c := range map[string]struct {
		job     rota.NewJob
		cancel  bool
		code    string
		state   rota.State
		outcome rota.Outcome
	}{
		"timeout": {rota.NewJob{Timeout: new(300 * time.Millisecond)}, false, rota.CodeTimeout, rota.StateFailed, rota.OutcomeCancelled},
		"cancel":  {rota.NewJob{}, true, rota.CodeCancelled, rota.StateCancelled, rota.OutcomeCancelled},
	} {
		for _, commits := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, commits %v", name, commits), func(t *testing.T) {
				h, store := newTxHarness(t)
				open := make(chan struct{}, 1)
				r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
					tx := store.Begin()
					if err := engine.CompleteTx(context.WithoutCancel(ctx), tx, nil); err != nil { // also on a machine so slow that it is late
						return err
					}
					open <- struct{}{}
					<-ctx.Done()
					if commits {
						return tx.Commit()
					}
					tx.Rollback()
					return nil
				}), engine.Config{CancelGrace: waitMax})
				c.job.MaxRetries = new(0)
				id := h.add(c.job)[0]
				if h.await(open, "the open transaction"); c.cancel {
					if _, err := r.client.Cancel(t.Context(), id, ""); err != nil {
						t.Fatal(err)
					}
				}
				job := h.awaitEnded(id)
				if commits {
					if job.State() != rota.StateCompleted {
						t.Errorf("%s: %s", job.State(), job.Run.Error)
					}
				} else if run := job.Run; job.State() != c.state || run.ErrorCode != c.code || run.Outcome != c.outcome {
					t.Errorf("%s, %s, code %q", job.State(), run.Outcome, run.ErrorCode)
				}
			})
		}
	}
}

// The store finds out late what became of the transaction. Meanwhile other runs continue.
func TestRunWaitsForEndOfItsTransaction(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprintf("commits %v", commits), func(t *testing.T) {
			h, store := newTxHarness(t)
			ends := make(chan func(), 1)
			ended := make(chan struct{})
			r := h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
				if job.UniqueKey != "waits" || job.Attempt > 1 {
					return nil
				}
				context.AfterFunc(ctx, func() { close(ended) })
				tx := store.Begin()
				if err := engine.CompleteTx(ctx, tx, nil); err != nil {
					return err
				}
				if !commits {
					ends <- tx.Rollback
					return nil
				}
				tell, err := tx.CommitUntold()
				ends <- tell
				return err
			}), engine.Config{Workers: 2})
			id := h.add(rota.NewJob{UniqueKey: "waits", Backoff: new(time.Duration(0))})[0]
			end := <-ends
			h.await(ended, "the end of the context, which rolls back a transaction that was begun with it")
			h.awaitAllEnded(h.add(make([]rota.NewJob, 20)...))
			if got := r.Snapshot(); got.Running != 1 {
				t.Errorf("%+v", got)
			}
			if job := h.job(id); job.Ended() != commits {
				t.Errorf("the run is %s", job.State())
			}
			end()
			if !commits {
				if run := h.awaitEnded(id).Run; run.ErrorCode != rota.CodeUncommitted {
					t.Errorf("code %q", run.ErrorCode)
				}
				h.awaitEnded(h.awaitRetry(id).ID)
			}
			r.awaitIdle()
			h.awaitAllEnded(h.add(make([]rota.NewJob, 20)...)) // every slot is free again
		})
	}
}

// A transaction that a handler leaves open holds no slot for longer than the grace.
func TestTransactionLeftOpenFreesItsSlot(t *testing.T) {
	h, store := newTxHarness(t)
	left := make(chan *buffertx.Tx, 1)
	var running counter[string]
	r := h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
		if job.UniqueKey == "" {
			if n := running.add("", 1); n > 1 {
				t.Errorf("%d runs share one slot", n)
			}
			runtime.Gosched()
			running.add("", -1)
			return nil
		}
		tx := store.Begin()
		err := engine.CompleteTx(ctx, tx, nil)
		left <- tx
		return err
	}), engine.Config{Workers: 1, CancelGrace: time.Millisecond})
	id := h.add(rota.NewJob{UniqueKey: "leaves it open"})[0]
	tx := <-left
	h.awaitEnded(h.addOne())
	if h.job(id).Ended() || h.log.count("level=ERROR", "left its transaction open", "job="+id.String()) != 1 {
		t.Error("the run has ended, or the open transaction is not logged")
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	r.awaitIdle()
	if job := h.job(id); job.State() != rota.StateCompleted {
		t.Errorf("%s", job.State())
	}
	h.awaitAllEnded(h.add(make([]rota.NewJob, 100)...))
}

func TestAbandonedHandlerEndsAsItsTransactionDoes(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprintf("commits %v", commits), func(t *testing.T) {
			h, store := newTxHarness(t)
			begun, hangs := make(chan *buffertx.Tx, 1), make(chan struct{})
			r := h.startOn(store, registry(func(ctx context.Context, job *rota.Job) error {
				if job.UniqueKey == "" {
					return nil
				}
				tx := store.Begin()
				err := engine.CompleteTx(ctx, tx, nil)
				begun <- tx
				<-hangs
				return err
			}), engine.Config{Workers: 1, CancelGrace: time.Millisecond})
			id := h.add(rota.NewJob{UniqueKey: "hangs"})[0]
			tx := <-begun
			if _, err := r.client.Cancel(t.Context(), id, ""); err != nil {
				t.Fatal(err)
			}
			h.awaitEnded(h.addOne()) // the slot is free again
			if h.job(id).Ended() || r.Snapshot().Abandoned != 1 {
				t.Errorf("%s, %+v", h.job(id).State(), r.Snapshot())
			}
			if commits {
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			tx.Rollback()
			job := h.awaitEnded(id)
			if commits != (job.State() == rota.StateCompleted) || !commits && job.Run.ErrorCode != rota.CodeCancelled {
				t.Errorf("%s, code %q", job.State(), job.Run.ErrorCode)
			}
			r.awaitIdle()
			close(hangs)
			h.eventually("the handler has returned", func() bool { return r.Snapshot().Abandoned == 0 })
		})
	}
}

func TestCompletionByAbandonedHandlerIsRefused(t *testing.T) {
	h, store := newTxHarness(t)
	hangs, got := make(chan struct{}), make(chan error, 1)
	h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		<-hangs
		got <- engine.CompleteTx(context.WithoutCancel(ctx), store.Begin(), nil)
		return nil
	}), engine.Config{CancelGrace: time.Millisecond})
	h.awaitEnded(h.add(rota.NewJob{Timeout: new(50 * time.Millisecond), MaxRetries: new(0)})[0])
	close(hangs)
	if err := <-got; rota.CodeOf(err) != rota.LeaseLost {
		t.Errorf("%v, want LeaseLost", err)
	}
}

func TestShutdownWaitsForTransaction(t *testing.T) {
	h, store := newTxHarness(t)
	open := make(chan struct{})
	r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
		close(open)
		<-ctx.Done() // cut off at the end of the grace
		return tx.Commit()
	}), engine.Config{ShutdownGrace: time.Millisecond})
	id := h.addOne()
	h.await(open, "the open transaction")
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if job := h.job(id); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
}

// A run that a shutdown cuts off and that rolls back is retried at once.
func TestRunCutOffByShutdownAndRolledBackIsRetried(t *testing.T) {
	h, store := newTxHarness(t)
	open := make(chan struct{})
	r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		err := engine.CompleteTx(ctx, tx, nil)
		close(open)
		<-ctx.Done()
		tx.Rollback()
		return err
	}), engine.Config{ShutdownGrace: time.Millisecond})
	id := h.addOne()
	h.await(open, "the open transaction")
	if err := r.shutdown(); err != nil {
		t.Error(err)
	}
	if run := h.job(id).Run; run.Outcome != rota.OutcomeFailed || run.ErrorCode != rota.CodeShutdown || !strings.Contains(run.Error, "not committed") {
		t.Errorf("%s, code %q, %q", run.Outcome, run.ErrorCode, run.Error)
	}
}

// An engine that gives up on a transaction records nothing. The transaction still decides.
func TestShutdownGivesUpOnTransactionThatStaysOpen(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprintf("commits %v", commits), func(t *testing.T) {
			h, store := newTxHarness(t)
			left := make(chan *buffertx.Tx, 1)
			r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
				tx := store.Begin()
				err := engine.CompleteTx(ctx, tx, nil)
				left <- tx
				return err
			}), engine.Config{ShutdownGrace: time.Millisecond, Name: "kitchen"})
			r.SetCutGrace(time.Millisecond)
			r.SetRecordGrace(50 * time.Millisecond)
			id := h.addOne()
			tx := <-left
			if err := r.shutdown(); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "the end of 1 runs was not recorded") {
				t.Errorf("%v", err)
			}
			if h.job(id).Ended() {
				t.Fatal("the run has ended before its transaction")
			}
			if commits {
				if err := tx.Commit(); err != nil {
					t.Fatal(err)
				}
			}
			tx.Rollback()
			s := newControlledHandler()
			h.start(registry(s.handle), engine.Config{Name: "kitchen"})
			if commits {
				if job := h.job(id); job.State() != rota.StateCompleted {
					t.Errorf("%s", job.State())
				}
				return
			}
			if again := s.awaitStart(h); again.RetryOf != id {
				t.Errorf("job %s started", again.ID)
			}
		})
	}
}

func TestDirectRunReturnsResultOfTransaction(t *testing.T) {
	for _, commits := range []bool{true, false} {
		t.Run(fmt.Sprintf("commits %v", commits), func(t *testing.T) {
			h, store := newTxHarness(t)
			logs := &lateLogs{memoryLogs: newMemoryLogs()}
			r := h.startOn(store, registry(func(ctx context.Context, _ *rota.Job) error {
				engine.Log(ctx).Info("hello")
				tx := store.Begin()
				if err := engine.CompleteTx(ctx, tx, "of the transaction"); err != nil {
					return err
				}
				if !commits {
					time.AfterFunc(time.Millisecond, tx.Rollback)
					return nil
				}
				tell, err := tx.CommitUntold()
				time.AfterFunc(time.Millisecond, tell)
				return err
			}), engine.Config{Workers: 1, Logs: logs})
			for range 2 { // the slot of the first one is free again
				job, err := r.Direct(t.Context(), rota.NewJob{Type: "work", MaxRetries: new(0)}, waitMax)
				if err != nil {
					t.Fatal(err)
				}
				if _, closes := logs.text(job.ID); closes != 1 || logs.flushed.Load() == 0 {
					t.Errorf("the log was closed %d times and flushed %d times", closes, logs.flushed.Load())
				}
				want := json.RawMessage(`"of the transaction"`)
				if commits && (job.State() != rota.StateCompleted || !slices.Equal(job.Run.Result, want)) || !commits && job.Run.ErrorCode != rota.CodeUncommitted {
					t.Errorf("%s, result %s, code %q", job.State(), job.Run.Result, job.Run.ErrorCode)
				}
			}
		})
	}
}

// The answer of the store is lost; the store knows better than the engine.
func TestLostAnswerOfCompletionKeepsWhatWasCommitted(t *testing.T) {
	h, store := newTxHarness(t)
	lost := wrap.Flaky(store, wrap.Fault{After: func(b rota.Batch, results []rota.Result) error {
		if hasVerb(b, rota.VerbFinish) && len(results) == 1 && string(b.Commands[0].(*rota.Finish).Items[0].Result) == "1" {
			return errDown
		}
		return nil
	}})
	h.startOn(lost, registry(func(ctx context.Context, _ *rota.Job) error {
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, 1); !errors.Is(err, errDown) {
			t.Errorf("%v, want %v", err, errDown)
		}
		return tx.Commit()
	}), engine.Config{})
	if run := h.awaitEnded(h.addOne()).Run; run.Outcome != rota.OutcomeCompleted || string(run.Result) != "1" {
		t.Errorf("%s, result %s", run.Outcome, run.Result)
	}
}

func TestLoggingLogsOutcomeOfTransaction(t *testing.T) {
	h, store := newTxHarness(t)
	reg := registry(func(ctx context.Context, job *rota.Job) error {
		tx := store.Begin()
		if err := engine.CompleteTx(ctx, tx, nil); err != nil {
			return err
		}
		if job.UniqueKey == "rolls back" {
			tx.Rollback()
			return nil
		}
		return errors.Join(tx.Commit(), errLate)
	})
	recorder := &logRecorder{}
	reg.Use(engine.Logging(slog.New(recorder)))
	h.startOn(store, reg, engine.Config{})
	h.awaitAllEnded(h.add(rota.NewJob{UniqueKey: "rolls back", MaxRetries: new(0)}, rota.NewJob{UniqueKey: "commits"}))
	if failed, completed := recorder.count("outcome=failed"), recorder.count("outcome=completed"); failed != 1 || completed != 1 {
		t.Errorf("%d failed, %d completed", failed, completed)
	}
}
