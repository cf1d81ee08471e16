-- Dropped: what of a schedule's name was dropped and is still there. Jobs that
-- were made before have nothing more to do; those that have ended are hidden until
-- they are removed.

CREATE TABLE rota_dropped (
  schedule      text COLLATE "C" NOT NULL PRIMARY KEY,
  made_before   bigint NOT NULL,
  hidden_before bigint,            -- NULL: none of it is hidden
  dropped_by    text COLLATE "C",
  CONSTRAINT dropped_hidden CHECK (hidden_before <= made_before)
);

-- Of two drops the later one counts. Without a bound, which is the largest number,
-- all that goes by the name was dropped, until something else has the name.
CREATE TRIGGER dropped_later AFTER UPDATE ON rota_dropped FOR EACH ROW
WHEN (NEW.schedule <> OLD.schedule
  OR NEW.made_before < OLD.made_before AND OLD.made_before < 9223372036854775807
  OR coalesce(NEW.hidden_before, 0) < OLD.hidden_before AND OLD.hidden_before < 9223372036854775807)
EXECUTE FUNCTION rota_refuse('rota: what was dropped stays so');

-- A drop is one more that a Sweep carries out.
ALTER TABLE rota_intents DROP CONSTRAINT intents_kind;
ALTER TABLE rota_intents ADD CONSTRAINT intents_kind CHECK (kind IN ('group', 'key', 'template', 'drop'));
