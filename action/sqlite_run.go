package action

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// sqliteRun is one run on its connection.
type sqliteRun struct {
	conn   *sqlite.Conn
	w      *work
	wait   time.Duration // for other writers of the file
	guard  sqliteGuard
	result workResult
}

const sqliteEffects = `CREATE TABLE IF NOT EXISTS rota_effects (
	execution_id  TEXT PRIMARY KEY,
	done_at       TEXT NOT NULL,
	rows_affected INTEGER NOT NULL,
	job           TEXT NOT NULL
) WITHOUT ROWID`

const sqliteEffect = `INSERT INTO rota_effects (execution_id, done_at, rows_affected, job)
VALUES (?, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'), 0, ?)
ON CONFLICT (execution_id) DO NOTHING`

const sqliteEarlier = `SELECT done_at, rows_affected FROM rota_effects WHERE execution_id = ?`

const sqliteAffected = `UPDATE rota_effects SET rows_affected = ? WHERE execution_id = ?`

const sqliteOld = `DELETE FROM rota_effects
WHERE execution_id IN (SELECT execution_id FROM rota_effects WHERE execution_id < ? AND done_at < ? LIMIT ?)`

func (r *sqliteRun) do(ctx context.Context) (*workResult, error) {
	if err := r.begin(ctx); err != nil {
		r.rollback()
		return nil, sqliteFailure("", 0, err)
	}
	r.conn.SetInterrupt(ctx.Done())
	if err := r.work(); err != nil {
		r.rollback()
		return nil, err
	}
	if r.w.cleanUp {
		r.removeOld()
	}
	return &r.result, nil
}

// begin locks the file for writing, and waits for other writers.
func (r *sqliteRun) begin(ctx context.Context) error {
	held := &sqlFailure{code: sqlite.ResultBusy.String(), text: fmt.Sprintf("another writer has held the lock of the file for more than %v", r.wait)}
	ctx, done := context.WithTimeoutCause(ctx, r.wait, held)
	defer done()
	r.conn.SetInterrupt(ctx.Done())
	defer r.conn.SetInterrupt(nil)
	if err := r.conn.SetDefensive(true); err != nil {
		return err
	}
	for _, text := range []string{"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON", "PRAGMA trusted_schema = OFF", "BEGIN IMMEDIATE"} {
		if err := sqlitex.ExecuteTransient(r.conn, text, nil); err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
	}
	return nil
}

func (r *sqliteRun) work() error {
	done, err := r.insertEffect()
	if err != nil || done {
		return err
	}
	if err := r.script(); err != nil {
		return err
	}
	err = sqlitex.ExecuteTransient(r.conn, sqliteAffected, &sqlitex.ExecOptions{Args: []any{r.result.affected, r.w.execution.String()}})
	if err == nil {
		err = sqlitex.ExecuteTransient(r.conn, "COMMIT", nil)
	}
	return sqliteFailure("", 0, err)
}

// insertEffect writes the effect, or finds that of an earlier attempt.
func (r *sqliteRun) insertEffect() (done bool, err error) {
	id := r.w.execution.String()
	err = sqlitex.ExecuteTransient(r.conn, sqliteEffects, nil)
	if err == nil {
		err = sqlitex.ExecuteTransient(r.conn, sqliteEffect, &sqlitex.ExecOptions{Args: []any{id, r.w.job}})
	}
	if err != nil || r.conn.Changes() > 0 {
		return false, sqliteFailure("", 0, err)
	}
	err = sqlitex.ExecuteTransient(r.conn, sqliteEarlier, &sqlitex.ExecOptions{Args: []any{id}, ResultFunc: func(row *sqlite.Stmt) (err error) {
		r.result.affected = row.ColumnInt64(1)
		r.result.earlier, err = time.Parse(time.RFC3339Nano, row.ColumnText(0))
		return err
	}})
	if err == nil {
		err = sqlitex.ExecuteTransient(r.conn, "ROLLBACK", nil)
	}
	return true, sqliteFailure("", 0, err)
}

// script executes the statements in order. SQLite reports where each one ends. A later
// statement can be prepared only after an earlier one has created its tables.
func (r *sqliteRun) script() error {
	if err := r.conn.SetAuthorizer(&r.guard); err != nil {
		return err
	}
	defer func() { _ = r.conn.SetAuthorizer(nil) }()
	for at := r.nextStatement(0); at < len(r.w.script); {
		stmt, trailing, err := r.conn.PrepareTransient(r.w.script[at:])
		if err != nil {
			return r.statementError(at, err)
		}
		if err := r.statement(stmt); err != nil {
			return r.statementError(at, err)
		}
		if r.conn.AutocommitEnabled() {
			return permanentFailure(codeTransaction, "a statement has ended the transaction of the run")
		}
		at = r.nextStatement(len(r.w.script) - trailing)
	}
	return nil
}

