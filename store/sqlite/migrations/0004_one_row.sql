-- One row: a job has at most one run, so its run stands beside it. A claim and
-- an end are then one change of one row each, and nothing is joined.
--
-- The run's start is the job's. Its end is not, where a crash came between.

DROP TRIGGER rota_jobs_enter_retry;
DROP TRIGGER rota_jobs_status;
DROP TRIGGER rota_jobs_once;
DROP TRIGGER rota_jobs_close;
DROP TRIGGER rota_jobs_left;

ALTER TABLE rota_jobs ADD COLUMN token BLOB;
ALTER TABLE rota_jobs ADD COLUMN runner TEXT -- NULL: it has no run; empty: nobody ran it
  CHECK (runner IS NULL OR (status = 'RUNNING' AND token IS NOT NULL));
ALTER TABLE rota_jobs ADD COLUMN life BLOB;
ALTER TABLE rota_jobs ADD COLUMN heartbeat_at INTEGER;
ALTER TABLE rota_jobs ADD COLUMN stale_after INTEGER
  CHECK (runner IS NULL OR (heartbeat_at IS NOT NULL AND stale_after IS NOT NULL));
ALTER TABLE rota_jobs ADD COLUMN outcome TEXT
  CHECK (outcome IS NULL OR (runner IS NOT NULL
    AND (outcome = 'COMPLETED' OR outcome = 'FAILED' OR outcome = 'SKIPPED' OR outcome = 'CANCELLED')));
ALTER TABLE rota_jobs ADD COLUMN ended_at INTEGER
  CHECK (ended_at IS NULL OR outcome IS NOT NULL);
ALTER TABLE rota_jobs ADD COLUMN exit_code INTEGER;
ALTER TABLE rota_jobs ADD COLUMN error_code TEXT;
ALTER TABLE rota_jobs ADD COLUMN error TEXT;
ALTER TABLE rota_jobs ADD COLUMN rows_affected INTEGER;
ALTER TABLE rota_jobs ADD COLUMN cancel_at INTEGER;
ALTER TABLE rota_jobs ADD COLUMN cancel_by TEXT;
ALTER TABLE rota_jobs ADD COLUMN cancel_reason TEXT;
ALTER TABLE rota_jobs ADD COLUMN progress TEXT;
ALTER TABLE rota_jobs ADD COLUMN log_path TEXT;
ALTER TABLE rota_jobs ADD COLUMN artifacts TEXT; -- one JSON string a line, only ever appended to
ALTER TABLE rota_jobs ADD COLUMN result TEXT
  CHECK (runner IS NOT NULL OR coalesce(token, life, heartbeat_at, stale_after, exit_code, error_code, error, rows_affected,
    cancel_at, cancel_by, cancel_reason, progress, log_path, artifacts, result) IS NULL);

UPDATE rota_jobs
SET token = r.token, runner = r.runner, life = r.life, heartbeat_at = r.heartbeat_at, stale_after = r.stale_after,
  outcome = r.outcome, ended_at = r.finished_at, exit_code = r.exit_code, error_code = r.error_code, error = r.error,
  rows_affected = r.rows_affected, cancel_at = r.cancel_at, cancel_by = r.cancel_by, cancel_reason = r.cancel_reason,
  progress = r.progress, log_path = r.log_path, artifacts = r.artifacts, result = r.result
FROM rota_runs r
WHERE r.job_id = rota_jobs.id;

DROP TABLE rota_runs;

CREATE TRIGGER rota_jobs_enter_retry BEFORE INSERT ON rota_jobs WHEN NEW.retry_of IS NOT NULL BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job has at most one retry')
    WHERE EXISTS (SELECT 1 FROM rota_jobs WHERE retry_of = NEW.retry_of);
  SELECT RAISE(ROLLBACK, 'rota: a retry continues the chain of the job it retries')
    WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.retry_of
      AND attempt = NEW.attempt - 1 AND coalesce(execution_id, id) = NEW.execution_id);
  SELECT RAISE(ROLLBACK, 'rota: only a run that failed is retried')
    WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.retry_of AND outcome IN ('FAILED', 'CANCELLED'));
END;

-- A trigger costs more by being called than by what it looks at. So there is one
-- for what a claim and a heartbeat write, and one for what an end does, each with
-- a WHEN that is false where nothing is wrong. They come AFTER the change: behind
-- one that comes before, SQLite looks for the row and reads it a second time.

CREATE TRIGGER rota_jobs_start AFTER UPDATE OF
  status, queued_at, started_at, run_id, token, runner, life, heartbeat_at, stale_after
