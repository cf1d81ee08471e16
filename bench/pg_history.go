package main

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota"
)

const (
	pgHistoryCase   = "postgres/history"
	pgHistorySize   = 1_000_000 // finished jobs
	pgHistoryRounds = 12        // batches of each side in a run
	pgHistoryMost   = 1.3       // times the cost without history
)

// The names of the sides.
const (
	pgNoHistory   = "without history"
	pgMuchHistory = "with history"
)

func pgHistoryBenchmark() benchmark {
	return benchmark{
		cases: []string{pgHistoryCase},
		bars: []bar{
			{caseName: pgHistoryCase, subject: pgMuchHistory, against: pgNoHistory, most: pgHistoryMost},
			{caseName: pgHistoryCase + serverTail, subject: pgMuchHistory, against: pgNoHistory, most: pgHistoryMost, goal: true},
		},
		run: runPgHistory, end: endPgHistory,
	}
}

// runPgHistory claims and completes batches in both databases in turns.
func runPgHistory(b *bench) error {
	rounds, size := b.sized(pgHistoryRounds, 3), b.sized(pgBatch, 10)
	sides, err := pgSides(b, size)
	if err != nil {
		return err
	}
	if err := compareSides(b, pgHistoryCase, rounds, size, sides...); err != nil {
		return err
	}
	for _, s := range sides {
		if err := s.loop.close(); err != nil {
			return err
		}
	}
	defer sides[0].db.drop()
	b.historyDone += (rounds + 1) * size
	return sides[0].db.audit(b.ctx, counts{completed: (rounds + 1) * size})
}

// pgSides opens both stores. The store without history is new in each run.
func pgSides(b *bench, size int) (sides []*pgSide, err error) {
	without, err := b.database("history_none")
	if err != nil {
		return nil, err
	}
	if b.history == nil {
		if b.history, err = createHistory(b, b.sized(pgHistorySize, 1000)); err != nil {
			return nil, err
		}
	}
	sides = []*pgSide{{name: pgNoHistory, db: without}, {name: pgMuchHistory, db: b.history}}
	for _, s := range sides {
		if s.loop, err = openPgRotaBatchQueue(b.ctx, s.db, size); err != nil {
			return nil, err
		}
	}
	return sides, nil
}

// endPgHistory audits the large database.
func endPgHistory(b *bench) error {
	return b.history.audit(b.ctx, counts{completed: b.sized(pgHistorySize, 1000) + b.historyDone})
}

// Jobs that were completed a millisecond apart, before now. Their ids begin with the time, as the ids that Rota
// generates do. The triggers refuse inserts of ended rows; in the role of a replica they do not run.
const (
	pgHistoryReplica = `SET session_replication_role = replica`
	pgHistoryFill    = `
INSERT INTO rota.jobs (
  id, type, status, priority, position, max_attempts, backoff, timeout, params,
  created_at, queued_at, started_at, finished_at, sequel, run_id, token, runner, life, heartbeat_at, stale_after, ended_at, outcome)
SELECT
  (v.stamp || '7' || substr(v.mark, 1, 3) || '8' || substr(v.mark, 4, 15))::uuid, $1, 'RUNNING', 0, v.g * $2, $3, $4, $5, $6,
  v.at, v.at, v.at, v.at, 'none', (v.stamp || '7' || substr(v.mark, 8, 3) || '8' || substr(v.mark, 11, 15))::uuid,
  gen_random_uuid(), $7, $8, v.at, v.at, v.at, 'COMPLETED'
FROM (
  SELECT g, at, lpad(to_hex(at / 1000), 12, '0') AS stamp, md5(g::text) AS mark
  FROM (
    SELECT g, $9::bigint - ($10::bigint - g) * 1000 AS at
    FROM generate_series(1, $10::bigint) AS g) AS t) AS v`
	pgHistoryVacuum     = `VACUUM (FREEZE, ANALYZE) rota.jobs`
	pgHistoryCheckpoint = `CHECKPOINT`
)

// createHistory creates a database with many finished jobs, vacuumed and checkpointed.
func createHistory(b *bench, size int) (*database, error) {
	db, err := b.database("history_much")
	if err != nil {
		return nil, err
	}
	if err := db.createStore(); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(b.ctx, db.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(b.ctx)
	if _, err := conn.Exec(b.ctx, pgHistoryReplica); err != nil {
		return nil, err
	}
	_, err = conn.Exec(b.ctx, pgHistoryFill, jobType, int64(rota.PositionGap), int32(rota.DefaultMaxRetries+1),
		rota.DefaultBackoff.Microseconds(), rota.DefaultTimeout.Microseconds(), paramsText(), worker, uuidOf(incarnation),
		time.Now().UnixMicro(), int64(size))
	for _, sql := range []string{pgHistoryVacuum, pgHistoryCheckpoint} {
		if err == nil {
			_, err = conn.Exec(b.ctx, sql)
		}
	}
	return db, err
}