func (r *sqliteRun) statement(stmt *sqlite.Stmt) (err error) {
	defer func() {
		if last := stmt.Finalize(); err == nil {
			err = last
		}
	}()
	if stmt.BindParamCount() > 0 {
		return permanentFailure(codeStatement, "it has the parameter %s, and a job cannot bind values; write the value itself", stmt.BindParamName(1))
	}
	before, err := r.changes()
	if err != nil {
		return err
	}
	if err := r.rows(stmt); err != nil {
		return err
	}
	after, err := r.changes()
	if after != before { // otherwise Changes belongs to an earlier statement
		r.result.affected += int64(r.conn.Changes())
	}
	r.result.statements++
	return err
}

func (r *sqliteRun) changes() (n int64, err error) {
	stmt, err := r.conn.Prepare("SELECT total_changes()")
	if err != nil {
		return 0, err
	}
	return sqlitex.ResultInt64(stmt)
}

// rows reads all rows, so that the statement completes, and keeps the first.
func (r *sqliteRun) rows(stmt *sqlite.Stmt) error {
	var shown *Rows
	if n := stmt.ColumnCount(); n > 0 {
		columns := make([]string, n)
		for i := range columns {
			columns[i] = validText([]byte(stmt.ColumnName(i)))
		}
		shown = newRows(columns)
		r.result.rows = shown
	}
	for {
		more, err := stmt.Step()
		if err != nil || !more {
			return err
		}
		if shown.full() {
			shown.Truncated = true
			continue
		}
		row := make([]any, stmt.ColumnCount())
		for i := range row {
			row[i] = sqliteValue(stmt, i)
		}
		shown.add(row)
	}
}

func sqliteValue(stmt *sqlite.Stmt, i int) any {
	switch stmt.ColumnType(i) {
	case sqlite.TypeInteger:
		return stmt.ColumnInt64(i)
	case sqlite.TypeFloat:
		return floatValue(stmt.ColumnFloat(i))
	case sqlite.TypeText:
		return validText([]byte(stmt.ColumnText(i)))
	case sqlite.TypeBlob:
		b := make([]byte, stmt.ColumnLen(i))
		return bytesValue(b[:stmt.ColumnBytes(i, b)])
	}
	return nil
}

// statementError converts an error of the statement at an offset to the error of the
// run.
func (r *sqliteRun) statementError(at int, err error) error {
	if sqlite.ErrCode(err) == sqlite.ResultAuth {
		line, _ := lineAndColumn(r.w.script, at)
		return permanentFailure(codeStatement, "line %d: it is refused: %s", line, r.guard.reason)
	}
	if offset, known := sqlite.ErrorOffset(err); known {
		return sqliteFailure(r.w.script, at+offset, err)
	}
	line, _ := lineAndColumn(r.w.script, at)
	return withLine(sqliteFailure("", 0, err), line)
}

// nextStatement is the offset of the next statement, after spaces, comments and empty
// statements.
func (r *sqliteRun) nextStatement(at int) int {
	s := &scanner{kind: dialectSQLite, text: r.w.script, at: at}
	for {
		if t := s.next(); t.kind != tokenSemicolon {
			return t.start
		}
	}
}

func (r *sqliteRun) rollback() {
	r.conn.SetInterrupt(nil)
	if !r.conn.AutocommitEnabled() {
		_ = sqlitex.ExecuteTransient(r.conn, "ROLLBACK", nil) // closing the connection rolls back, too
	}
}

// removeOld removes old effects. What it does not finish is left to the next time.
func (r *sqliteRun) removeOld() {
	ctx, done := context.WithTimeout(context.Background(), effectCleanTimeout)
	defer done()
	r.conn.SetInterrupt(ctx.Done())
	until := time.Now().Add(-effectRetention)
	_ = sqlitex.ExecuteTransient(r.conn, sqliteOld, &sqlitex.ExecOptions{
		Args: []any{minExecutionID(until).String(), until.UTC().Format(time.RFC3339), effectCleanRows},
	})
	r.conn.SetInterrupt(nil)
}

// sqliteFailure converts an error of SQLite and adds the line and column in the script.
func sqliteFailure(script string, offset int, err error) error {
	if err == nil || isRunError(err) {
		return err
	}
	code := sqlite.ErrCode(err)
	text := innermost(err).Error()
	text = strings.TrimPrefix(text, code.Message()+": ")
	f := &sqlFailure{code: code.String(), text: text}
	if script != "" {
		f.line, f.column = lineAndColumn(script, offset)
	}
	// SQLite has one code for a missing table and for a syntax error, so only the
	// text distinguishes them.
	f.syntax = code == sqlite.ResultError && (strings.HasSuffix(text, "syntax error") || text == "incomplete input" || strings.HasPrefix(text, "unrecognized token"))
	return f
}

func withLine(err error, line int) error {
	var of *sqlFailure
	if errors.As(err, &of) && of.line == 0 {
		of.line = line
	}
	return err
}

func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
