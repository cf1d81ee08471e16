-- The first entry of a transaction numbers all of them, in the order of their
-- insertion. A prune writes thousands of entries.
CREATE OR REPLACE FUNCTION rota_audit_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM rota_audit a WHERE a.id = NEW.id AND a.seq IS NULL) THEN
    RETURN NULL;
  END IF;
  PERFORM pg_advisory_xact_lock(TG_RELID::integer, 99 << 16);
  UPDATE rota_audit a
  SET seq = n.base + n.number
  FROM (
    SELECT u.id, row_number() OVER (ORDER BY u.ctid) AS number, (SELECT coalesce(max(m.seq), 0) FROM rota_audit m) AS base
    FROM rota_audit u
    WHERE u.seq IS NULL
  ) n
  WHERE a.id = n.id;
  RETURN NULL;
END $$;
