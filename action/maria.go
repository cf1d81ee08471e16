package action

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
)

// mariaDB is a target on a MariaDB or MySQL server.
type mariaDB struct{ login }

// do executes a work on its own connection, so that no session setting outlives it.
func (d *mariaDB) do(ctx context.Context, w *work) (*workResult, error) {
	pieces := split(dialectMaria, w.script)
	if w.call == nil {
		if err := refuse(dialectMaria, w.script, pieces); err != nil {
			return nil, err
		}
	}
	config, err := mariaConfig(d.url)
	if err != nil { // CheckTargets has checked it
		return nil, permanentFailure(codeTarget, "its URL cannot be used: %w", err)
	}
	r := &mariaRun{config: config, w: w, pieces: pieces}
	defer r.close()
	if err := r.connect(ctx); err != nil {
		return nil, err
	}
	if err := r.runCancellable(ctx); err != nil {
		return nil, err
	}
	if w.cleanUp {
		r.removeOld()
	}
	return &r.result, nil
}

// mariaRun is one run on its connection.
type mariaRun struct {
	config *mysql.Config
	w      *work
	pieces []piece
	db     *sql.DB
	conn   *sql.Conn
	id     int64 // of the connection, for KILL
	result workResult
}

func (r *mariaRun) connect(ctx context.Context) error {
	connector, err := mysql.NewConnector(r.config)
	if err != nil {
		return permanentFailure(codeTarget, "its URL cannot be used: %w", err)
	}
	r.db = sql.OpenDB(connector)
	ctx, done := context.WithTimeout(ctx, connectTimeout)
	defer done()
	var version string
	if r.conn, err = r.db.Conn(ctx); err == nil {
		err = r.conn.QueryRowContext(ctx, "SELECT CONNECTION_ID(), VERSION()").Scan(&r.id, &version)
	}
	if err == nil && !r.w.deadline.IsZero() {
		_, err = r.conn.ExecContext(ctx, mariaTimeout(version, r.w.deadline))
	}
	var of *mysql.MySQLError
	if err != nil && !errors.As(err, &of) {
		return unreachable(err)
	}
	return mariaFailure("", piece{}, err)
}

// mariaTimeout limits each statement in the server, in case this process ends before it
// can cancel the statement. MySQL can do so for SELECT alone.
func mariaTimeout(version string, deadline time.Time) string {
	left := secondsUntil(deadline.Add(timeoutMargin))
	if strings.Contains(version, "MariaDB") {
		return fmt.Sprintf("SET SESSION max_statement_time = %.3f", left)
	}
	return fmt.Sprintf("SET SESSION max_execution_time = %d", int64(left*1000))
}

// runCancellable executes the work with a canceller that stops the statement in the
// server when ctx ends. The connection itself uses a context without cancellation:
// otherwise the driver closes the connection and the statement continues.
func (r *mariaRun) runCancellable(ctx context.Context) error {
	run, closeConn := context.WithCancel(context.WithoutCancel(ctx))
	defer closeConn()
	k := r.newCanceller(closeConn)
	stop := context.AfterFunc(ctx, k.run)
	err := r.work(ctx, run)
	if !stop() {
		k.stop()
	}
	if err != nil {
		r.rollback(run)
	}
	return err
}

// work executes the run and commits. It checks ctx between statements, because a
// killed statement may look like one that has completed.
func (r *mariaRun) work(ctx, run context.Context) error {
	if r.w.call == nil && len(r.pieces) == 1 && commitsImplicitly(r.pieces[0].words) {
		return r.runImplicitCommit(ctx, run)
	}
	if err := r.begin(run); err != nil || !r.result.earlier.IsZero() {
		return err
	}
	mark := "rota_" + strings.ReplaceAll(r.w.execution.String(), "-", "")
	if err := r.exec(run, "SAVEPOINT "+mark); err != nil {
		return err
	}
	if err := r.statements(ctx, run); err != nil {
		return err
	}
	// The savepoint ends with the transaction, so it shows whether that is still open.
	err := r.exec(run, "RELEASE SAVEPOINT "+mark)
	if hasNumber(err, noSavepoint) {
		return permanentFailure(codeTransaction, "a statement, or a procedure that it called, has ended the transaction of the run; earlier changes may be committed")
	}
	if err == nil {
		err = r.exec(run, "UPDATE "+r.effectTableName()+" SET rows_affected = ? WHERE execution_id = ?", r.result.affected, r.w.execution.String())
	}
	if err == nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		err = r.exec(run, "COMMIT")
	}
	return err
}

