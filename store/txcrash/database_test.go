//go:build unix

package txcrash

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

// Kinds of stores.
const (
	onPostgres = "postgres"
	onSQLite   = "sqlite"
)

// schema has the tables of the program. Effects has no key, so that a second row of an
// execution would stay.
const schema = `
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, story TEXT NOT NULL, jobs INTEGER NOT NULL, duplicate_of TEXT);
CREATE TABLE IF NOT EXISTS effects (execution TEXT NOT NULL, job TEXT NOT NULL, behaviour TEXT NOT NULL)`

func openStore(kind, target string, readOnly bool) (rota.Store, error) {
	quiet := slog.New(slog.DiscardHandler)
	if kind == onSQLite {
		return sqlite.OpenWith(target, sqlite.Config{Logger: quiet, ReadOnly: readOnly})
	}
	return postgres.OpenWith(target, postgres.Config{Logger: quiet, ReadOnly: readOnly})
}

// database begins transactions of the program.
type database []func(context.Context) (txn, error)

// begin begins a transaction of any type that the store takes.
func (d database) begin(ctx context.Context) (txn, error) { return d[rand.IntN(len(d))](ctx) }

// txn is a transaction of the program.
type txn interface {
	exec(ctx context.Context, text string, args ...any) error
	commit(ctx context.Context) error
	rollback() error
	handle() any // what the functions of Rota take
}

// openDatabase opens the database of the store as the program does.
func openDatabase(kind, target string, p *process) (database, error) {
	if kind == onSQLite {
		return openSQLite(target)
	}
	config, err := pgxpool.ParseConfig(target)
	if err != nil {
		return nil, err
	}
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := dial(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &lossyConn{conn, p}, nil
	}
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, err
	}
	db := stdlib.OpenDB(*config.ConnConfig)
	return database{
		func(ctx context.Context) (txn, error) { return begun(pool.Begin(ctx)) },
		func(ctx context.Context) (txn, error) { return sqlBegun(db.BeginTx(ctx, nil)) },
	}, nil
}

// openSQLite opens the file twice: transactions of the one take the write lock when they
// begin, those of the other with their first write.
func openSQLite(path string) (d database, err error) {
	for _, option := range []string{"", "&_txlock=immediate"} {
		db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)"+option)
		if err != nil {
			return nil, err
		}
		d = append(d, func(ctx context.Context) (txn, error) { return sqlBegun(db.BeginTx(ctx, nil)) })
	}
	return d, nil
}

type pgxTxn struct{ pgx.Tx }

func begun(tx pgx.Tx, err error) (txn, error) { return pgxTxn{tx}, err }

func (t pgxTxn) exec(ctx context.Context, text string, args ...any) error {
	_, err := t.Exec(ctx, text, args...)
	return err
}

func (t pgxTxn) commit(ctx context.Context) error { return t.Commit(ctx) }
func (t pgxTxn) rollback() error                  { return t.Rollback(context.Background()) }
func (t pgxTxn) handle() any                      { return t.Tx }

type sqlTxn struct{ *sql.Tx }

func sqlBegun(tx *sql.Tx, err error) (txn, error) { return sqlTxn{tx}, err }

func (t sqlTxn) exec(ctx context.Context, text string, args ...any) error {
	_, err := t.ExecContext(ctx, text, args...)
	return err
}

func (t sqlTxn) commit(context.Context) error { return t.Commit() }
func (t sqlTxn) rollback() error              { return t.Rollback() }
func (t sqlTxn) handle() any                  { return t.Tx }

// lossyConn loses the answers of some commits, and some commits.
type lossyConn struct {
	net.Conn
	process *process
}

var errLost = errors.New("the test has cut the connection")

// lostCommit is the commit of each process whose answer is lost in any case.
const lostCommit = 3

// Write closes the connection just before or just after it has sent some commits.
func (c *lossyConn) Write(data []byte) (int, error) {
	if !bytes.Contains(bytes.ToLower(data), []byte("commit\x00")) {
		return c.Conn.Write(data)
	}
	switch n := rand.IntN(40); {
	case n == 0 || c.process.commits.Add(1) == lostCommit:
		n, err := c.Conn.Write(data)
		c.process.ledger.write("lost", "-", "after")
		return n, errors.Join(err, c.Conn.Close())
	case n == 1:
		c.process.ledger.write("lost", "-", "before")
		return 0, errors.Join(errLost, c.Conn.Close())
	}
	n, err := c.Conn.Write(data)
	c.process.kill.pass(duringCommit)
	return n, err
}
