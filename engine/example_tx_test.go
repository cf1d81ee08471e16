package engine_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "modernc.org/sqlite"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/sqlite"
)

// Transfer is the payload of a job that moves money between two accounts.
type Transfer struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Cents int    `json:"cents" jsonschema:"minimum=1"`
}

// JobType names the type.
func (Transfer) JobType() string { return "transfer" }

// Notice is the payload of the job that follows.
type Notice struct {
	Account string `json:"account"`
}

// JobType names the type.
func (Notice) JobType() string { return "notice" }

// transferIn returns a handler. The money, the next job and the end of the run are committed together, so
// the money moves once, however often the job is retried.
func transferIn(db *sql.DB, queue *rota.Client) func(context.Context, Transfer) error {
	return func(ctx context.Context, t Transfer) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer tx.Rollback() // after the commit it has no effect
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET cents = cents - ? WHERE name = ?`, t.Cents, t.From); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, `UPDATE accounts SET cents = cents + ? WHERE name = ?`, t.Cents, t.To); err != nil {
			return err
		}
		if _, err := queue.EnqueueTx(ctx, tx, Notice{Account: t.To}); err != nil {
			return err
		}
		if err := engine.CompleteTx(ctx, tx, map[string]int{"cents": t.Cents}); err != nil {
			return err
		}
		return tx.Commit()
	}
}

// A handler completes its run in the transaction of its work.
func ExampleCompleteTx() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "app.db")
	store, err := sqlite.Open(path)
	must(err)
	defer store.Close()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	must(err)
	defer db.Close()
	ctx, stop := context.WithCancel(context.Background())
	_, err = db.ExecContext(ctx, `CREATE TABLE accounts (name TEXT, cents INTEGER); INSERT INTO accounts VALUES ('ada', 500), ('bo', 0)`)
	must(err)

	queue, reg := rota.New(store), engine.NewRegistry()
	engine.Handle(reg, transferIn(db, queue))
	engine.Handle(reg, func(ctx context.Context, n Notice) error { return nil })
	stopped := make(chan error)
	go func() { stopped <- engine.New(queue, reg, engine.Config{}).Run(ctx) }()

	job, err := queue.Enqueue(ctx, Transfer{From: "ada", To: "bo", Cents: 200})
	must(err)
	job = ended(ctx, queue, job.ID)
	fmt.Println(job.State(), string(job.Run.Result))
	var cents int
	must(db.QueryRowContext(ctx, `SELECT cents FROM accounts WHERE name = 'bo'`).Scan(&cents))
	fmt.Println("bo has", cents)
	stop()
	must(<-stopped)
	// Output:
	// completed {"cents":200}
	// bo has 200
}

// transferInPool is transferIn with pgx. It completes the run last, since that locks the row of the job.
func transferInPool(pool *pgxpool.Pool) func(context.Context, Transfer) error {
	return func(ctx context.Context, t Transfer) error {
		return pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error { // commits if the function returns nil
			const move = `UPDATE accounts SET cents = cents + CASE name WHEN $1 THEN -$3::integer ELSE $3 END WHERE name IN ($1, $2)`
			if _, err := tx.Exec(ctx, move, t.From, t.To, t.Cents); err != nil {
				return err
			}
			return engine.CompleteTx(ctx, tx, nil)
		})
	}
}

func TestExampleOfCompletionWithPgx(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	store, err := postgres.Open(url)
	must(err)
	defer store.Close()
	pool, err := pgxpool.New(t.Context(), url)
	must(err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), `CREATE TABLE accounts (name text, cents integer); INSERT INTO accounts VALUES ('ada', 500), ('bo', 0)`)
	must(err)

	queue, reg := rota.New(store), engine.NewRegistry()
	engine.Handle(reg, transferInPool(pool))
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- engine.New(queue, reg, engine.Config{Membership: store}).Run(ctx) }()
	job, err := queue.Enqueue(ctx, Transfer{From: "ada", To: "bo", Cents: 200})
	must(err)
	if job = ended(ctx, queue, job.ID); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
	var cents int
	must(pool.QueryRow(ctx, `SELECT cents FROM accounts WHERE name = 'bo'`).Scan(&cents))
	if cents != 200 {
		t.Errorf("bo has %d", cents)
	}
	stop()
	must(<-stopped)
}
