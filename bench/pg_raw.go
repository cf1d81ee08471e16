package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/rotajobs/rota"
)

// The statements of the raw engine. It is spared what a store has to bear: each
// act is one statement, committed by itself. Run ids and tokens are minted
// here, as the store mints them, and come as arrays. A test holds the settings
// of its session to the store's source.
const (
	pgRawSession = `
SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan`
	pgRawCopy = `
COPY rota.jobs (id, type, priority, position, max_attempts, backoff, timeout, created_at, queued_at, params)
FROM STDIN (FORMAT binary)`
	pgRawClaim = `
UPDATE rota.jobs j
SET status = 'RUNNING', started_at = $3, run_id = ($5::uuid[])[h.n], token = ($6::uuid[])[h.n], runner = $7, life = $8,
  heartbeat_at = $3, stale_after = $4, claim_id = CASE WHEN h.n = 1 THEN $9::uuid END
FROM (
  SELECT c.id, row_number() OVER () AS n
  FROM (
    SELECT id
    FROM rota.jobs
    WHERE type = $1 AND status = 'QUEUED' AND hold = 0
    ORDER BY priority DESC, position, created_at, id
    LIMIT $2
    FOR UPDATE SKIP LOCKED) c) h
WHERE j.id = h.id
RETURNING j.id, j.token, j.params, j.execution_id, j.retry_of, j.run_id, j.type, j.status, j.hold, j.priority, j.position,
  j.attempt, j.max_attempts, j.sequel, j.backoff, j.backoff_max, j.jitter, j.timeout,
  j.created_at, j.queued_at, j.started_at, j.finished_at, j.run_at, j.plan_time,
  j.scope_kind, j.scope_id, j.name, j.unique_key, j.unique_for, j.version, j.created_by,
  j.template, j.schedule, j.group_id, j.group_position, j.concurrency_key, j.counts_at, j.wait_from, j.wait_until,
  j.redrive_of, j.trace`
	pgRawFinish = `
UPDATE rota.jobs j
SET finished_at = $1, sequel = 'none', outcome = 'COMPLETED', ended_at = $1
FROM unnest($2::uuid[], $3::uuid[]) AS v (id, token)
WHERE j.id = v.id AND j.token = v.token AND j.outcome IS NULL`
)

func pgRawApplicant() pgApplicant {
	return pgApplicant{
		name: "raw",
		note: "pgx on the tables, indexes, CHECKs and triggers of the store, on one connection; 1,000 claimed, 1,000 finished, two commits; decides nothing, runs nothing:" +
			pgRawSession + ";" + pgRawClaim + ";" + pgRawFinish,
		open: func(ctx context.Context, db *database) (crew, error) {
			r, err := openPgRaw(ctx, db)
			return &pgRawCrew{db: db, raw: r}, err
		},
	}
}

// pgRaw is PostgreSQL alone: it makes the row changes that Rota makes, in the
// same tables, and decides nothing.
type pgRaw struct {
	conn *pgx.Conn
	tail int64 // the last position
}

// openPgRaw makes a store in a database, so the schema is the store's.
func openPgRaw(ctx context.Context, db *database) (*pgRaw, error) {
	if err := db.createStore(); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, db.url)
	if err != nil {
		return nil, err
	}
	_, err = conn.Exec(ctx, pgRawSession)
	return &pgRaw{conn: conn}, err
}

var pgRawColumns = []string{
	"id", "type", "priority", "position", "max_attempts", "backoff", "timeout", "created_at", "queued_at", "params",
}

// enqueue copies in a job for each params, in one statement.
func (r *pgRaw) enqueue(ctx context.Context, params []string) error {
	now, i := time.Now().UnixMicro(), 0
	_, err := r.conn.CopyFrom(ctx, pgx.Identifier{"rota", "jobs"}, pgRawColumns, pgx.CopyFromFunc(func() ([]any, error) {
		if i == len(params) {
			return nil, nil
		}
		r.tail += rota.PositionGap
		i++
		return []any{
			uuidOf(rota.NewID()), jobType, int32(0), r.tail, int32(rota.DefaultMaxRetries + 1), rota.DefaultBackoff.Microseconds(),
			rota.DefaultTimeout.Microseconds(), now, now, params[i-1],
		}, nil
	}))
	return err
}