ON rota_jobs
WHEN OLD.status <> 'QUEUED' OR (OLD.queued_at IS NOT NULL AND NEW.queued_at IS NOT OLD.queued_at)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job that has left QUEUED keeps its status')
    WHERE NEW.status <> OLD.status AND OLD.status <> 'QUEUED';
  SELECT RAISE(ROLLBACK, 'rota: the times, the run and the sequel of a job are written once')
    WHERE (OLD.queued_at IS NOT NULL AND NEW.queued_at IS NOT OLD.queued_at)
      OR (OLD.started_at IS NOT NULL AND NEW.started_at IS NOT OLD.started_at)
      OR (OLD.run_id IS NOT NULL AND NEW.run_id IS NOT OLD.run_id);
  SELECT RAISE(ROLLBACK, 'rota: whose a run is never changes')
    WHERE OLD.runner IS NOT NULL
      AND (NEW.token IS NOT OLD.token OR NEW.runner IS NOT OLD.runner OR NEW.life IS NOT OLD.life);
  SELECT RAISE(ROLLBACK, 'rota: the outcome of a run is written once')
    WHERE OLD.outcome IS NOT NULL
      AND (NEW.heartbeat_at IS NOT OLD.heartbeat_at OR NEW.stale_after IS NOT OLD.stale_after);
END;

CREATE TRIGGER rota_jobs_end AFTER UPDATE OF
  finished_at, sequel, outcome, ended_at, exit_code, error_code, error, rows_affected,
  cancel_at, cancel_by, cancel_reason, progress, log_path, result
ON rota_jobs
WHEN OLD.outcome IS NOT NULL OR OLD.finished_at IS NOT NULL OR OLD.cancel_at IS NOT NULL OR OLD.log_path IS NOT NULL
  OR OLD.error IS NOT NULL OR OLD.exit_code IS NOT NULL
  OR (NEW.finished_at IS NOT NULL AND NEW.status = 'RUNNING' AND NEW.outcome IS NULL)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the times, the run and the sequel of a job are written once')
    WHERE (OLD.finished_at IS NOT NULL AND NEW.finished_at IS NOT OLD.finished_at)
      OR (OLD.sequel IS NOT NULL AND NEW.sequel IS NOT OLD.sequel);
  SELECT RAISE(ROLLBACK, 'rota: the outcome of a run is written once')
    WHERE OLD.outcome IS NOT NULL
      AND (NEW.outcome IS NOT OLD.outcome OR NEW.error_code IS NOT OLD.error_code
        OR NEW.rows_affected IS NOT OLD.rows_affected OR NEW.cancel_at IS NOT OLD.cancel_at
        OR NEW.cancel_by IS NOT OLD.cancel_by OR NEW.cancel_reason IS NOT OLD.cancel_reason
        OR NEW.progress IS NOT OLD.progress OR NEW.log_path IS NOT OLD.log_path OR NEW.result IS NOT OLD.result);
  SELECT RAISE(ROLLBACK, 'rota: finish time, exit code, error, cancellation and log of a run are written once')
    WHERE (OLD.ended_at IS NOT NULL AND NEW.ended_at IS NOT OLD.ended_at)
      OR (OLD.exit_code IS NOT NULL AND NEW.exit_code IS NOT OLD.exit_code)
      OR (OLD.error IS NOT NULL AND NEW.error IS NOT OLD.error)
      OR (OLD.cancel_at IS NOT NULL AND (NEW.cancel_at IS NOT OLD.cancel_at
        OR NEW.cancel_by IS NOT OLD.cancel_by OR NEW.cancel_reason IS NOT OLD.cancel_reason))
      OR (OLD.log_path IS NOT NULL AND NEW.log_path IS NOT OLD.log_path);
  SELECT RAISE(ROLLBACK, 'rota: a job that runs ends with its run')
    WHERE NEW.finished_at IS NOT NULL AND NEW.status = 'RUNNING' AND NEW.outcome IS NULL;
END;

CREATE TRIGGER rota_jobs_artifacts AFTER UPDATE OF artifacts ON rota_jobs
WHEN OLD.artifacts IS NOT NULL
  AND (NEW.artifacts IS NULL OR substr(NEW.artifacts, 1, length(OLD.artifacts)) IS NOT OLD.artifacts)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: artifacts are only appended to');
END;

CREATE TRIGGER rota_jobs_left AFTER DELETE ON rota_jobs BEGIN
  DELETE FROM rota_params WHERE job_id = OLD.id;
END;
