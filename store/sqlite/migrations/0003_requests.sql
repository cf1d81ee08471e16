-- Requests: which command a key of theirs is tied to. And what counting what
-- lives, and listing it by its state, takes so that it costs nothing more in a
-- store that has been used for long.

CREATE TABLE rota_requests (
  actor      TEXT NOT NULL,        -- empty: the process itself
  key        TEXT NOT NULL,
  at         INTEGER NOT NULL,     -- when it was tied; it is free again a while later
  command_id BLOB NOT NULL,
  hash       TEXT NOT NULL,        -- of the request
  PRIMARY KEY (actor, key),
  CHECK (key <> ''),
  CHECK (length(command_id) = 16),
  CHECK (length(hash) = 64)
) STRICT, WITHOUT ROWID;

-- Those that are free again.
CREATE INDEX rota_requests_at ON rota_requests (at, actor, key);

CREATE TRIGGER rota_requests_enter BEFORE INSERT ON rota_requests
WHEN EXISTS (SELECT 1 FROM rota_requests WHERE actor = NEW.actor AND key = NEW.key)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this key is tied already');
END;

CREATE TRIGGER rota_requests_keep BEFORE UPDATE ON rota_requests BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a key is tied once, and not changed');
END;

-- What is ready is counted with since when it has been.
DROP INDEX rota_jobs_claim;
CREATE INDEX rota_jobs_claim ON rota_jobs (type, priority DESC, position, created_at, id, queued_at)
  WHERE status = 'QUEUED' AND hold = 0;

-- What waits for something, its time included.
CREATE INDEX rota_jobs_held ON rota_jobs (type, hold, id)
  WHERE status = 'QUEUED' AND hold <> 0;

CREATE INDEX rota_schedules_enabled ON rota_schedules (name)
  WHERE state = 'ENABLED';
