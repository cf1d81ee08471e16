package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"

	"github.com/jackc/pgx/v5"

	"github.com/rotajobs/rota"
)

// The caller's transaction is a pgx.Tx, or a *sql.Tx of pgx's stdlib. Both pass an argument that
// implements pgx.QueryRewriter to the connection before they send anything. The store uses that to
// get the connection: a transaction that is over refuses the call, and database/sql holds the
// connection during it.

// connOf calls use with the connection of the caller's transaction. The error is that of use, or
// Invalid if there is no such connection.
func connOf(ctx context.Context, tx any, use func(*pgx.Conn) error) error {
	taken := &takeConn{use: use}
	var err error
	switch tx := tx.(type) {
	case nil:
		return badTx("is nil", "pass the transaction that you have begun")
	case pgx.Tx:
		if v := reflect.ValueOf(tx); v.Kind() == reflect.Pointer && v.IsNil() {
			return badTx("is nil", "pass the transaction that you have begun")
		}
		_, err = tx.Exec(ctx, "", taken)
	case *sql.Tx:
		if tx == nil {
			return badTx("is nil", "pass the transaction that you have begun")
		}
		_, err = tx.ExecContext(ctx, "", taken)
	default:
		return badTx(fmt.Sprintf("is a %T", tx), "pass a pgx.Tx, or a *sql.Tx of github.com/jackc/pgx/v5/stdlib")
	}
	switch {
	case taken.used:
		return taken.err
	case errors.Is(err, pgx.ErrTxClosed), errors.Is(err, sql.ErrTxDone), errors.Is(err, pgx.ErrTxCommitRollback):
		return overTx(err)
	case ctx.Err() != nil:
		return ctx.Err()
	case isSQLTx(tx) && !isLost(err):
		return &rota.Error{
			Code: rota.Invalid, Field: "tx", Reason: "is not a transaction of pgx: its driver does not accept arguments of pgx", Err: err,
			Hint: "open the database with the driver github.com/jackc/pgx/v5/stdlib (sql.Open(\"pgx\", url))",
		}
	}
	return fault("caller's transaction", err)
}

// takeConn is an argument that gets the connection and has nothing sent.
type takeConn struct {
	use  func(*pgx.Conn) error
	used bool
	err  error
}

var errTaken = errors.New("the connection was taken")

// RewriteQuery implements pgx.QueryRewriter.
func (t *takeConn) RewriteQuery(_ context.Context, conn *pgx.Conn, _ string, _ []any) (sql string, args []any, err error) {
	t.used = true
	t.err = t.use(conn)
	return "", nil, errTaken
}

func isSQLTx(tx any) bool {
	_, is := tx.(*sql.Tx)
	return is
}

func badTx(reason, hint string) *rota.Error {
	return &rota.Error{Code: rota.Invalid, Field: "tx", Reason: reason, Hint: hint}
}

func overTx(cause error) *rota.Error {
	return &rota.Error{
		Code: rota.Invalid, Field: "tx", Reason: "is over: it was committed or rolled back", Err: cause,
		Hint: "call it before Commit, or begin another transaction",
	}
}

// The states of a connection as PostgreSQL reports them.
const (
	statusIdle    = 'I'
	statusAborted = 'E'
)

// checkCaller refuses a connection that cannot execute the statements of the store now.
func checkCaller(conn *pgx.Conn) error {
	c := conn.PgConn()
	switch {
	case c.IsClosed():
		return overTx(errors.New("its connection is closed"))
	case c.IsBusy():
		return badTx("is in use: rows of a query are not closed, or another goroutine uses it", "close the rows first, and use a transaction in one goroutine at a time")
	case c.TxStatus() == statusIdle:
		return overTx(errors.New("its connection is not in a transaction"))
	case c.TxStatus() == statusAborted:
		return badTx("is aborted: one of its statements has failed", "roll it back, and begin another one")
	}
	if encoding := c.ParameterStatus("client_encoding"); encoding != "UTF8" {
		return badTx("has the client encoding "+encoding, "use UTF8, the default of pgx")
	}
	return nil
}
