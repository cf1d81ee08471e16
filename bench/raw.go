package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// rawPragmas are those of the store's writer; a test compares them with its source.
var rawPragmas = []string{
	"PRAGMA journal_mode = WAL",
	"PRAGMA synchronous = FULL",
	"PRAGMA cache_size = -16384",
	"PRAGMA wal_autocheckpoint = 4000",
}

// If LIMIT is a bare parameter, SQLite plans by its value and compiles the statement again
// each time it is bound. The plus prevents that.
const (
	rawBegin  = `BEGIN IMMEDIATE`
	rawCommit = `COMMIT`
	rawInsert = `
INSERT OR ROLLBACK INTO rota_jobs (
  id, type, priority, position, max_attempts, backoff, timeout, created_at, queued_at, params)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	rawHeads = `
SELECT id, execution_id, retry_of, type, hold, priority, position, attempt, max_attempts, backoff, backoff_max,
  jitter, timeout, created_at, queued_at, run_at, plan_time, scope_kind, scope_id, name, unique_key, unique_for,
  version, created_by, params, template, schedule, group_id, group_position, concurrency_key, counts_at,
  wait_from, wait_until, redrive_of, owner
FROM rota_jobs INDEXED BY rota_jobs_claim
WHERE type = ? AND status = 'QUEUED' AND hold = 0
ORDER BY priority DESC, position, created_at, id
LIMIT +?`
	rawDispatch = `
UPDATE OR ROLLBACK rota_jobs
SET status = 'RUNNING', started_at = ?, run_id = ?, token = ?, runner = ?, life = ?, heartbeat_at = ?, stale_after = ?
WHERE id = ?`
	rawClose = `
UPDATE OR ROLLBACK rota_jobs
SET finished_at = ?1, sequel = 'none', outcome = 'COMPLETED', ended_at = ?1
WHERE id = ?2 AND token = ?3 AND outcome IS NULL`
)

// raw is SQLite without Rota: it makes the same row changes in the same tables, without any rules.
type raw struct {
	conn                                          *sqlite.Conn
	begin, commit, insert, heads, dispatch, ended *sqlite.Stmt
	tail                                          int64 // last position
	incarnation                                   rota.ID
}

// openRaw opens a file that a store created, so that the schema is the store's.
func openRaw(path string) (*raw, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return nil, err
	}
	r := &raw{conn: conn, incarnation: rota.NewID()}
	for _, pragma := range rawPragmas {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	for sql, stmt := range map[string]**sqlite.Stmt{
		rawBegin: &r.begin, rawCommit: &r.commit, rawInsert: &r.insert, rawHeads: &r.heads, rawDispatch: &r.dispatch,
		rawClose: &r.ended,
	} {
		if *stmt, err = conn.Prepare(sql); err != nil {
			_ = conn.Close()
			return nil, err
		}
	}
	return r, nil
}

func (r *raw) close() error { return r.conn.Close() }

// enqueue inserts one job per params, in one transaction.
func (r *raw) enqueue(params []string) error {
	if err := do(r.begin); err != nil {
		return err
	}
	now := time.Now().UnixMicro()
	for _, p := range params {
		r.tail += rota.PositionGap
		id, s := rota.NewID(), r.insert
		s.BindBytes(1, id[:])
		s.BindText(2, jobType)
		s.BindInt64(3, 0)
		s.BindInt64(4, r.tail)
		s.BindInt64(5, rota.DefaultMaxRetries+1)
		s.BindInt64(6, rota.DefaultBackoff.Microseconds())
		s.BindInt64(7, rota.DefaultTimeout.Microseconds())
		s.BindInt64(8, now)
		s.BindInt64(9, now)
		s.BindText(10, p)
		if err := do(s); err != nil {
			return err
		}
	}
	return do(r.commit)
}

// rawJob holds all columns of a claimed job, as a worker needs them.
type rawJob struct {
	id        rota.ID
	token     rota.Token
	jobType   string
	name, key string
	scope     [2]string
	createdBy string
	numbers   [12]int64
	jitter    float64
	ids       [3]rota.ID
	params    []byte
	relations rawRelations
}

// rawRelations are the references of a job to other rows, mostly empty.
type rawRelations struct {
	template, schedule, key string
	ids                     [2]rota.ID
	numbers                 [4]int64
}

// claim claims the first n jobs, in one transaction.
func (r *raw) claim(n int) ([]rawJob, error) {
	if err := do(r.begin); err != nil {
		return nil, err
	}
	jobs, err := r.readHeads(n)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	for i := range jobs {
		if err := r.lease(&jobs[i], now.UnixMicro(), now.Add(rota.DefaultLease).UnixMicro()); err != nil {
			return nil, err
		}
	}
	return jobs, do(r.commit)
}

func (r *raw) readHeads(n int) ([]rawJob, error) {
	jobs := make([]rawJob, 0, n)
	r.heads.BindText(1, jobType)
	r.heads.BindInt64(2, int64(n))
	for {
		more, err := r.heads.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			return jobs, r.heads.Reset()
		}
		jobs = append(jobs, scanRaw(r.heads))
	}
}

func scanRaw(s *sqlite.Stmt) (j rawJob) {
	s.ColumnBytes(0, j.id[:])
	for i, col := range []int{1, 2, 22} {
		s.ColumnBytes(col, j.ids[i][:])
	}
	for i, col := range []int{4, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16} {
		j.numbers[i] = s.ColumnInt64(col)
	}
	j.jitter = s.ColumnFloat(11)
	j.jobType, j.name, j.key, j.createdBy = s.ColumnText(3), s.ColumnText(19), s.ColumnText(20), s.ColumnText(23)
	j.scope = [2]string{s.ColumnText(17), s.ColumnText(18)}
	j.params = make([]byte, s.ColumnLen(24))
	s.ColumnBytes(24, j.params)
	j.relations.scan(s)
	return j
}

// scan checks each column for NULL before it reads it, as the store does.
func (c *rawRelations) scan(s *sqlite.Stmt) {
	for i, text := range [...]*string{&c.template, &c.schedule, &c.key} {
		if col := [...]int{25, 26, 29}[i]; !s.ColumnIsNull(col) {
			*text = s.ColumnText(col)
		}
	}
	for i, col := range [...]int{27, 33} {
		if !s.ColumnIsNull(col) {
			s.ColumnBytes(col, c.ids[i][:])
		}
	}
	for i, col := range [...]int{28, 30, 31, 32} {
		if !s.ColumnIsNull(col) {
			c.numbers[i] = s.ColumnInt64(col)
		}
	}
}

func (r *raw) lease(j *rawJob, now, stale int64) error {
	_, _ = rand.Read(j.token[:]) // never fails
	run, s := rota.NewID(), r.dispatch
	s.BindInt64(1, now)
	s.BindBytes(2, run[:])
	s.BindBytes(3, j.token[:])
	s.BindText(4, worker)
	s.BindBytes(5, r.incarnation[:])
	s.BindInt64(6, now)
	s.BindInt64(7, stale)
	s.BindBytes(8, j.id[:])
	return do(s)
}

// finish completes jobs, in one transaction.
func (r *raw) finish(jobs []rawJob) error {
	if err := do(r.begin); err != nil {
		return err
	}
	now := time.Now().UnixMicro()
	for i := range jobs {
		j, s := &jobs[i], r.ended
		s.BindInt64(1, now)
		s.BindBytes(2, j.id[:])
		s.BindBytes(3, j.token[:])
		if err := do(s); err != nil {
			return err
		}
		if r.conn.Changes() != 1 {
			return fmt.Errorf("the lease of job %s is lost", j.id)
		}
	}
	return do(r.commit)
}

// do executes a bound statement that returns no rows.
func do(s *sqlite.Stmt) error {
	_, err := s.Step()
	if resetErr := s.Reset(); err == nil {
		err = resetErr
	}
	return err
}

// explainRaw adds the statements of the raw engine to the report.
func explainRaw(b *bench, what string, statements ...string) {
	body := "on a file that the store created (the same tables, indexes, CHECKs and triggers), opened with\n" +
		strings.Join(rawPragmas, "; ") + "\n" + strings.Join(statements, "\n")
	b.report.explain("raw, "+what, body)
}

// copyFile copies a file, so that two subjects start with the same content.
func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o666)
}
