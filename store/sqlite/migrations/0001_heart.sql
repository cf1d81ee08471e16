-- The heart: jobs, their runs, unique keys and the audit.
--
-- Tables carry a prefix because they may stand in a file beside their user's
-- own. Times and durations are integer microseconds. The rules decide; the
-- constraints and triggers below refuse what the rules would never write, from
-- whatever connection it comes. Triggers raise ROLLBACK: any other way of
-- refusing makes SQLite keep a statement journal, at three times the cost.

CREATE TABLE rota_jobs (
  id           BLOB NOT NULL PRIMARY KEY,
  execution_id BLOB,               -- of a retry: the first job of its chain
  retry_of     BLOB,               -- of a retry: the job before it
  run_id       BLOB,               -- set when it is dispatched
  type         TEXT NOT NULL,
  status       TEXT NOT NULL DEFAULT 'QUEUED',
  hold         INTEGER NOT NULL DEFAULT 0, -- why it does not stand in the order; 1: its run_at has not come
  priority     INTEGER NOT NULL,
  position     INTEGER NOT NULL,
  attempt      INTEGER NOT NULL DEFAULT 1,
  max_attempts INTEGER NOT NULL,
  sequel       TEXT,               -- what came after it
  backoff      INTEGER NOT NULL,
  backoff_max  INTEGER,
  jitter       REAL,
  timeout      INTEGER NOT NULL,
  created_at   INTEGER NOT NULL,
  queued_at    INTEGER,
  started_at   INTEGER,
  finished_at  INTEGER,
  run_at       INTEGER,
  plan_time    INTEGER,
  scope_kind   TEXT,               -- both NULL: global/global
  scope_id     TEXT,
  name         TEXT,               -- NULL: the type's
  unique_key   TEXT,
  unique_for   INTEGER,
  version      BLOB,               -- the last command that edited or moved it
  created_by   TEXT,
  params       TEXT,               -- NULL: they are long, and stand in rota_params

  -- The table of states. Neither here nor below does a CHECK say IN: for more
  -- than two values SQLite builds a table in memory each time it looks.
  CHECK (CASE status
    WHEN 'QUEUED' THEN started_at IS NULL AND run_id IS NULL AND finished_at IS NULL AND sequel IS NULL
    WHEN 'RUNNING' THEN started_at IS NOT NULL
      AND (sequel IS NULL OR (finished_at IS NOT NULL AND (sequel = 'none' OR sequel = 'retry' OR sequel = 'dead')))
    WHEN 'CANCELLED' THEN started_at IS NULL AND run_id IS NULL AND finished_at IS NOT NULL AND sequel IS 'none'
    ELSE 0 END),
  CHECK (attempt <= max_attempts AND (retry_of IS NOT NULL OR (attempt = 1 AND execution_id IS NULL))),
  CHECK ((scope_kind IS NULL) = (scope_id IS NULL)),
  CHECK (hold >= 0 AND hold < 256)
) STRICT, WITHOUT ROWID;

-- The claim order of each lane; a lane is a type. Delayed, blocked and
-- finished jobs stand outside, so they cost a claim nothing.
CREATE INDEX rota_jobs_claim ON rota_jobs (type, priority DESC, position, created_at, id)
  WHERE status = 'QUEUED' AND hold = 0;

-- The order of the whole queue, held jobs included: the end of a priority,
-- and the neighbours of a job that is moved.
CREATE INDEX rota_jobs_order ON rota_jobs (priority DESC, position, created_at, id)
  WHERE status = 'QUEUED';

-- What waits for its time.
CREATE INDEX rota_jobs_due ON rota_jobs (run_at, id)
  WHERE status = 'QUEUED' AND hold & 1;

-- What runs, and what ended without being settled.
CREATE INDEX rota_jobs_open ON rota_jobs (type, id)
  WHERE status = 'RUNNING' AND sequel IS NULL;

-- Runs by their ids, which begin with the time of their claim: a claim that
-- is sent again finds what it took. Not UNIQUE, or UPDATE OR REPLACE of one
-- job's run_id could remove another job.
CREATE INDEX rota_jobs_run ON rota_jobs (run_id)
  WHERE run_id IS NOT NULL;

-- At most one retry per job.
CREATE UNIQUE INDEX rota_jobs_retry ON rota_jobs (retry_of)
  WHERE retry_of IS NOT NULL;

