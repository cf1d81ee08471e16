package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"

	_ "modernc.org/sqlite"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// Receipt is the payload of a job.
type Receipt struct {
	Order int `json:"order" jsonschema:"minimum=1"`
}

// JobType names the type.
func (Receipt) JobType() string { return "receipt" }

// openShop opens a store, and its file for the program's own tables. A transaction of the program
// waits for the write lock when it begins.
func openShop(path string) (store *sqlite.Store, db *sql.DB, err error) {
	if store, err = sqlite.Open(path); err != nil {
		return nil, nil, err
	}
	db, err = sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	return store, db, err
}

// placeOrder stores an order and enqueues its receipt in one transaction.
func placeOrder(ctx context.Context, db *sql.DB, queue *rota.Client, order int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after the commit it has no effect
	if _, err := tx.ExecContext(ctx, `INSERT INTO orders (id) VALUES (?)`, order); err != nil {
		return err
	}
	if _, err := queue.EnqueueTx(ctx, tx, Receipt{Order: order}); err != nil {
		return err
	}
	return tx.Commit()
}

// A job is enqueued in a transaction of the program on the store's file: it exists if and only if the
// order does.
func ExampleStore_ApplyTx() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	store, db, err := openShop(filepath.Join(dir, "app.db"))
	must(err)
	defer store.Close()
	defer db.Close()
	queue, ctx := rota.New(store), context.Background()
	_, err = db.ExecContext(ctx, `CREATE TABLE orders (id INTEGER PRIMARY KEY)`)
	must(err)

	fmt.Println(placeOrder(ctx, db, queue, 1))
	fmt.Println(placeOrder(ctx, db, queue, -2)) // the receipt is refused, and the order is rolled back

	var orders int
	must(db.QueryRowContext(ctx, `SELECT count(*) FROM orders`).Scan(&orders))
	receipts, err := store.Jobs(ctx, rota.JobQuery{Type: "receipt"})
	must(err)
	fmt.Println(orders, "order,", len(receipts), "receipt")
	// Output:
	// <nil>
	// enqueue: params.order: is -2; at least 1 is required: see the schema of its type
	// 1 order, 1 receipt
}
