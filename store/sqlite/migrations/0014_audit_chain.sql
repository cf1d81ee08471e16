-- The audit is a chain of hashes: each entry is sealed with a number and a hash over the entry and the hash
-- before it. A seal has the ids and the hashes of the entries from first to seq, 16 and 32 bytes each.
CREATE TABLE rota_audit_seals (
  seq    INTEGER NOT NULL PRIMARY KEY, -- number of its last entry
  first  INTEGER NOT NULL,             -- number of its first entry
  ids    BLOB NOT NULL,
  hashes BLOB NOT NULL,

  CHECK (length(ids) = 16 * (seq - first + 1) AND length(hashes) = 32 * (seq - first + 1))
) STRICT;

-- The last entry that was removed, after which the chain continues, and the time before which entries may
-- be deleted. A node signs it with its key.
CREATE TABLE rota_audit_anchor (
  id             INTEGER NOT NULL PRIMARY KEY,
  seq            INTEGER NOT NULL DEFAULT 0,
  hash           BLOB NOT NULL DEFAULT (zeroblob(32)),
  removed_before INTEGER NOT NULL,
  key            BLOB,
  signature      BLOB,

  CHECK (id = 1),
  CHECK (length(hash) = 32)
) STRICT;

INSERT INTO rota_audit_anchor (id, removed_before)
SELECT 1, removed_before
FROM rota_audit_bound;

-- Entries that are not sealed yet, in the order in which they were written: those of earlier versions.
CREATE TABLE rota_audit_unsealed (
  n   INTEGER NOT NULL PRIMARY KEY,
  at  INTEGER NOT NULL, -- when they were written
  ids BLOB NOT NULL
) STRICT;

INSERT INTO rota_audit_unsealed (n, at, ids)
SELECT seq, at, id
FROM rota_audit
ORDER BY seq;

CREATE TRIGGER rota_audit_seals_enter BEFORE INSERT ON rota_audit_seals
WHEN NEW.first <> 1 + coalesce((SELECT max(seq) FROM rota_audit_seals), (SELECT seq FROM rota_audit_anchor))
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the chain of the audit only grows');
END;

CREATE TRIGGER rota_audit_seals_keep BEFORE UPDATE ON rota_audit_seals BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the chain of the audit only grows');
END;

CREATE TRIGGER rota_audit_seals_stay BEFORE DELETE ON rota_audit_seals
WHEN OLD.seq > (SELECT seq FROM rota_audit_anchor)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the chain of the audit only grows');
END;

DROP TRIGGER rota_audit_stay;
DROP TABLE rota_audit_bound;

CREATE TRIGGER rota_audit_stay BEFORE DELETE ON rota_audit
WHEN OLD.at >= (SELECT removed_before FROM rota_audit_anchor)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the audit is only appended to');
END;

CREATE TRIGGER rota_audit_anchor_enter BEFORE INSERT ON rota_audit_anchor BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the anchor of the audit only moves forward');
END;

CREATE TRIGGER rota_audit_anchor_move BEFORE UPDATE ON rota_audit_anchor
WHEN NEW.id <> OLD.id OR NEW.removed_before < OLD.removed_before OR NEW.seq < OLD.seq OR NEW.seq = OLD.seq AND NEW.hash <> OLD.hash
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the anchor of the audit only moves forward');
END;

CREATE TRIGGER rota_audit_anchor_stay BEFORE DELETE ON rota_audit_anchor BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the anchor of the audit only moves forward');
END;
