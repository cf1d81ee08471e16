package action

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// SQLSTATEs that the run handles.
const (
	undefinedTable  = "42P01"
	duplicateTable  = "42P07"
	duplicateType   = "42710" // a table's rows have a type, of the same name
	uniqueViolation = "23505"
	noPrivilege     = "42501"
	syntaxError     = "42601"
)

// postgresEffects creates the table of effects. The error for a login without permission shows it.
const postgresEffects = `CREATE TABLE IF NOT EXISTS %s (
	execution_id  uuid PRIMARY KEY,
	done_at       timestamptz NOT NULL DEFAULT now(),
	rows_affected bigint NOT NULL,
	job           text NOT NULL
)`

const postgresEffect = `INSERT INTO %s (execution_id, rows_affected, job)
VALUES ($1::text::uuid, 0, $2)
ON CONFLICT (execution_id) DO NOTHING`

const postgresEarlier = `SELECT extract(epoch FROM done_at) * 1000000, rows_affected FROM %s WHERE execution_id = '%s'`

const postgresOld = `DELETE FROM %[1]s WHERE execution_id IN (
	SELECT execution_id FROM %[1]s
	WHERE execution_id < '%[2]s' AND done_at < now() - interval '%[3]d days'
	LIMIT %[4]d
)`

func (r *postgresRun) effectTableName() string { return quoteName(r.schema) + "." + effectTable }

// insertEffect writes the effect, or finds that of an earlier attempt. If another attempt
// is running, the insert waits until its transaction ends.
func (r *postgresRun) insertEffect(ctx context.Context) error {
	args := [][]byte{[]byte(r.w.execution.String()), []byte(r.w.job)}
	result := r.conn.ExecParams(ctx, fmt.Sprintf(postgresEffect, r.effectTableName()), args, nil, nil, nil).Read()
	if result.Err != nil {
		return r.explainDenied(postgresFailure("", piece{}, result.Err))
	}
	if result.CommandTag.RowsAffected() > 0 {
		return nil
	}
	rows, err := r.query(ctx, fmt.Sprintf(postgresEarlier, r.effectTableName(), r.w.execution))
	if err != nil {
		return r.explainDenied(err)
	}
	if len(rows) == 0 { // removed since the insert
		return failed(codeTransaction, "the row of an earlier attempt in %s was removed during the run; the next attempt writes it again", effectTable)
	}
	micros, _ := strconv.ParseFloat(rows[0][0], 64) // the server returns a number
	r.result.earlier = time.UnixMicro(int64(micros))
	r.result.affected, err = strconv.ParseInt(rows[0][1], 10, 64)
	return err
}

// createEffectTable creates the table outside of a transaction. If another process does
// so at the same time, the server reports one of three errors.
func (r *postgresRun) createEffectTable(ctx context.Context) error {
	_, err := r.query(ctx, fmt.Sprintf(postgresEffects, r.effectTableName()))
	if isState(err, uniqueViolation) || isState(err, duplicateTable) || isState(err, duplicateType) {
		return nil
	}
	return r.explainDenied(err)
}

// explainDenied adds the remedy for an administrator to an error about missing privileges.
func (r *postgresRun) explainDenied(err error) error {
	var of *sqlFailure
	if !errors.As(err, &of) || of.code != noPrivilege {
		return err
	}
	return failed(noPrivilege, "the login may not use the table of effects, which makes each job execute exactly once: %w; ask an administrator to run: %s; GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO the login",
		err, brief(fmt.Sprintf(postgresEffects, r.effectTableName())), r.effectTableName())
}

// removeOld removes old effects. What it does not finish is left to the next time.
func (r *postgresRun) removeOld() {
	ctx, done := context.WithTimeout(context.Background(), effectCleanTimeout)
	defer done()
	_, _ = r.query(ctx, fmt.Sprintf(postgresOld, r.effectTableName(), minExecutionID(time.Now().Add(-effectRetention)), int(effectRetention/(24*time.Hour)), effectCleanRows))
}

func isState(err error, code string) bool {
	var of *sqlFailure
	return errors.As(err, &of) && of.code == code
}

// postgresFailure converts an error of the server and adds the line and column in the
// script.
func postgresFailure(script string, p piece, err error) error {
	var of *pgconn.PgError
	if !errors.As(err, &of) {
		if err == nil || isRunError(err) {
			return err
		}
		return failed(codeConnect, "the connection was lost: %s", brief(err.Error()))
	}
	f := &sqlFailure{code: of.Code, text: of.Message, hint: of.Hint, syntax: of.Code == syntaxError}
	switch {
	case script == "":
	case of.Position > 0:
		f.line, f.column = lineAndColumn(script, p.start+byteOffset(p.text, int(of.Position)))
	default:
		f.line, _ = lineAndColumn(script, p.start)
	}
	return f
}

func isRunError(err error) bool {
	var own *failure
	var of *sqlFailure
	return errors.As(err, &own) || errors.As(err, &of)
}