-- The planned-execution key, unique among first attempts.
CREATE UNIQUE INDEX rota_jobs_plan ON rota_jobs (
    coalesce(name, type), coalesce(scope_kind, 'global'), coalesce(scope_id, 'global'), plan_time)
  WHERE plan_time IS NOT NULL AND retry_of IS NULL;

-- Long params, which would otherwise be rewritten whenever their job changes.
CREATE TABLE rota_params (
  job_id BLOB NOT NULL PRIMARY KEY,
  params TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- At most one run per job: the job's id is its key. Its own id is the job's
-- run_id; its params are the job's, which are frozen.
CREATE TABLE rota_runs (
  job_id        BLOB NOT NULL PRIMARY KEY,
  token         BLOB NOT NULL,
  runner        TEXT NOT NULL,
  life          BLOB,
  started_at    INTEGER NOT NULL,
  heartbeat_at  INTEGER NOT NULL,
  stale_after   INTEGER NOT NULL,
  outcome       TEXT,
  finished_at   INTEGER,
  exit_code     INTEGER,
  error_code    TEXT,
  error         TEXT,
  rows_affected INTEGER,
  cancel_at     INTEGER,
  cancel_by     TEXT,
  cancel_reason TEXT,
  progress      TEXT,
  log_path      TEXT,
  artifacts     TEXT,              -- one JSON string a line, only ever appended to
  result        TEXT,

  CHECK (outcome = 'COMPLETED' OR outcome = 'FAILED' OR outcome = 'SKIPPED' OR outcome = 'CANCELLED'),
  CHECK (finished_at IS NULL OR outcome IS NOT NULL)
) STRICT, WITHOUT ROWID;

-- Which execution holds a unique key.
CREATE TABLE rota_keys (
  type         TEXT NOT NULL,
  key          TEXT NOT NULL,
  execution_id BLOB NOT NULL,
  free_at      INTEGER,            -- NULL: held until the execution is pruned
  ended        INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (type, key),
  CHECK (ended IN (0, 1))
) STRICT, WITHOUT ROWID;

CREATE TABLE rota_audit (
  seq    INTEGER NOT NULL PRIMARY KEY, -- in the order of writing
  id     BLOB NOT NULL UNIQUE,         -- from the command and the job: a command is written down once
  at     INTEGER NOT NULL,
  actor  TEXT,
  act    TEXT NOT NULL,
  job_id BLOB,
  detail TEXT
) STRICT;

-- INSERT OR REPLACE deletes without firing delete triggers, so an insert must
-- not meet any row it could replace.
CREATE TRIGGER rota_jobs_enter BEFORE INSERT ON rota_jobs BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job enters as QUEUED')
    WHERE NEW.status <> 'QUEUED' OR NEW.run_id IS NOT NULL OR NEW.sequel IS NOT NULL;
  SELECT RAISE(ROLLBACK, 'rota: this job exists')
    WHERE EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.id);
END;

CREATE TRIGGER rota_jobs_enter_retry BEFORE INSERT ON rota_jobs WHEN NEW.retry_of IS NOT NULL BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job has at most one retry')
    WHERE EXISTS (SELECT 1 FROM rota_jobs WHERE retry_of = NEW.retry_of);
  SELECT RAISE(ROLLBACK, 'rota: a retry continues the chain of the job it retries')
    WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.retry_of
      AND attempt = NEW.attempt - 1 AND coalesce(execution_id, id) = NEW.execution_id);
  SELECT RAISE(ROLLBACK, 'rota: only a run that failed is retried')
    WHERE NOT EXISTS (SELECT 1 FROM rota_runs WHERE job_id = NEW.retry_of AND outcome IN ('FAILED', 'CANCELLED'));
END;

CREATE TRIGGER rota_jobs_enter_plan BEFORE INSERT ON rota_jobs
WHEN NEW.plan_time IS NOT NULL AND NEW.retry_of IS NULL BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this execution is planned already')
    WHERE EXISTS (SELECT 1 FROM rota_jobs
      WHERE coalesce(name, type) = coalesce(NEW.name, NEW.type)
        AND coalesce(scope_kind, 'global') = coalesce(NEW.scope_kind, 'global')
        AND coalesce(scope_id, 'global') = coalesce(NEW.scope_id, 'global')
        AND plan_time = NEW.plan_time AND plan_time IS NOT NULL AND retry_of IS NULL);
