-- The earliest start of a queued job can change. A ready job that gets a later start is delayed
-- again, so that it is no longer queued since a time.

DROP TRIGGER rota_jobs_identity;

CREATE TRIGGER rota_jobs_identity BEFORE UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace
ON rota_jobs
WHEN NEW.id IS NOT OLD.id OR NEW.execution_id IS NOT OLD.execution_id OR NEW.retry_of IS NOT OLD.retry_of
  OR NEW.type IS NOT OLD.type OR NEW.attempt IS NOT OLD.attempt OR NEW.max_attempts IS NOT OLD.max_attempts
  OR NEW.backoff IS NOT OLD.backoff OR NEW.backoff_max IS NOT OLD.backoff_max OR NEW.jitter IS NOT OLD.jitter
  OR NEW.timeout IS NOT OLD.timeout OR NEW.created_at IS NOT OLD.created_at
  OR NEW.plan_time IS NOT OLD.plan_time OR NEW.scope_kind IS NOT OLD.scope_kind OR NEW.scope_id IS NOT OLD.scope_id
  OR NEW.name IS NOT OLD.name OR NEW.unique_key IS NOT OLD.unique_key OR NEW.unique_for IS NOT OLD.unique_for
  OR NEW.created_by IS NOT OLD.created_by OR NEW.template IS NOT OLD.template OR NEW.schedule IS NOT OLD.schedule
  OR NEW.group_id IS NOT OLD.group_id OR NEW.group_position IS NOT OLD.group_position
  OR NEW.concurrency_key IS NOT OLD.concurrency_key OR NEW.counts_at IS NOT OLD.counts_at
  OR NEW.wait_from IS NOT OLD.wait_from OR NEW.wait_until IS NOT OLD.wait_until OR NEW.redrive_of IS NOT OLD.redrive_of
  OR NEW.trace IS NOT OLD.trace
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a job is never changes');
END;

DROP TRIGGER rota_jobs_frozen;

CREATE TRIGGER rota_jobs_frozen BEFORE UPDATE OF params, priority, position, hold, version, run_at ON rota_jobs
WHEN OLD.status <> 'QUEUED'
  AND (NEW.params IS NOT OLD.params OR NEW.priority IS NOT OLD.priority OR NEW.position IS NOT OLD.position
    OR NEW.hold IS NOT OLD.hold OR NEW.version IS NOT OLD.version OR NEW.run_at IS NOT OLD.run_at)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: params, priority, position and run_at are frozen once a job has left QUEUED');
END;

DROP TRIGGER rota_jobs_start;

CREATE TRIGGER rota_jobs_start AFTER UPDATE OF
  status, queued_at, started_at, run_id, token, runner, life, heartbeat_at, stale_after
ON rota_jobs
WHEN OLD.status <> 'QUEUED' OR (OLD.queued_at IS NOT NULL AND NEW.queued_at IS NOT OLD.queued_at)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a job that has left QUEUED keeps its status')
    WHERE NEW.status <> OLD.status AND OLD.status <> 'QUEUED';
  SELECT RAISE(ROLLBACK, 'rota: the times, the run and the sequel of a job are written once')
    WHERE (OLD.queued_at IS NOT NULL AND NEW.queued_at IS NOT OLD.queued_at
        AND NOT (OLD.status = 'QUEUED' AND NEW.status = 'QUEUED' AND NEW.queued_at IS NULL AND NEW.hold & 1))
      OR (OLD.started_at IS NOT NULL AND NEW.started_at IS NOT OLD.started_at)
      OR (OLD.run_id IS NOT NULL AND NEW.run_id IS NOT OLD.run_id);
  SELECT RAISE(ROLLBACK, 'rota: whose a run is never changes')
    WHERE OLD.runner IS NOT NULL
      AND (NEW.token IS NOT OLD.token OR NEW.runner IS NOT OLD.runner OR NEW.life IS NOT OLD.life);
  SELECT RAISE(ROLLBACK, 'rota: the outcome of a run is written once')
    WHERE OLD.outcome IS NOT NULL
      AND (NEW.heartbeat_at IS NOT OLD.heartbeat_at OR NEW.stale_after IS NOT OLD.stale_after);
END;
