package action

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"

	"github.com/rotajobs/rota/engine"
)

// postgresDB is a target on a PostgreSQL server.
type postgresDB struct{ login }

const (
	connectTimeout = 15 * time.Second
	cancelTimeout  = 5 * time.Second // how long a server may take to stop a statement, or to undo one
	// timeoutMargin lets our own word come first: it says why a run was stopped.
	timeoutMargin = time.Second
)

// do runs a work on a connection of its own, so that nothing a statement sets
// outlives it.
func (d *postgresDB) do(ctx context.Context, w *work) (*workResult, error) {
	pieces := split(dialectPostgres, w.script)
	if w.call == nil {
		if err := refuse(dialectPostgres, w.script, pieces); err != nil {
			return nil, err
		}
	}
	conn, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	r := &postgresRun{conn: conn, w: w, pieces: pieces}
	defer r.close()
	if err := r.begin(ctx); err != nil {
		return nil, err
	}
	if err := r.work(ctx); err != nil {
		r.rollback()
		return nil, err
	}
	if w.cleanUp {
		r.removeOld()
	}
	return &r.result, nil
}

// connect connects so that the end of a context ends the statement in the server,
// not only our waiting for it.
func (d *postgresDB) connect(ctx context.Context) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(d.url)
	if err != nil { // which CheckTargets has seen to
		return nil, permanentFailure(codeTarget, "its URL is none that PostgreSQL's rules allow")
	}
	config.BuildContextWatcherHandler = func(conn *pgconn.PgConn) ctxwatch.Handler {
		return &pgconn.CancelRequestContextWatcherHandler{Conn: conn, DeadlineDelay: cancelTimeout}
	}
	config.OnNotice = func(_ *pgconn.PgConn, notice *pgconn.Notice) {
		engine.Log(ctx).Info("sql: "+strings.ToLower(notice.Severity), "message", brief(notice.Message))
	}
	ctx, done := context.WithTimeout(ctx, connectTimeout)
	defer done()
	conn, err := pgconn.ConnectConfig(ctx, config)
	var told *pgconn.PgError
	switch {
	case errors.As(err, &told):
		return nil, &sqlFailure{code: told.Code, text: "it cannot be logged in to: " + told.Message}
	case err != nil:
		return nil, unreachable(err)
	}
	return conn, nil
}

// postgresRun is one run on its connection.
type postgresRun struct {
	conn         *pgconn.PgConn
	w            *work
	pieces       []piece
	schema       string    // of the table of effects
	timeoutSetAt time.Time // when the server was last told how long there is
	result       workResult
}

// begin begins the transaction and writes the effect into it. The table is made
// where there is none.
func (r *postgresRun) begin(ctx context.Context) error {
	for again := false; ; again = true {
		err := r.open(ctx)
		if err == nil {
			return nil
		}
		r.rollback()
		if !isState(err, undefinedTable) || again || r.schema == "" {
			return err
		}
		if err := r.createEffectTable(ctx); err != nil {
			return err
		}
	}
}

func (r *postgresRun) open(ctx context.Context) error {
	rows, err := r.query(ctx, "BEGIN READ WRITE; "+postgresSettings(r.w.deadline))
	if err != nil {
		return err
	}
	r.timeoutSetAt = time.Now()
	if r.schema = rows[0][0]; r.schema == "" {
		return failed(codeTarget, "there is no schema in its search path that the table %s could be in; make one, or set search_path for the login", effectTable)
	}
	return r.insertEffect(ctx)
}

// postgresSettings bounds each statement in the server itself, for the case that
// nobody is left here to stop it, and asks for the schema that comes first.
func postgresSettings(deadline time.Time) string {
	return `SELECT current_schema(), set_config('statement_timeout', '` + timeoutLeft(deadline) + `', true);
SELECT set_config(name, '1s', true) FROM pg_settings
WHERE name = 'client_connection_check_interval' AND version() !~* 'visual c|mingw|msvc'`
}

