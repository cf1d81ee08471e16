-- The audit says which definition, execution and run an entry is about, what came
-- of it and what changed.
ALTER TABLE rota_audit ADD COLUMN schedule TEXT;
ALTER TABLE rota_audit ADD COLUMN execution_id BLOB;
ALTER TABLE rota_audit ADD COLUMN run_id BLOB;
ALTER TABLE rota_audit ADD COLUMN outcome TEXT;
ALTER TABLE rota_audit ADD COLUMN changes TEXT; -- JSON: old and new of each field that changed

-- Entries written before get what is known of them.
DROP TRIGGER rota_audit_keep;

UPDATE rota_audit
SET subject = 'job ' || lower(
  substr(hex(job_id), 1, 8) || '-' || substr(hex(job_id), 9, 4) || '-' || substr(hex(job_id), 13, 4) || '-' ||
  substr(hex(job_id), 17, 4) || '-' || substr(hex(job_id), 21))
WHERE job_id IS NOT NULL AND subject IS NULL;

UPDATE rota_audit
SET execution_id = coalesce((SELECT j.execution_id FROM rota_jobs j WHERE j.id = rota_audit.job_id), job_id),
  schedule = (SELECT j.schedule FROM rota_jobs j WHERE j.id = rota_audit.job_id)
WHERE job_id IS NOT NULL;

UPDATE rota_audit
SET schedule = substr(subject, 10)
WHERE subject LIKE 'schedule %';

CREATE TRIGGER rota_audit_keep BEFORE UPDATE ON rota_audit BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;

CREATE INDEX rota_audit_at ON rota_audit (at, id);
CREATE INDEX rota_audit_subject ON rota_audit (subject, at, id)
  WHERE subject IS NOT NULL;
CREATE INDEX rota_audit_schedule ON rota_audit (schedule, at, id)
  WHERE schedule IS NOT NULL;
CREATE INDEX rota_audit_execution ON rota_audit (execution_id, at, id)
  WHERE execution_id IS NOT NULL;

-- Entries before this time are past the retention of the audit and may be deleted.
CREATE TABLE rota_audit_bound (
  id             INTEGER NOT NULL PRIMARY KEY,
  removed_before INTEGER NOT NULL,

  CHECK (id = 1)
) STRICT;

INSERT INTO rota_audit_bound (id, removed_before)
VALUES (1, -9223372036854775807);

CREATE TRIGGER rota_audit_bound_enter BEFORE INSERT ON rota_audit_bound BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the bound of the audit only moves forward');
END;

CREATE TRIGGER rota_audit_bound_move BEFORE UPDATE ON rota_audit_bound
WHEN NEW.id <> OLD.id OR NEW.removed_before < OLD.removed_before
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the bound of the audit only moves forward');
END;

CREATE TRIGGER rota_audit_bound_stay BEFORE DELETE ON rota_audit_bound BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the bound of the audit only moves forward');
END;

DROP TRIGGER rota_audit_stay;

CREATE TRIGGER rota_audit_stay BEFORE DELETE ON rota_audit
WHEN OLD.at >= (SELECT removed_before FROM rota_audit_bound)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;

-- The acts that follow from jobs, by time: what ended, all of it and by schedule,
-- and what a caller enqueued. An end costs one entry, or two if it has a schedule;
-- an enqueue costs one if it names its actor.
CREATE INDEX rota_jobs_finished ON rota_jobs (finished_at, id)
  WHERE finished_at IS NOT NULL;
CREATE INDEX rota_jobs_schedule_finished ON rota_jobs (schedule, finished_at, id)
  WHERE schedule IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX rota_jobs_created ON rota_jobs (created_at, id)
  WHERE created_by IS NOT NULL AND schedule IS NULL AND retry_of IS NULL AND redrive_of IS NULL;
