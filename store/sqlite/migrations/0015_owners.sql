-- Owners. A definition has an owner, and its jobs run with the rights of that owner.

-- since is when the definition began; grants that are older do not apply to it. What exists belongs to admin.
ALTER TABLE rota_templates ADD COLUMN owner TEXT DEFAULT 'admin' -- NULL: its definition was dropped
  CHECK (owner <> '' AND (owner IS NOT NULL OR state = 'ARCHIVED'));
ALTER TABLE rota_templates ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE rota_templates SET since = created_at;

ALTER TABLE rota_schedules ADD COLUMN owner TEXT NOT NULL DEFAULT 'admin'
  CHECK (owner <> '');
ALTER TABLE rota_schedules ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
UPDATE rota_schedules SET since = created_at;

-- Most definitions belong to admin, which cannot be dropped.
CREATE INDEX rota_templates_owner ON rota_templates (owner, name)
  WHERE owner <> 'admin';
CREATE INDEX rota_schedules_owner ON rota_schedules (owner, name)
  WHERE owner <> 'admin';

-- The owner of the definition when the job was created. A job without a definition has none. Jobs that wait or
-- run were allowed to by the one token that there was.
ALTER TABLE rota_jobs ADD COLUMN owner TEXT;
UPDATE rota_jobs SET owner = 'admin' WHERE status = 'QUEUED';
UPDATE rota_jobs SET owner = 'admin' WHERE status = 'RUNNING' AND sequel IS NULL;

DROP TRIGGER rota_jobs_identity;

CREATE TRIGGER rota_jobs_identity BEFORE UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace, owner
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
  OR NEW.trace IS NOT OLD.trace OR NEW.owner IS NOT OLD.owner
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a job is never changes');
END;
