package postgres_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Receipt is the payload of a job.
type Receipt struct {
	Order int `json:"order" jsonschema:"minimum=1"`
}

// JobType names the type.
func (Receipt) JobType() string { return "receipt" }

// placeOrder stores an order and enqueues its receipt in one transaction of pgx.
func placeOrder(ctx context.Context, pool *pgxpool.Pool, queue *rota.Client, order int) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx) // after the commit it has no effect
	if _, err := tx.Exec(ctx, `INSERT INTO orders (id) VALUES ($1)`, order); err != nil {
		return err
	}
	if _, err := queue.EnqueueTx(ctx, tx, Receipt{Order: order}, rota.Unique(fmt.Sprintf("receipt:%d", order))); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// placeOrderSQL does the same in a transaction of database/sql: db is sql.Open("pgx", url).
func placeOrderSQL(ctx context.Context, db *sql.DB, queue *rota.Client, order int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after the commit it has no effect
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders (id) VALUES ($1)`, order); err != nil {
		return err
	}
	if _, err := queue.EnqueueTx(ctx, tx, Receipt{Order: order}); err != nil {
		return err
	}
	return tx.Commit()
}

// placeOrders stores orders, and each receipt that Rota accepts. A refused one leaves the transaction
// usable, so the order is stored without it.
func placeOrders(ctx context.Context, pool *pgxpool.Pool, queue *rota.Client, orders ...int) (refused []error, err error) {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback(ctx)
	for _, order := range orders {
		if _, err := tx.Exec(ctx, `INSERT INTO orders (id) VALUES ($1)`, order); err != nil {
			return nil, err
		}
		_, err := queue.EnqueueTx(ctx, tx, Receipt{Order: order})
		switch rota.CodeOf(err) {
		case "":
		case rota.Invalid, rota.Conflict, rota.Busy: // the transaction is usable
			refused = append(refused, err)
		default:
			return nil, err // roll back
		}
	}
	return refused, tx.Commit(ctx)
}

// shop is the database of a program with a table of its own, beside the store.
type shop struct {
	*testing.T
	pool  *pgxpool.Pool
	db    *sql.DB
	queue *rota.Client
}

func openShop(t *testing.T) *shop {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	store, err := postgres.Open(url)
	check(t, err)
	t.Cleanup(func() { _ = store.Close() })
	pool, err := pgxpool.New(t.Context(), url)
	check(t, err)
	t.Cleanup(pool.Close)
	db, err := sql.Open("pgx", url)
	check(t, err)
	t.Cleanup(func() { _ = db.Close() })
	_, err = pool.Exec(t.Context(), `CREATE TABLE orders (id integer PRIMARY KEY)`)
	check(t, err)
	return &shop{t, pool, db, rota.New(store)}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds checks the orders and the receipts.
func (s *shop) holds(orders, receipts int) {
	s.Helper()
	var n int
	check(s.T, s.pool.QueryRow(s.Context(), `SELECT count(*) FROM orders`).Scan(&n))
	jobs, err := s.queue.Store().Jobs(s.Context(), rota.JobQuery{})
	check(s.T, err)
	if n != orders || len(jobs) != receipts {
		s.Errorf("%d orders and %d receipts, want %d and %d", n, len(jobs), orders, receipts)
	}
}

func TestExampleOfPgxTransaction(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	check(t, placeOrder(t.Context(), s.pool, s.queue, 1))
	s.holds(1, 1)
	if err := placeOrder(t.Context(), s.pool, s.queue, 1); err == nil {
		t.Error("an order was stored twice")
	}
	if err := placeOrder(t.Context(), s.pool, s.queue, -2); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	s.holds(1, 1)
}

func TestExampleOfStdlibTransaction(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	check(t, placeOrderSQL(t.Context(), s.db, s.queue, 1))
	if err := placeOrderSQL(t.Context(), s.db, s.queue, -2); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("got %v, want Invalid", err)
	}
	s.holds(1, 1)
}

func TestExampleOfRefusedJob(t *testing.T) {
	t.Parallel()
	s := openShop(t)
	refused, err := placeOrders(t.Context(), s.pool, s.queue, 1, -2, 3)
	check(t, err)
	if len(refused) != 1 {
		t.Errorf("refused: %v", errors.Join(refused...))
	}
	s.holds(3, 2)
}