END;

CREATE TRIGGER rota_jobs_identity BEFORE UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  run_at, plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by
ON rota_jobs
WHEN NEW.id IS NOT OLD.id OR NEW.execution_id IS NOT OLD.execution_id OR NEW.retry_of IS NOT OLD.retry_of
  OR NEW.type IS NOT OLD.type OR NEW.attempt IS NOT OLD.attempt OR NEW.max_attempts IS NOT OLD.max_attempts
  OR NEW.backoff IS NOT OLD.backoff OR NEW.backoff_max IS NOT OLD.backoff_max OR NEW.jitter IS NOT OLD.jitter
  OR NEW.timeout IS NOT OLD.timeout OR NEW.created_at IS NOT OLD.created_at OR NEW.run_at IS NOT OLD.run_at
  OR NEW.plan_time IS NOT OLD.plan_time OR NEW.scope_kind IS NOT OLD.scope_kind OR NEW.scope_id IS NOT OLD.scope_id
  OR NEW.name IS NOT OLD.name OR NEW.unique_key IS NOT OLD.unique_key OR NEW.unique_for IS NOT OLD.unique_for
  OR NEW.created_by IS NOT OLD.created_by
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a job is never changes');
END;

CREATE TRIGGER rota_jobs_status BEFORE UPDATE OF status ON rota_jobs
WHEN NEW.status <> OLD.status AND OLD.status <> 'QUEUED'
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job that has left QUEUED keeps its status');
END;

CREATE TRIGGER rota_jobs_frozen BEFORE UPDATE OF params, priority, position, hold, version ON rota_jobs
WHEN OLD.status <> 'QUEUED'
  AND (NEW.params IS NOT OLD.params OR NEW.priority IS NOT OLD.priority OR NEW.position IS NOT OLD.position
    OR NEW.hold IS NOT OLD.hold OR NEW.version IS NOT OLD.version)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: params, priority and position are frozen once a job has left QUEUED');
END;

CREATE TRIGGER rota_jobs_params BEFORE UPDATE OF params ON rota_jobs
WHEN (NEW.params IS NULL) <> (OLD.params IS NULL)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: params are replaced where they stand');
END;

CREATE TRIGGER rota_jobs_once BEFORE UPDATE OF queued_at, started_at, finished_at, sequel, run_id ON rota_jobs
WHEN (OLD.queued_at IS NOT NULL AND NEW.queued_at IS NOT OLD.queued_at)
  OR (OLD.started_at IS NOT NULL AND NEW.started_at IS NOT OLD.started_at)
  OR (OLD.finished_at IS NOT NULL AND NEW.finished_at IS NOT OLD.finished_at)
  OR (OLD.sequel IS NOT NULL AND NEW.sequel IS NOT OLD.sequel)
  OR (OLD.run_id IS NOT NULL AND NEW.run_id IS NOT OLD.run_id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the times, the run and the sequel of a job are written once');
END;

CREATE TRIGGER rota_jobs_close BEFORE UPDATE OF finished_at ON rota_jobs
WHEN NEW.status = 'RUNNING' AND NEW.finished_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM rota_runs WHERE job_id = OLD.id AND outcome IS NOT NULL)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job that runs ends with its run');
END;

-- Jobs leave from the end of their chain, when they have ended.
CREATE TRIGGER rota_jobs_leave BEFORE DELETE ON rota_jobs
WHEN OLD.sequel IS NULL OR EXISTS (SELECT 1 FROM rota_jobs WHERE retry_of = OLD.id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: only an execution that has ended can be removed, last attempt first');
END;

CREATE TRIGGER rota_jobs_left AFTER DELETE ON rota_jobs BEGIN
  DELETE FROM rota_runs WHERE job_id = OLD.id;
  DELETE FROM rota_params WHERE job_id = OLD.id;
END;

CREATE TRIGGER rota_params_enter BEFORE INSERT ON rota_params BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this job has its params')
    WHERE EXISTS (SELECT 1 FROM rota_params WHERE job_id = NEW.job_id)
       OR NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.job_id AND params IS NULL AND status = 'QUEUED');
END;

