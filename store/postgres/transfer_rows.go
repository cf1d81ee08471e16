package postgres

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// transferConn is the connection of a copy.
type transferConn struct {
	store   *Store
	pooled  *pgxpool.Conn
	session *session
	name    string
}

func openTransferConn(url string, config Config) (c *transferConn, err error) {
	config.Poll = true // a copy waits for no notification
	store, err := OpenWith(url, config)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(context.Background(), openMax)
	defer done()
	pooled, err := store.acquire(ctx)
	if err != nil {
		_ = store.Close()
		return nil, fault("copy", err)
	}
	at := store.pool.Config().ConnConfig
	return &transferConn{
		store: store, pooled: pooled, session: store.session(pooled),
		name: fmt.Sprintf("postgres://%s:%d/%s?schema=%s", at.Host, at.Port, at.Database, store.config.Schema),
	}, nil
}

// Name returns the URL of the store without user and password.
func (c *transferConn) Name() string { return c.name }

// Close rolls back a transaction that is open and closes the connections.
func (c *transferConn) Close() error {
	c.session.endTransaction(context.Background())
	c.pooled.Release()
	return c.store.Close()
}

// exec executes statements without parameters, and returns the rows of the last.
func (c *transferConn) exec(ctx context.Context, sql string, args ...any) ([][]string, error) {
	m := &migration{ctx, c.session.conn, c.session.dialect}
	rows, err := m.exec(sql, args...)
	return rows, fault("copy", err)
}

func (c *transferConn) send(ctx context.Context, statements ...statement) error {
	return fault("copy", c.session.send(ctx, statements...))
}

const (
	sqlTransferBegin = `
BEGIN ISOLATION LEVEL REPEATABLE READ READ WRITE;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = 0;
SET LOCAL jit = off;
SET LOCAL lock_timeout = '10s';
LOCK TABLE %s IN EXCLUSIVE MODE`
	sqlTransferLock = `
SELECT pg_try_advisory_xact_lock(%d, %d)`
	sqlLiveNodes = `
SELECT name, to_char(to_timestamp(until / 1000000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
FROM rota_nodes
WHERE until >= ` + clockNow + `
ORDER BY name
LIMIT 1`
)

// begin begins a transaction that no other one can change rows in the tables until its end. The
// locks come before the first query, which takes the snapshot.
func (c *transferConn) begin(ctx context.Context) error {
	tables := []string{"rota_nodes"}
	for _, t := range storekit.RowTables {
		tables = append(tables, t.Name)
	}
	if _, err := c.exec(ctx, sqlTransferBegin, c.session.dialect.qualify(strings.Join(tables, ", "))); err != nil {
		return err
	}
	rows, err := c.exec(ctx, sqlTransferLock, c.store.lockSpace, lockTransfer)
	if err != nil {
		return err
	}
	if rows[0][0] != "t" {
		return transferRuns()
	}
	if rows, err = c.exec(ctx, sqlLiveNodes); err != nil || len(rows) == 0 {
		return err
	}
	return &rota.Error{
		Code: rota.Busy, Act: "postgres: copy", Reason: fmt.Sprintf("the server %s uses %s", rows[0][0], c.name),
		Hint: "stop every server of the store, then copy it; a server that was killed counts as running until " + rows[0][1],
	}
}

// ReadRows reads a page of rows.
func (c *transferConn) ReadRows(ctx context.Context, q *storekit.RowQuery) (*storekit.RowPage, error) {
	page := &storekit.RowPage{}
	take := func(r storekit.Row) error {
		page.Take(q, r) // the rows that follow a full page are dropped as they arrive
		return nil
	}
	if q.ByIDs {
		ids, more, err := q.NextIDs()
		if err == nil {
			err = c.send(ctx, statement{
				sql: q.Table.Select() + "\nWHERE j.id = ANY ($1)\nORDER BY j.id", params: []param{idsParam(ids)},
				eachRow: func(r row) error { return take(r) },
			})
		}
		page.More = page.More || more
		return page, err
	}
	sql, args, err := q.Table.Page(q.After, q.Waiting, q.Limit)
	if err == nil {
		err = c.send(ctx, statementOf(sql, take, args))
	}
	if page.Len() == q.Limit {
		page.More = true
	}
	return page, err
}

// CountRows counts the rows of a table.
func (c *transferConn) CountRows(ctx context.Context, t *storekit.RowTable, waiting bool) (n int64, err error) {
	err = c.send(ctx, statement{sql: t.Count(waiting), eachRow: func(r row) error {
		n = r.Int(0)
		return nil
	}})
	return n, err
}

// transferTimeout is the time limit of a step of a copy that reads no rows.
const transferTimeout = time.Minute
