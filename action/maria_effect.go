package action

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// mariaEffects creates the table of effects. The error for a login without permission shows it.
const mariaEffects = `CREATE TABLE IF NOT EXISTS %s (
	execution_id  CHAR(36) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY,
	done_at       DATETIME(6) NOT NULL,
	rows_affected BIGINT NOT NULL,
	job           TEXT CHARACTER SET utf8mb4 NOT NULL
) ENGINE = InnoDB`

const mariaEffect = `INSERT INTO %s (execution_id, done_at, rows_affected, job) VALUES (?, UTC_TIMESTAMP(6), ?, ?)`

const mariaEarlier = `SELECT CAST(UNIX_TIMESTAMP(CONVERT_TZ(done_at, '+00:00', @@session.time_zone)) * 1000000 AS SIGNED), rows_affected
FROM %s WHERE execution_id = ? LOCK IN SHARE MODE`

const mariaOld = `DELETE FROM %s WHERE execution_id < ? AND done_at < UTC_TIMESTAMP(6) - INTERVAL %d DAY LIMIT %d`

// mariaDenied are the errors about missing privileges: table, database, global.
var mariaDenied = []uint16{1142, 1044, 1227}

func (r *mariaRun) effectTableName() string {
	return "`" + strings.ReplaceAll(r.config.DBName, "`", "``") + "`." + effectTable
}

// begin begins the transaction and writes the effect into it. It
// creates a missing table, which ends the transaction, and begins again.
func (r *mariaRun) begin(ctx context.Context) error {
	for again := false; ; again = true {
		err := r.exec(ctx, "START TRANSACTION READ WRITE")
		if err == nil {
			err = r.insertEffect(ctx)
		}
		if !hasNumber(err, noSuchTable) || again {
			return r.explainDenied(err)
		}
		if err := r.createEffectTable(ctx); err != nil {
			return err
		}
	}
}

// insertEffect writes the effect, or finds that of an earlier attempt. If another attempt
// is running, the server waits for the lock of its row.
func (r *mariaRun) insertEffect(ctx context.Context) error {
	err := r.exec(ctx, fmt.Sprintf(mariaEffect, r.effectTableName()), r.w.execution.String(), 0, r.w.job)
	if !hasNumber(err, duplicateKey) {
		return err
	}
	if _, err := r.earlier(ctx); err != nil {
		return err
	}
	return r.exec(ctx, "ROLLBACK")
}

// earlier reads the effect of an earlier attempt.
func (r *mariaRun) earlier(ctx context.Context) (found bool, err error) {
	rows, err := r.conn.QueryContext(ctx, fmt.Sprintf(mariaEarlier, r.effectTableName()), r.w.execution.String())
	if err != nil {
		return false, mariaFailure("", piece{}, err)
	}
	defer rows.Close()
	if !rows.Next() {
		return false, mariaFailure("", piece{}, rows.Err())
	}
	var micros int64
	if err := rows.Scan(&micros, &r.result.affected); err != nil {
		return false, err
	}
	r.result.earlier = time.UnixMicro(micros)
	return true, nil
}

// runImplicitCommit runs a statement that MariaDB commits implicitly. Its effect is read before
// it and written after it. A crash in between repeats the statement.
func (r *mariaRun) runImplicitCommit(ctx, run context.Context) error {
	found, err := r.earlier(run)
	if hasNumber(err, noSuchTable) {
		err = r.createEffectTable(run)
	}
	if err != nil || found {
		return r.explainDenied(err)
	}
	if err := r.statements(ctx, run); err != nil {
		return err
	}
	err = r.exec(run, fmt.Sprintf(mariaEffect, r.effectTableName()), r.w.execution.String(), r.result.affected, r.w.job)
	if hasNumber(err, duplicateKey) {
		return nil
	}
	return r.explainDenied(err)
}

func (r *mariaRun) createEffectTable(ctx context.Context) error {
	return r.explainDenied(r.exec(ctx, fmt.Sprintf(mariaEffects, r.effectTableName())))
}

// explainDenied adds the remedy for an administrator to an error about missing privileges.
func (r *mariaRun) explainDenied(err error) error {
	for _, number := range mariaDenied {
		if hasNumber(err, number) {
			return failed("42000", "the login may not use the table of effects, which makes each job execute exactly once: %w; ask an administrator to run: %s; GRANT SELECT, INSERT, UPDATE, DELETE ON %s TO the login",
				err, brief(fmt.Sprintf(mariaEffects, r.effectTableName())), r.effectTableName())
		}
	}
	return err
}

// removeOld removes old effects. What it does not finish is left to the next time.
func (r *mariaRun) removeOld() {
	ctx, done := context.WithTimeout(context.Background(), effectCleanTimeout)
	defer done()
	_ = r.exec(ctx, fmt.Sprintf(mariaOld, r.effectTableName(), int(effectRetention/(24*time.Hour)), effectCleanRows), minExecutionID(time.Now().Add(-effectRetention)).String())
}
