-- The scope session is that of a login with a password.
CREATE TABLE rota_access_tokens_too (
  id           TEXT NOT NULL PRIMARY KEY,
  user_name    TEXT NOT NULL,
  scope        TEXT NOT NULL,
  type         TEXT,          -- of scope worker: the only type it may claim
  job          TEXT,          -- the only definition it may see and use
  hash         TEXT NOT NULL, -- SHA-256 of the token
  verifier     TEXT,          -- SCRAM verifier of the token
  created_by   TEXT,
  created_at   INTEGER NOT NULL,
  expires_at   INTEGER,       -- NULL: never
  last_used_at INTEGER,       -- NULL: never
  revoked_at   INTEGER,       -- NULL: not revoked
  revoked_by   TEXT,

  CHECK (length(id) BETWEEN 8 AND 32),
  CHECK (user_name <> ''),
  CHECK (CASE scope WHEN 'worker' THEN true WHEN 'read' THEN type IS NULL WHEN 'write' THEN type IS NULL WHEN 'session' THEN type IS NULL AND job IS NULL ELSE false END),
  CHECK (length(hash) = 64),
  CHECK (revoked_by IS NULL OR revoked_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

INSERT INTO rota_access_tokens_too (
  id, user_name, scope, type, job, hash, verifier, created_by, created_at, expires_at, last_used_at, revoked_at, revoked_by
)
SELECT
  id, user_name, scope, type, job, hash, verifier, created_by, created_at, expires_at, last_used_at, revoked_at, revoked_by
FROM rota_access_tokens;

DROP TABLE rota_access_tokens;
ALTER TABLE rota_access_tokens_too RENAME TO rota_access_tokens;

CREATE INDEX rota_access_tokens_user ON rota_access_tokens (user_name, id);
CREATE INDEX rota_access_tokens_ended ON rota_access_tokens (coalesce(revoked_at, expires_at), id)
  WHERE coalesce(revoked_at, expires_at) IS NOT NULL;

CREATE TRIGGER rota_access_tokens_enter BEFORE INSERT ON rota_access_tokens
WHEN EXISTS (SELECT 1 FROM rota_access_tokens WHERE id = NEW.id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this token exists');
END;

CREATE TRIGGER rota_access_tokens_identity BEFORE UPDATE OF
  id, user_name, scope, type, job, hash, verifier, created_by, created_at, expires_at
ON rota_access_tokens
WHEN NEW.id IS NOT OLD.id OR NEW.user_name IS NOT OLD.user_name OR NEW.scope IS NOT OLD.scope OR NEW.type IS NOT OLD.type
  OR NEW.job IS NOT OLD.job OR NEW.hash IS NOT OLD.hash OR NEW.verifier IS NOT OLD.verifier
  OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at OR NEW.expires_at IS NOT OLD.expires_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a token allows never changes');
END;

CREATE TRIGGER rota_access_tokens_once BEFORE UPDATE OF revoked_at, revoked_by ON rota_access_tokens
WHEN OLD.revoked_at IS NOT NULL AND (NEW.revoked_at IS NOT OLD.revoked_at OR NEW.revoked_by IS NOT OLD.revoked_by)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a token is revoked once');
END;