// timeoutLeft is a statement_timeout, in milliseconds; 0 is none.
func timeoutLeft(deadline time.Time) string {
	if deadline.IsZero() {
		return "0"
	}
	const most = 1<<31 - 1
	return fmt.Sprint(min(most, max(1, (time.Until(deadline)+timeoutMargin).Milliseconds())))
}

// work does what the run is for, and commits it.
func (r *postgresRun) work(ctx context.Context) error {
	if !r.result.earlier.IsZero() {
		r.rollback()
		return nil
	}
	if r.w.role != "" {
		if _, err := r.query(ctx, "SET LOCAL ROLE "+quoteName(r.w.role)); err != nil {
			return fmt.Errorf("run_as: %w", err)
		}
	}
	if err := r.statements(ctx); err != nil {
		return err
	}
	return r.commit(ctx)
}

func (r *postgresRun) statements(ctx context.Context) error {
	if r.w.call != nil {
		return r.call(ctx)
	}
	for _, p := range r.pieces {
		if err := r.renewTimeout(ctx); err != nil {
			return err
		}
		result := r.conn.ExecParams(ctx, p.text, nil, nil, nil, nil)
		if err := r.read(result); err != nil {
			return postgresFailure(r.w.script, p, err)
		}
		if err := r.checkTransaction(); err != nil {
			return err
		}
	}
	return nil
}

// renewTimeout tells the server again how long there is, since it counts anew for each
// statement.
func (r *postgresRun) renewTimeout(ctx context.Context) error {
	if r.w.deadline.IsZero() || time.Since(r.timeoutSetAt) < time.Second {
		return nil
	}
	r.timeoutSetAt = time.Now()
	_, err := r.query(ctx, "SET LOCAL statement_timeout = "+timeoutLeft(r.w.deadline))
	return err
}

// checkTransaction asks the server whether the transaction still stands.
func (r *postgresRun) checkTransaction() error {
	if r.conn.TxStatus() == 'T' {
		return nil
	}
	return permanentFailure(codeTransaction, "a statement has ended the transaction of the run; what it did before that may stand")
}

// commit writes how many rows were changed, as who logged in, and commits. Only
// COMMIT says that it was done: a transaction that has failed answers ROLLBACK.
func (r *postgresRun) commit(ctx context.Context) error {
	results, err := r.conn.Exec(ctx, fmt.Sprintf("RESET SESSION AUTHORIZATION; RESET ROLE; UPDATE %s SET rows_affected = %d WHERE execution_id = '%s'; COMMIT",
		r.effectTableName(), r.result.affected, r.w.execution)).ReadAll()
	if err != nil {
		return postgresFailure("", piece{}, err)
	}
	if last := results[len(results)-1].CommandTag.String(); last != "COMMIT" {
		return failed(codeTransaction, "the server did not commit, and said %s", last)
	}
	return nil
}

// query runs statements of our own and is the rows of them all, as text.
func (r *postgresRun) query(ctx context.Context, text string) (rows [][]string, err error) {
	results, err := r.conn.Exec(ctx, text).ReadAll()
	for _, result := range results {
		for _, fields := range result.Rows {
			row := make([]string, len(fields))
			for i, field := range fields {
				row[i] = string(field)
			}
			rows = append(rows, row)
		}
	}
	return rows, postgresFailure("", piece{}, err)
}

// rollback undoes what there is, even when the run was stopped.
func (r *postgresRun) rollback() {
	ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
	defer done()
	if !r.conn.IsClosed() && r.conn.TxStatus() != 'I' {
		_, _ = r.conn.Exec(ctx, "ROLLBACK").ReadAll() // a connection that ends does it as well
	}
}

func (r *postgresRun) close() {
	ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
	defer done()
	_ = r.conn.Close(ctx)
}

// quoteName writes a name so that it is taken as it is.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
