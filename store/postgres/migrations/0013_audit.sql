-- The audit says which definition, execution and run an entry is about, what came
-- of it and what changed. This migration locks the audit and no other table: a transaction that has
-- changed jobs may wait to write to the audit, and this migration must not wait for it in turn.

ALTER TABLE rota_audit ADD COLUMN schedule text COLLATE "C";
ALTER TABLE rota_audit ADD COLUMN execution_id uuid;
ALTER TABLE rota_audit ADD COLUMN run_id uuid;
ALTER TABLE rota_audit ADD COLUMN outcome text COLLATE "C";
ALTER TABLE rota_audit ADD COLUMN changes text; -- JSON: old and new of each field that changed

-- Entries written before get what is known of them.
DROP TRIGGER audit_keep ON rota_audit;

UPDATE rota_audit
SET subject = coalesce(rota_audit.subject, 'job ' || a.job_id),
  execution_id = coalesce(j.execution_id, a.job_id),
  schedule = coalesce(j.schedule, CASE WHEN a.subject LIKE 'schedule %' THEN substr(a.subject, 10) END)
FROM rota_audit a
LEFT JOIN rota_jobs j ON j.id = a.job_id
WHERE a.id = rota_audit.id AND (a.job_id IS NOT NULL OR a.subject LIKE 'schedule %');

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
