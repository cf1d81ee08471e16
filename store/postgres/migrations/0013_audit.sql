-- The audit says which definition, execution and run an entry is about, what came
-- of it and what changed.
ALTER TABLE rota_audit ADD COLUMN schedule text COLLATE "C";
ALTER TABLE rota_audit ADD COLUMN execution_id uuid;
ALTER TABLE rota_audit ADD COLUMN run_id uuid;
ALTER TABLE rota_audit ADD COLUMN outcome text COLLATE "C";
ALTER TABLE rota_audit ADD COLUMN changes text; -- JSON: old and new of each field that changed

-- Entries written before get what is known of them.
DROP TRIGGER audit_keep ON rota_audit;

UPDATE rota_audit
SET subject = 'job ' || job_id
WHERE job_id IS NOT NULL AND subject IS NULL;

UPDATE rota_audit
SET execution_id = coalesce((SELECT j.execution_id FROM rota_jobs j WHERE j.id = rota_audit.job_id), job_id),
  schedule = (SELECT j.schedule FROM rota_jobs j WHERE j.id = rota_audit.job_id)
WHERE job_id IS NOT NULL;

UPDATE rota_audit
SET schedule = substr(subject, 10)
WHERE subject LIKE 'schedule %';

CREATE TRIGGER audit_keep AFTER UPDATE ON rota_audit FOR EACH ROW
WHEN (pg_trigger_depth() = 0 OR OLD.seq IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');

CREATE INDEX audit_at ON rota_audit (at, id);
CREATE INDEX audit_subject ON rota_audit (subject, at, id)
  WHERE subject IS NOT NULL;
CREATE INDEX audit_schedule ON rota_audit (schedule, at, id)
  WHERE schedule IS NOT NULL;
CREATE INDEX audit_execution ON rota_audit (execution_id, at, id)
  WHERE execution_id IS NOT NULL;

-- Entries before this time are past the retention of the audit and may be deleted.
CREATE TABLE rota_audit_bound (
  id             integer NOT NULL PRIMARY KEY,
  removed_before bigint NOT NULL,
  CONSTRAINT audit_bound_one CHECK (id = 1)
);

INSERT INTO rota_audit_bound (id, removed_before)
VALUES (1, -9223372036854775807);

CREATE TRIGGER audit_bound_move AFTER UPDATE ON rota_audit_bound FOR EACH ROW
WHEN (NEW.id <> OLD.id OR NEW.removed_before < OLD.removed_before)
EXECUTE FUNCTION rota_refuse('rota: the bound of the audit only moves forward');

CREATE TRIGGER audit_bound_stay BEFORE DELETE ON rota_audit_bound FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: the bound of the audit only moves forward');

CREATE TRIGGER audit_bound_stay_all BEFORE TRUNCATE ON rota_audit_bound
EXECUTE FUNCTION rota_refuse('rota: the bound of the audit only moves forward');

DROP TRIGGER audit_stay ON rota_audit;

CREATE FUNCTION rota_audit_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.at >= (SELECT b.removed_before FROM rota_audit_bound b) THEN
    RAISE EXCEPTION USING MESSAGE = 'rota: the audit is only appended to', ERRCODE = 'check_violation',
      SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME, CONSTRAINT = TG_NAME;
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER audit_stay BEFORE DELETE ON rota_audit FOR EACH ROW
EXECUTE FUNCTION rota_audit_stay();

-- The acts that follow from jobs, by time: what ended, all of it and by schedule,
-- and what a caller enqueued.
CREATE INDEX jobs_finished ON rota_jobs (finished_at, id)
  WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_schedule_finished ON rota_jobs (schedule, finished_at, id)
  WHERE schedule IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX jobs_created ON rota_jobs (created_at, id)
  WHERE created_by IS NOT NULL AND schedule IS NULL AND retry_of IS NULL AND redrive_of IS NULL;
