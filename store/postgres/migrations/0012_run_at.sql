-- The earliest start of a queued job can change. A ready job that gets a later start is delayed
-- again, so that it is no longer queued since a time.

-- A transaction that has begun to work goes first, or each of the two would wait for the other.
LOCK TABLE rota_jobs IN ACCESS EXCLUSIVE MODE;

DROP TRIGGER jobs_identity ON rota_jobs;
CREATE TRIGGER jobs_identity AFTER UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace
ON rota_jobs FOR EACH ROW
WHEN ((NEW.id, NEW.execution_id, NEW.retry_of, NEW.type, NEW.attempt, NEW.max_attempts, NEW.backoff, NEW.backoff_max,
    NEW.jitter, NEW.timeout, NEW.created_at, NEW.plan_time, NEW.scope_kind, NEW.scope_id, NEW.name,
    NEW.unique_key, NEW.unique_for, NEW.created_by, NEW.template, NEW.schedule, NEW.group_id, NEW.group_position,
    NEW.concurrency_key, NEW.counts_at, NEW.wait_from, NEW.wait_until, NEW.redrive_of, NEW.trace)
  IS DISTINCT FROM (OLD.id, OLD.execution_id, OLD.retry_of, OLD.type, OLD.attempt, OLD.max_attempts, OLD.backoff, OLD.backoff_max,
    OLD.jitter, OLD.timeout, OLD.created_at, OLD.plan_time, OLD.scope_kind, OLD.scope_id, OLD.name,
    OLD.unique_key, OLD.unique_for, OLD.created_by, OLD.template, OLD.schedule, OLD.group_id, OLD.group_position,
    OLD.concurrency_key, OLD.counts_at, OLD.wait_from, OLD.wait_until, OLD.redrive_of, OLD.trace))
EXECUTE FUNCTION rota_refuse('rota: what a job is never changes');

DROP TRIGGER jobs_frozen ON rota_jobs;
CREATE TRIGGER jobs_frozen AFTER UPDATE OF params, priority, position, hold, version, run_at ON rota_jobs FOR EACH ROW
WHEN (OLD.status <> 'QUEUED' AND (NEW.priority, NEW.position, NEW.hold, NEW.version, NEW.params, NEW.run_at)
  IS DISTINCT FROM (OLD.priority, OLD.position, OLD.hold, OLD.version, OLD.params, OLD.run_at))
EXECUTE FUNCTION rota_refuse('rota: params, priority, position and run_at are frozen once a job has left QUEUED');

CREATE OR REPLACE FUNCTION rota_jobs_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.queued_at IS NOT NULL AND NEW.queued_at IS DISTINCT FROM OLD.queued_at
        AND NOT (OLD.status = 'QUEUED' AND NEW.status = 'QUEUED' AND NEW.queued_at IS NULL AND NEW.hold & 1 <> 0))
      OR (OLD.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at)
      OR (OLD.finished_at IS NOT NULL AND NEW.finished_at IS DISTINCT FROM OLD.finished_at)
      OR (OLD.sequel IS NOT NULL AND NEW.sequel IS DISTINCT FROM OLD.sequel)
      OR (OLD.run_id IS NOT NULL AND NEW.run_id IS DISTINCT FROM OLD.run_id) THEN
    PERFORM rota_refuse_job('the times, the run and the sequel of a job are written once', 'jobs_once');
  END IF;
  RETURN NULL;
END $$;
