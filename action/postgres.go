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
	cancelTimeout  = 5 * time.Second // longest time for the server to cancel a statement or to roll back
	// timeoutMargin lets the context end before the server's timeout: its cause says why the run stopped.
	timeoutMargin = time.Second
)

// do executes a work on its own connection, so that no session setting outlives it.
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

// connect opens a connection on which the end of a context also cancels the statement
// in the server.
func (d *postgresDB) connect(ctx context.Context) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(d.url)
	if err != nil { // CheckTargets has checked it
		return nil, permanentFailure(codeTarget, "its URL is not a valid PostgreSQL URL; correct it in the configuration")
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
	var rejected *pgconn.PgError
	switch {
	case errors.As(err, &rejected):
		return nil, &sqlFailure{code: rejected.Code, text: "the server refused the login: " + rejected.Message}
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
	timeoutSetAt time.Time // when statement_timeout was last set
	result       workResult
}

// begin begins the transaction and writes the effect into it. It
// creates the table if it is missing.
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
		return failed(codeTarget, "search_path has no schema for the table %s; create one, or set search_path for the login", effectTable)
	}
	return r.insertEffect(ctx)
}

// postgresSettings sets the timeout of each statement in the server, in case this
// process ends before it can cancel one, and reads the first schema of search_path.
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

// work executes the run and commits.
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

// renewTimeout sets statement_timeout to the remaining time, because the server applies
// it to each statement separately.
func (r *postgresRun) renewTimeout(ctx context.Context) error {
	if r.w.deadline.IsZero() || time.Since(r.timeoutSetAt) < time.Second {
		return nil
	}
	r.timeoutSetAt = time.Now()
	_, err := r.query(ctx, "SET LOCAL statement_timeout = "+timeoutLeft(r.w.deadline))
	return err
}

// checkTransaction checks that the transaction is still open.
func (r *postgresRun) checkTransaction() error {
	if r.conn.TxStatus() == 'T' {
		return nil
	}
	return permanentFailure(codeTransaction, "a statement has ended the transaction of the run; earlier changes may be committed")
}

// commit writes the number of changed rows with the role of the login, and commits. Only
// the tag COMMIT confirms it: for a failed transaction the server answers ROLLBACK.
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

// query executes internal statements and returns all their rows as text.
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

// rollback ends an open transaction, even after the run was cancelled.
func (r *postgresRun) rollback() {
	ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
	defer done()
	if !r.conn.IsClosed() && r.conn.TxStatus() != 'I' {
		_, _ = r.conn.Exec(ctx, "ROLLBACK").ReadAll() // closing the connection rolls back, too
	}
}

func (r *postgresRun) close() {
	ctx, done := context.WithTimeout(context.Background(), cancelTimeout)
	defer done()
	_ = r.conn.Close(ctx)
}

// quoteName quotes an identifier.
func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
