-- Dropped: what of a schedule's name was dropped and is still there. Jobs that
-- were made before have nothing more to do; those that have ended are hidden until
-- they are removed.

CREATE TABLE rota_dropped (
  schedule      TEXT NOT NULL PRIMARY KEY,
  made_before   INTEGER NOT NULL,
  hidden_before INTEGER,           -- NULL: none of it is hidden
  dropped_by    TEXT,

  CHECK (hidden_before <= made_before)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER rota_dropped_enter BEFORE INSERT ON rota_dropped
WHEN EXISTS (SELECT 1 FROM rota_dropped WHERE schedule = NEW.schedule)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this was dropped already');
END;

-- Of two drops the later one counts. Without a bound, which is the largest number,
-- all that goes by the name was dropped, until something else has the name.
CREATE TRIGGER rota_dropped_later BEFORE UPDATE ON rota_dropped
WHEN NEW.schedule IS NOT OLD.schedule
  OR NEW.made_before < OLD.made_before AND OLD.made_before < 9223372036854775807
  OR coalesce(NEW.hidden_before, 0) < OLD.hidden_before AND OLD.hidden_before < 9223372036854775807
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what was dropped stays so');
END;

-- A drop is one more that a Sweep carries out.
CREATE TABLE rota_intents_too (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,

  PRIMARY KEY (kind, name),
  CHECK (kind = 'group' OR kind = 'key' OR kind = 'template' OR kind = 'drop')
) STRICT, WITHOUT ROWID;

INSERT INTO rota_intents_too (kind, name)
SELECT kind, name
FROM rota_intents;

DROP TABLE rota_intents;
ALTER TABLE rota_intents_too RENAME TO rota_intents;