func uuidOf(id rota.ID) pgtype.UUID { return pgtype.UUID{Bytes: id, Valid: true} }

// pgRawJob is a job that was claimed: what is needed to end it, and the rest of
// its row as it came.
type pgRawJob struct {
	id, token pgtype.UUID
	row       []byte
}

// claim takes the first n jobs.
func (r *pgRaw) claim(ctx context.Context, n int) ([]pgRawJob, error) {
	command := rota.NewID()
	runs, tokens := make(pgtype.FlatArray[pgtype.UUID], n), make(pgtype.FlatArray[pgtype.UUID], n)
	for i := range n {
		run := command // the ids of a claim's runs begin with its own time
		_, _ = rand.Read(run[6:])
		runs[i] = uuidOf(run)
		tokens[i].Valid = true
		_, _ = rand.Read(tokens[i].Bytes[:])
	}
	now := time.Now()
	rows, err := r.conn.Query(ctx, pgRawClaim, jobType, n, now.UnixMicro(), now.Add(rota.DefaultLease).UnixMicro(),
		runs, tokens, worker, uuidOf(incarnation), uuidOf(command))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	jobs := make([]pgRawJob, 0, n)
	for rows.Next() {
		values, j := rows.RawValues(), pgRawJob{}
		j.id.Valid, j.token.Valid = copy(j.id.Bytes[:], values[0]) == 16, copy(j.token.Bytes[:], values[1]) == 16
		for _, value := range values[2:] {
			j.row = append(j.row, value...)
		}
		jobs = append(jobs, j)
	}
	return jobs, rows.Err()
}

// finish completes jobs.
func (r *pgRaw) finish(ctx context.Context, jobs []pgRawJob) error {
	ids, tokens := make(pgtype.FlatArray[pgtype.UUID], len(jobs)), make(pgtype.FlatArray[pgtype.UUID], len(jobs))
	for i, j := range jobs {
		ids[i], tokens[i] = j.id, j.token
	}
	done, err := r.conn.Exec(ctx, pgRawFinish, time.Now().UnixMicro(), ids, tokens)
	if err == nil && done.RowsAffected() != int64(len(jobs)) {
		err = fmt.Errorf("%d of %d leases are lost", len(jobs)-int(done.RowsAffected()), len(jobs))
	}
	return err
}

// pgRawCrew is the raw engine in a loop.
type pgRawCrew struct {
	db  *database
	raw *pgRaw
}

func (c *pgRawCrew) fill(ctx context.Context, n int) error {
	for n > 0 {
		some := min(n, pgBatch)
		if err := c.raw.enqueue(ctx, repeatParams(some)); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

func (c *pgRawCrew) work(ctx context.Context, n int) error {
	for n > 0 {
		jobs, err := c.raw.claim(ctx, min(n, pgBatch))
		if err != nil {
			return err
		}
		if len(jobs) == 0 {
			return errors.New("the queue is empty")
		}
		if err := c.raw.finish(ctx, jobs); err != nil {
			return err
		}
		n -= len(jobs)
	}
	return nil
}

func (c *pgRawCrew) rest(context.Context) error { return nil }

func (c *pgRawCrew) close(ctx context.Context, n int) error {
	if err := c.raw.conn.Close(ctx); err != nil {
		return err
	}
	return c.db.audit(ctx, counts{completed: n})
}

func openPgRawLoop(ctx context.Context, db *database, n int) (loop, error) {
	r, err := openPgRaw(ctx, db)
	return &pgRawLoop{raw: r, batch: repeatParams(n)}, err
}

type pgRawLoop struct {
	raw   *pgRaw
	batch []string
}

func (e *pgRawLoop) enqueue(ctx context.Context) error { return e.raw.enqueue(ctx, e.batch) }

func (e *pgRawLoop) turn(ctx context.Context, n int) (first, last spent, err error) {
	var jobs []pgRawJob
	err = first.measure(func() (err error) {
		jobs, err = e.raw.claim(ctx, n)
		return err
	})
	if err == nil {
		err = last.measure(func() error { return e.raw.finish(ctx, jobs) })
	}
	return first, last, err
}

func (e *pgRawLoop) close() error { return e.raw.conn.Close(context.Background()) }