CREATE TRIGGER rota_params_frozen BEFORE UPDATE ON rota_params
WHEN NEW.job_id IS NOT OLD.job_id
  OR NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = OLD.job_id AND status = 'QUEUED')
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: params, priority and position are frozen once a job has left QUEUED');
END;

CREATE TRIGGER rota_params_leave BEFORE DELETE ON rota_params
WHEN EXISTS (SELECT 1 FROM rota_jobs WHERE id = OLD.job_id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: params leave with their job');
END;

CREATE TRIGGER rota_runs_enter BEFORE INSERT ON rota_runs BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job has at most one run')
    WHERE EXISTS (SELECT 1 FROM rota_runs WHERE job_id = NEW.job_id);
  SELECT RAISE(ROLLBACK, 'rota: a run belongs to a RUNNING job')
    WHERE NOT EXISTS (SELECT 1 FROM rota_jobs WHERE id = NEW.job_id AND status = 'RUNNING');
END;

CREATE TRIGGER rota_runs_identity BEFORE UPDATE OF job_id, token, runner, life, started_at ON rota_runs
WHEN NEW.job_id IS NOT OLD.job_id OR NEW.token IS NOT OLD.token OR NEW.runner IS NOT OLD.runner
  OR NEW.life IS NOT OLD.life OR NEW.started_at IS NOT OLD.started_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: whose a run is never changes');
END;

CREATE TRIGGER rota_runs_closed BEFORE UPDATE OF
  outcome, heartbeat_at, stale_after, error_code, rows_affected, cancel_at, cancel_by, cancel_reason, progress,
  log_path, result
ON rota_runs
WHEN OLD.outcome IS NOT NULL
  AND (NEW.outcome IS NOT OLD.outcome OR NEW.heartbeat_at IS NOT OLD.heartbeat_at
    OR NEW.stale_after IS NOT OLD.stale_after OR NEW.error_code IS NOT OLD.error_code
    OR NEW.rows_affected IS NOT OLD.rows_affected OR NEW.cancel_at IS NOT OLD.cancel_at
    OR NEW.cancel_by IS NOT OLD.cancel_by OR NEW.cancel_reason IS NOT OLD.cancel_reason
    OR NEW.progress IS NOT OLD.progress OR NEW.log_path IS NOT OLD.log_path OR NEW.result IS NOT OLD.result)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the outcome of a run is written once');
END;

CREATE TRIGGER rota_runs_once BEFORE UPDATE OF
  finished_at, exit_code, error, cancel_at, cancel_by, cancel_reason, log_path
ON rota_runs
WHEN (OLD.finished_at IS NOT NULL AND NEW.finished_at IS NOT OLD.finished_at)
  OR (OLD.exit_code IS NOT NULL AND NEW.exit_code IS NOT OLD.exit_code)
  OR (OLD.error IS NOT NULL AND NEW.error IS NOT OLD.error)
  OR (OLD.cancel_at IS NOT NULL AND (NEW.cancel_at IS NOT OLD.cancel_at
    OR NEW.cancel_by IS NOT OLD.cancel_by OR NEW.cancel_reason IS NOT OLD.cancel_reason))
  OR (OLD.log_path IS NOT NULL AND NEW.log_path IS NOT OLD.log_path)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: finish time, exit code, error, cancellation and log of a run are written once');
END;

CREATE TRIGGER rota_runs_artifacts BEFORE UPDATE OF artifacts ON rota_runs
WHEN OLD.artifacts IS NOT NULL
  AND (NEW.artifacts IS NULL OR substr(NEW.artifacts, 1, length(OLD.artifacts)) IS NOT OLD.artifacts)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: artifacts are only appended to');
END;

CREATE TRIGGER rota_runs_leave BEFORE DELETE ON rota_runs
WHEN EXISTS (SELECT 1 FROM rota_jobs WHERE id = OLD.job_id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a run leaves with its job');
END;

CREATE TRIGGER rota_audit_enter BEFORE INSERT ON rota_audit
WHEN EXISTS (SELECT 1 FROM rota_audit WHERE id = NEW.id OR seq = NEW.seq)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;

CREATE TRIGGER rota_audit_keep BEFORE UPDATE ON rota_audit BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;

CREATE TRIGGER rota_audit_stay BEFORE DELETE ON rota_audit BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;
