-- Executions: what was planned, one row each, to be read with any client. It is
-- the record that a scheduler keeps which has its lease and its audit in one row:
-- that row is there from the first dispatch on, and shows the last attempt that
-- was dispatched.

-- rota_time is a time as people read it. In two parts, since what is multiplied
-- with an interval has 53 bits, and microseconds need more after the year 2255.
CREATE FUNCTION rota_time(micros bigint) RETURNS timestamptz LANGUAGE sql STABLE AS $$
  SELECT timestamptz 'epoch' + micros / 1000000 * interval '1 second' + micros % 1000000 * interval '1 microsecond'
$$;

-- rota_document is a document as PostgreSQL searches it. It takes less than JSON
-- allows: no \u0000, no half of a pair, no number beyond its own. Such a document
-- is shown as the text that it is, or one row would keep all others from being read.
CREATE FUNCTION rota_document(doc text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN doc::jsonb;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN
  RETURN to_jsonb(doc);
END $$;

CREATE VIEW rota_executions AS
SELECT
  f.id,
  coalesce(f.name, f.type) AS job_name,
  coalesce(f.scope_kind, 'global') AS scope_kind,
  coalesce(f.scope_id, 'global') AS scope_id,
  rota_time(f.plan_time) AS plan_time,

  -- The record knows three states, and SUCCESS is what it measures lateness by. It
  -- says, as unique keys do, that what was planned is done: a run completed, or its
  -- worker found that there was nothing to do. What was cancelled, and what Rota
  -- skipped, is not: it is FAILED, and error_code tells it from what was tried.
  -- Stale is not a state, but RUNNING and stale_after < now(). Between two attempts
  -- it is FAILED with a next_retry_at.
  CASE
    WHEN j.outcome IS NULL THEN 'RUNNING'
    WHEN j.outcome = 'COMPLETED' OR (j.outcome = 'SKIPPED' AND j.runner <> '') THEN 'SUCCESS'
    ELSE 'FAILED' END AS status,
  j.attempt,
  j.max_attempts,
  rota_time(coalesce(r.run_at, r.created_at)) AS next_retry_at,
  nullif(j.runner, '') AS runner_id,

  -- Whoever knows the token of a lease can end its run, and whoever may read this
  -- view need not be who may do that.
  NULL::uuid AS lease_token,
  rota_time(j.heartbeat_at) AS heartbeat_at,
  rota_time(j.stale_after) AS stale_after,
  rota_time(j.started_at) AS started_at,
  rota_time(coalesce(j.ended_at, j.finished_at)) AS finished_at,
  CASE WHEN j.outcome IS NOT NULL -- a clock may have been set back
    THEN greatest(coalesce(j.ended_at, j.finished_at) - j.started_at, 0) / 1000 END AS duration_ms,
  j.rows_affected,
  coalesce(rota_document(j.result), '{}') AS result,
  coalesce(j.error_code, CASE WHEN j.outcome = 'CANCELLED' THEN 'cancelled' END) AS error_code,
  coalesce(j.error, CASE WHEN j.outcome = 'CANCELLED' THEN j.cancel_reason END) AS error_msg,
  rota_time(f.created_at) AS created_at,
  rota_time(greatest(j.started_at, j.heartbeat_at, j.cancel_at, j.ended_at, j.finished_at, r.created_at)) AS updated_at
FROM rota_jobs f                             -- the first attempt
CROSS JOIN LATERAL (
  WITH RECURSIVE chain (id, attempt) AS (
    SELECT f.id, f.attempt
    UNION ALL
    SELECT n.id, n.attempt
    FROM chain c
    JOIN rota_jobs n ON n.retry_of = c.id AND n.status = 'RUNNING'
  )
  SELECT c.id
  FROM chain c
  ORDER BY c.attempt DESC
  LIMIT 1) last
JOIN rota_jobs j ON j.id = last.id           -- the last that was dispatched
LEFT JOIN rota_jobs r ON r.retry_of = j.id AND r.status = 'QUEUED' -- the one that waits
WHERE f.plan_time IS NOT NULL AND f.retry_of IS NULL AND f.status = 'RUNNING';

COMMENT ON VIEW rota_executions IS 'planned executions from their first dispatch on, each as of its last attempt';
