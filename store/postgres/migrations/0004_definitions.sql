-- Definitions: which name each id stands for, kept when the schedule is gone. And
-- what lists by the next fire without reading every row.

CREATE TABLE rota_definitions (
  id   uuid NOT NULL PRIMARY KEY,
  name text COLLATE "C" NOT NULL
);

-- The id is a hash of the name, with the bits that say that it is a UUID of one's
-- own making.
INSERT INTO rota_definitions (id, name)
SELECT encode(set_byte(set_byte(h.hash, 6, get_byte(h.hash, 6) & 15 | 128), 8, get_byte(h.hash, 8) & 63 | 128), 'hex')::uuid, s.name
FROM rota_schedules s
CROSS JOIN LATERAL (SELECT substring(sha256(convert_to('definition ' || s.name, 'UTF8')) FOR 16) AS hash) h;

CREATE TRIGGER definitions_keep AFTER UPDATE ON rota_definitions FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: the name of a definition is kept');

CREATE TRIGGER definitions_stay BEFORE DELETE ON rota_definitions FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: the name of a definition is kept');

CREATE TRIGGER definitions_stay_all BEFORE TRUNCATE ON rota_definitions
EXECUTE FUNCTION rota_refuse('rota: the name of a definition is kept');

-- What is paused keeps its next fire, and is listed by it among those that are due.
CREATE INDEX schedules_paused ON rota_schedules (next_fire, name)
  WHERE state = 'PAUSED' AND next_fire IS NOT NULL;
