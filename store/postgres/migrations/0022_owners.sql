-- Owners. A definition has an owner, and its jobs run with the rights of that owner.

-- A transaction that has begun to work goes first, or each of the two would wait for the other.
LOCK TABLE rota_jobs, rota_templates, rota_schedules IN ACCESS EXCLUSIVE MODE;

-- since is when the definition began; grants that are older do not apply to it. What exists belongs to admin. The
-- defaults serve processes of an earlier version that are still running.
ALTER TABLE rota_templates ADD COLUMN owner text COLLATE "C" DEFAULT 'admin'; -- NULL: its definition was dropped
ALTER TABLE rota_templates ADD COLUMN since bigint NOT NULL DEFAULT 0;
UPDATE rota_templates SET since = created_at;
ALTER TABLE rota_templates ADD CONSTRAINT templates_owner CHECK (owner <> '' AND (owner IS NOT NULL OR state = 'ARCHIVED'));

ALTER TABLE rota_schedules ADD COLUMN owner text COLLATE "C" NOT NULL DEFAULT 'admin';
ALTER TABLE rota_schedules ADD COLUMN since bigint NOT NULL DEFAULT 0;
UPDATE rota_schedules SET since = created_at;
ALTER TABLE rota_schedules ADD CONSTRAINT schedules_owner CHECK (owner <> '');

-- Most definitions belong to admin, which cannot be dropped.
CREATE INDEX templates_by_owner ON rota_templates (owner, name)
  WHERE owner <> 'admin';
CREATE INDEX schedules_by_owner ON rota_schedules (owner, name)
  WHERE owner <> 'admin';

-- The owner of the definition when the job was created. A job without a definition has none. Jobs that wait or
-- run were allowed to by the one token that there was.
ALTER TABLE rota_jobs ADD COLUMN owner text COLLATE "C";
UPDATE rota_jobs SET owner = 'admin' WHERE status LIKE 'QUEUED';
UPDATE rota_jobs SET owner = 'admin' WHERE status = 'RUNNING' AND sequel IS NULL;

DROP TRIGGER jobs_identity ON rota_jobs;
CREATE TRIGGER jobs_identity AFTER UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace, owner
ON rota_jobs FOR EACH ROW
WHEN ((NEW.id, NEW.execution_id, NEW.retry_of, NEW.type, NEW.attempt, NEW.max_attempts, NEW.backoff, NEW.backoff_max,
    NEW.jitter, NEW.timeout, NEW.created_at, NEW.plan_time, NEW.scope_kind, NEW.scope_id, NEW.name,
    NEW.unique_key, NEW.unique_for, NEW.created_by, NEW.template, NEW.schedule, NEW.group_id, NEW.group_position,
    NEW.concurrency_key, NEW.counts_at, NEW.wait_from, NEW.wait_until, NEW.redrive_of, NEW.trace, NEW.owner)
  IS DISTINCT FROM (OLD.id, OLD.execution_id, OLD.retry_of, OLD.type, OLD.attempt, OLD.max_attempts, OLD.backoff, OLD.backoff_max,
    OLD.jitter, OLD.timeout, OLD.created_at, OLD.plan_time, OLD.scope_kind, OLD.scope_id, OLD.name,
    OLD.unique_key, OLD.unique_for, OLD.created_by, OLD.template, OLD.schedule, OLD.group_id, OLD.group_position,
    OLD.concurrency_key, OLD.counts_at, OLD.wait_from, OLD.wait_until, OLD.redrive_of, OLD.trace, OLD.owner))
EXECUTE FUNCTION rota_refuse('rota: what a job is never changes');