func (r *mariaRun) statements(ctx, run context.Context) error {
	if r.w.call != nil {
		return r.call(run)
	}
	for _, p := range r.pieces {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.statement(run, p.text); err != nil {
			return mariaFailure(r.w.script, p, err)
		}
	}
	return nil
}

// call calls a procedure with bound arguments.
func (r *mariaRun) call(ctx context.Context) error {
	name, err := parseName(r.w.call.Procedure, '`')
	if err != nil {
		return err
	}
	texts, err := r.w.call.texts()
	if err != nil {
		return err
	}
	args := make([]any, len(texts))
	for i, text := range texts {
		if text != nil {
			args[i] = mariaArg(r.w.call.Args[i], text)
		}
	}
	signs := strings.TrimSuffix(strings.Repeat("?, ", len(args)), ", ")
	return mariaFailure("", piece{}, r.statement(ctx, fmt.Sprintf("CALL %s(%s)", name.quoted('`'), signs), args...))
}

// mariaArg converts true and false to 1 and 0, which MariaDB expects.
func mariaArg(arg []byte, text []byte) any {
	switch strings.TrimSpace(string(arg)) {
	case "true":
		return 1
	case "false":
		return 0
	}
	return string(text)
}

func (r *mariaRun) exec(ctx context.Context, text string, args ...any) error {
	_, err := r.conn.ExecContext(ctx, text, args...)
	return mariaFailure("", piece{}, err)
}

func (r *mariaRun) rollback(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, cancelTimeout)
	defer done()
	_, _ = r.conn.ExecContext(ctx, "ROLLBACK") // closing the connection rolls back, too
}

func (r *mariaRun) close() {
	if r.conn != nil {
		_ = r.conn.Close()
	}
	if r.db != nil {
		_ = r.db.Close()
	}
}

// Error numbers that the run handles.
const (
	noSuchTable  = 1146
	duplicateKey = 1062
	parseError   = 1064
	noSavepoint  = 1305
)

func hasNumber(err error, number uint16) bool {
	var of *mysql.MySQLError
	return errors.As(err, &of) && of.Number == number
}

// mariaError is an error of the server. It keeps the error number for hasNumber.
type mariaError struct {
	*sqlFailure
	cause error
}

func (e *mariaError) Unwrap() []error { return []error{e.sqlFailure, e.cause} }

var atLine = regexp.MustCompile(` at line ([0-9]+)$`)

// mariaFailure converts an error of the server and adds the line in the script. MariaDB
// reports lines relative to the beginning of the statement.
func mariaFailure(script string, p piece, err error) error {
	var of *mysql.MySQLError
	switch {
	case err == nil || isRunError(err):
		return err
	case !errors.As(err, &of):
		return failed(codeConnect, "the connection was lost: %s", brief(err.Error()))
	}
	f := &sqlFailure{code: string(of.SQLState[:]), text: of.Message, syntax: of.Number == parseError}
	if script != "" {
		f.line, _ = lineAndColumn(script, p.start)
		if m := atLine.FindStringSubmatch(f.text); m != nil {
			n, _ := strconv.Atoi(m[1]) // of digits alone
			f.line, f.text = f.line+n-1, strings.TrimSuffix(f.text, m[0])
		}
	}
	return &mariaError{f, of}
}
