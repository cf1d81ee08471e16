package engine_test

import (
	"context"
	"database/sql"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// openOwn opens the database of the store as a program with tables of its own does.
func (h *harness) openOwn() *sql.DB {
	h.Helper()
	driver, source := "pgx", h.url
	if h.url == "" {
		driver, source = "sqlite", "file:"+h.file+"?_txlock=immediate&_pragma=busy_timeout(5000)"
	}
	db, err := sql.Open(driver, source)
	if err == nil {
		_, err = db.Exec(`CREATE TABLE orders (id integer PRIMARY KEY)`)
	}
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { _ = db.Close() })
	return db
}

// order is the payload of a job for a row of the program.
type order struct {
	ID int `json:"id"`
}

func (order) JobType() string { return "order" }

// The handler of a job always finds the row that was written beside it.
func TestJobOfTransactionStartsAfterItsCommit(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		db, client, reg := h.openOwn(), rota.New(h.store), engine.NewRegistry()
		var runs, missing atomic.Int32
		engine.Handle(reg, func(ctx context.Context, o order) error {
			runs.Add(1)
			var id int
			if err := db.QueryRowContext(ctx, `SELECT id FROM orders WHERE id = $1`, o.ID).Scan(&id); err != nil {
				missing.Add(1)
			}
			return nil
		})
		h.start(reg, engine.Config{})
		const orders = 20
		var last *rota.Job
		for i := range 2 * orders {
			tx, err := db.Begin()
			if err != nil {
				t.Fatal(err)
			}
			job, err := client.EnqueueTx(t.Context(), tx, order{i})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tx.Exec(`INSERT INTO orders (id) VALUES ($1)`, i); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				err = tx.Rollback()
			} else {
				err, last = tx.Commit(), job
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		h.awaitEnded(last.ID)
		h.eventually("all jobs have run", func() bool { return runs.Load() >= orders })
		if runs.Load() != orders || missing.Load() != 0 {
			t.Errorf("%d jobs ran, want %d; %d did not find their row", runs.Load(), orders, missing.Load())
		}
	})
}

// The first attempt reports success and leaves its transaction open, the second one commits.
func TestHandlerWithoutCommitIsRetried(t *testing.T) {
	onEachStore(t, func(t *testing.T, h *harness) {
		db, client, reg := h.openOwn(), rota.New(h.store), engine.NewRegistry()
		engine.Handle(reg, func(ctx context.Context, o order) error {
			tx, err := db.BeginTx(ctx, nil)
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO orders (id) VALUES ($1)`, o.ID); err != nil {
				return err
			}
			if err := engine.CompleteTx(ctx, tx, nil); err != nil {
				return err
			}
			if engine.Job(ctx).Attempt == 1 {
				return nil
			}
			return tx.Commit()
		})
		h.start(reg, engine.Config{})
		job, err := client.Enqueue(t.Context(), order{7}, rota.Backoff(time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		first := h.awaitEnded(job.ID)
		if first.Run.Outcome != rota.OutcomeFailed || first.Run.ErrorCode != rota.CodeUncommitted {
			t.Errorf("the first attempt: %s, code %q, error %q", first.Run.Outcome, first.Run.ErrorCode, first.Run.Error)
		}
		if second := h.awaitEnded(h.awaitRetry(job.ID).ID); second.State() != rota.StateCompleted {
			t.Errorf("the second attempt: %s, %q", second.State(), second.Run.Error)
		}
		var rows int
		if err := db.QueryRow(`SELECT count(*) FROM orders`).Scan(&rows); err != nil || rows != 1 {
			t.Errorf("%d rows, %v", rows, err)
		}
	})
}
