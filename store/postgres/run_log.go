package postgres

import (
	"context"
	"math"
	"time"

	"github.com/rotajobs/rota"
)

var _ rota.LogStore = (*Store)(nil)

const (
	// A transaction that is not durable does not wait for the disk. The write-ahead log is sequential, so
	// the commit of the batch that records the end of a run makes its log durable, too. A durable one
	// leaves the setting of the server as it is.
	sqlLogSettings = `
SELECT set_config('lock_timeout', $1, true), set_config('statement_timeout', $2, true),
  CASE WHEN $3 THEN '' ELSE set_config('synchronous_commit', 'off', true) END`
	sqlReplaceLogs = `
DELETE FROM rota_log_chunks
WHERE job_id = ANY($1)`
	sqlAppendLogs = `
INSERT INTO rota_log_chunks (job_id, byte_offset, length, deflated, started_at, data)
SELECT *
FROM unnest($1::uuid[], $2::bigint[], $3::integer[], $4::boolean[], $5::bigint[], $6::bytea[])
ON CONFLICT (job_id, byte_offset) DO NOTHING`
	// The inner limit bounds what the sum reads. The first subselect finds the chunk that contains the
	// offset by the primary key.
	sqlReadLog = `
SELECT c.byte_offset, c.length, c.deflated, c.data
FROM (
  SELECT l.*, sum(l.length) OVER (ORDER BY l.byte_offset) - l.length AS before
  FROM rota_log_chunks l
  WHERE l.job_id = $1 AND l.byte_offset >= coalesce((
    SELECT max(f.byte_offset)
    FROM rota_log_chunks f
    WHERE f.job_id = $1 AND f.byte_offset <= $2), 0) AND l.byte_offset + l.length > $4
  ORDER BY l.byte_offset
  LIMIT 1000
) c
WHERE c.before < $3
ORDER BY c.byte_offset`
	// A page ends inside of one log at most, and what it leaves of it is the end.
	sqlPruneLogs = `
WITH old AS (
  SELECT l.job_id, l.byte_offset
  FROM rota_log_chunks l
  WHERE l.started_at < $1
  ORDER BY l.started_at, l.job_id, l.byte_offset
  LIMIT $2
), removed AS (
  DELETE FROM rota_log_chunks c
  USING old
  WHERE c.job_id = old.job_id AND c.byte_offset = old.byte_offset
  RETURNING 1
)
SELECT count(*)
FROM removed`
)

// AppendLog stores chunks of logs in one transaction and one round trip.
func (s *Store) AppendLog(ctx context.Context, chunks []rota.LogChunk, durable bool) error {
	if s.config.ReadOnly {
		return &rota.Error{Code: rota.Conflict, Act: "postgres: append log", Reason: "the store is opened read-only", Hint: "open it without ReadOnly to store logs"}
	}
	n := len(chunks)
	jobs, offsets, lengths := newColumn(oidIDs, n), newColumn(oidInts, n), newColumn(oidInt4s, n)
	deflated, started, data := newColumn(oidBools, n), newColumn(oidInts, n), newColumn(oidByteas, n)
	var replaced []rota.ID
	for i := range chunks {
		c := &chunks[i]
		if c.Replaces {
			replaced = append(replaced, c.JobID)
		}
		jobs.ID(c.JobID)
		offsets.Int(c.Offset)
		lengths.Small(c.Length)
		deflated.Bool(c.Deflated)
		started.time(c.StartedAt)
		data.bytes(c.Data)
	}
	statements := []statement{{sql: sqlLogSettings, params: []param{textNotNull(lockTimeout), textNotNull(statementTimeout), boolParam(durable)}}}
	if len(replaced) > 0 {
		statements = append(statements, statement{sql: sqlReplaceLogs, params: []param{idsParam(replaced)}})
	}
	return s.query(ctx, "append log", append(statements, statement{sql: sqlAppendLogs, params: []param{
		jobs.param(), offsets.param(), lengths.param(), deflated.param(), started.param(), data.param(),
	}})...)
}

// ReadLog returns chunks of a log in order.
func (s *Store) ReadLog(ctx context.Context, job rota.ID, offset int64, bytes int) (chunks []rota.LogChunk, err error) {
	from := offset
	if offset < 0 {
		from = math.MaxInt64
	}
	err = s.query(ctx, "read log", withoutSeqScan, statement{
		sql: sqlReadLog, params: []param{idParam(job), intParam(from), intParam(int64(bytes)), intParam(offset)},
		eachRow: func(r row) error {
			chunks = append(chunks, rota.LogChunk{JobID: job, Offset: r.Int(0), Length: int(r.Int(1)), Deflated: r.Bool(2), Data: []byte(r.Text(3))})
			return nil
		},
	})
	return chunks, err
}

// PruneLogs removes chunks of old runs.
func (s *Store) PruneLogs(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = s.query(ctx, "prune logs", withoutSeqScan, statement{sql: sqlPruneLogs, params: []param{timeParam(before), intParam(int64(limit))}, eachRow: func(r row) error {
		removed = int(r.Int(0))
		return nil
	}})
	return removed, err
}
