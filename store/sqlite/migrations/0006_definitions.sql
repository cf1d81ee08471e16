-- Definitions: which name each id stands for, kept when the schedule is gone. And
-- what lists by the next fire, and counts what has ended, without reading every row.

CREATE TABLE rota_definitions (
  id   BLOB NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,

  CHECK (length(id) = 16)
) STRICT, WITHOUT ROWID;

-- rota_definition_id is there while a file is brought up to date.
INSERT INTO rota_definitions (id, name)
SELECT rota_definition_id(name), name
FROM rota_schedules;

CREATE TRIGGER rota_definitions_enter BEFORE INSERT ON rota_definitions
WHEN EXISTS (SELECT 1 FROM rota_definitions WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this definition has its name');
END;

CREATE TRIGGER rota_definitions_keep BEFORE UPDATE ON rota_definitions BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name of a definition is kept');
END;

CREATE TRIGGER rota_definitions_stay BEFORE DELETE ON rota_definitions BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name of a definition is kept');
END;

-- What is paused keeps its next fire, and is listed by it among those that are due.
CREATE INDEX rota_schedules_paused ON rota_schedules (next_fire, name)
  WHERE state = 'PAUSED' AND next_fire IS NOT NULL;

-- What has ended, with all that it is counted by. It costs an end one entry, and an
-- enqueue and a claim nothing.
CREATE INDEX rota_jobs_ended ON rota_jobs (outcome, schedule, type, sequel)
  WHERE sequel IS NOT NULL;
