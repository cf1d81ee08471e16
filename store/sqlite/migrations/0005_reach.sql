-- Reach: what others are told of jobs, and where a job's trace goes on from.

-- The traceparent of the span that enqueued it. Most have none.
ALTER TABLE rota_jobs ADD COLUMN trace TEXT;

-- How many webhooks are told of its jobs. Only templates that have some are
-- looked at.
ALTER TABLE rota_templates ADD COLUMN webhooks INTEGER NOT NULL DEFAULT 0;

CREATE INDEX rota_templates_webhooks ON rota_templates (name)
  WHERE webhooks > 0;

-- The webhooks that are told of everything: one row, or none.
CREATE TABLE rota_webhooks (
  id         INTEGER NOT NULL PRIMARY KEY,
  version    BLOB NOT NULL,
  updated_by TEXT,
  updated_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,

  CHECK (id = 1)
) STRICT;

DROP TRIGGER rota_jobs_identity;

CREATE TRIGGER rota_jobs_identity BEFORE UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  run_at, plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace
ON rota_jobs
WHEN NEW.id IS NOT OLD.id OR NEW.execution_id IS NOT OLD.execution_id OR NEW.retry_of IS NOT OLD.retry_of
  OR NEW.type IS NOT OLD.type OR NEW.attempt IS NOT OLD.attempt OR NEW.max_attempts IS NOT OLD.max_attempts
  OR NEW.backoff IS NOT OLD.backoff OR NEW.backoff_max IS NOT OLD.backoff_max OR NEW.jitter IS NOT OLD.jitter
  OR NEW.timeout IS NOT OLD.timeout OR NEW.created_at IS NOT OLD.created_at OR NEW.run_at IS NOT OLD.run_at
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
