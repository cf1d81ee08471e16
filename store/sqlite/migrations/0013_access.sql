-- Users and roles with their credentials, memberships and grants.
CREATE TABLE rota_principals (
  name        TEXT NOT NULL PRIMARY KEY, -- users and roles share one set of names
  kind        TEXT NOT NULL,
  certificate TEXT,                      -- common name of the client certificates of the user, as in its spec
  version     BLOB NOT NULL,             -- id of the last command that changed it
  created_by  TEXT,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,
  spec        TEXT NOT NULL,

  CHECK (name <> ''),
  CHECK (CASE kind WHEN 'USER' THEN true WHEN 'ROLE' THEN certificate IS NULL ELSE false END)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX rota_principals_certificate ON rota_principals (certificate)
  WHERE certificate IS NOT NULL;
CREATE INDEX rota_principals_roles ON rota_principals (name)
  WHERE kind = 'ROLE';

CREATE TRIGGER rota_principals_enter BEFORE INSERT ON rota_principals BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this principal exists')
    WHERE EXISTS (SELECT 1 FROM rota_principals WHERE name = NEW.name);
  SELECT RAISE(ROLLBACK, 'rota: this certificate has a user')
    WHERE EXISTS (SELECT 1 FROM rota_principals WHERE certificate = NEW.certificate);
END;

CREATE TRIGGER rota_principals_identity BEFORE UPDATE OF name, kind, created_by, created_at ON rota_principals
WHEN NEW.name IS NOT OLD.name OR NEW.kind IS NOT OLD.kind OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name, the kind and the origin of a principal never change');
END;

-- A user may replace a certificate, but not take that of another user.
CREATE TRIGGER rota_principals_certificate_free BEFORE UPDATE OF certificate ON rota_principals
WHEN EXISTS (SELECT 1 FROM rota_principals WHERE certificate = NEW.certificate AND name <> OLD.name)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this certificate has a user');
END;

-- The tokens of users. The token itself is not stored.
CREATE TABLE rota_access_tokens (
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
  CHECK (CASE scope WHEN 'worker' THEN true WHEN 'read' THEN type IS NULL WHEN 'write' THEN type IS NULL ELSE false END),
  CHECK (length(hash) = 64),
  CHECK (revoked_by IS NULL OR revoked_at IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX rota_access_tokens_user ON rota_access_tokens (user_name, id);

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

-- The version of all principals and tokens: one row, or none.
CREATE TABLE rota_access_state (
  id      INTEGER NOT NULL PRIMARY KEY,
  version BLOB NOT NULL, -- id of the last command that changed one of them

  CHECK (id = 1)
) STRICT;
