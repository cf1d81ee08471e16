-- Users and roles with their credentials, memberships and grants. This migration locks no other table.
CREATE TABLE rota_principals (
  name        text COLLATE "C" NOT NULL PRIMARY KEY, -- users and roles share one set of names
  kind        text COLLATE "C" NOT NULL,
  certificate text COLLATE "C",    -- common name of the client certificates of the user, as in its spec
  version     uuid NOT NULL,       -- id of the last command that changed it
  created_by  text COLLATE "C",
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,
  spec        text NOT NULL,

  CONSTRAINT principals_name CHECK (name <> ''),
  CONSTRAINT principals_kind CHECK (CASE kind WHEN 'USER' THEN true WHEN 'ROLE' THEN certificate IS NULL ELSE false END)
);

CREATE UNIQUE INDEX principals_certificate ON rota_principals (certificate)
  WHERE certificate IS NOT NULL;
CREATE INDEX principals_roles ON rota_principals (name)
  WHERE kind = 'ROLE';

CREATE TRIGGER principals_identity AFTER UPDATE OF name, kind, created_by, created_at ON rota_principals FOR EACH ROW
WHEN ((NEW.name, NEW.kind, NEW.created_by, NEW.created_at) IS DISTINCT FROM (OLD.name, OLD.kind, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: the name, the kind and the origin of a principal never change');

-- The tokens of users. The token itself is not stored. A use of a token changes no indexed column.
CREATE TABLE rota_access_tokens (
  id           text COLLATE "C" NOT NULL PRIMARY KEY,
  user_name    text COLLATE "C" NOT NULL,
  scope        text COLLATE "C" NOT NULL,
  type         text COLLATE "C",   -- of scope worker: the only type it may claim
  job          text COLLATE "C",   -- the only definition it may see and use
  hash         text COLLATE "C" NOT NULL, -- SHA-256 of the token
  verifier     text COLLATE "C",   -- SCRAM verifier of the token
  created_by   text COLLATE "C",
  created_at   bigint NOT NULL,
  expires_at   bigint,             -- NULL: never
  last_used_at bigint,             -- NULL: never
  revoked_at   bigint,             -- NULL: not revoked
  revoked_by   text COLLATE "C",

  CONSTRAINT access_tokens_id CHECK (length(id) BETWEEN 8 AND 32),
  CONSTRAINT access_tokens_user CHECK (user_name <> ''),
  CONSTRAINT access_tokens_scope CHECK (CASE scope WHEN 'worker' THEN true WHEN 'read' THEN type IS NULL WHEN 'write' THEN type IS NULL ELSE false END),
  CONSTRAINT access_tokens_hash CHECK (length(hash) = 64),
  CONSTRAINT access_tokens_revoked CHECK (revoked_by IS NULL OR revoked_at IS NOT NULL)
) WITH (fillfactor = 80);

CREATE INDEX access_tokens_of_user ON rota_access_tokens (user_name, id);

CREATE TRIGGER access_tokens_identity AFTER UPDATE OF
  id, user_name, scope, type, job, hash, verifier, created_by, created_at, expires_at
ON rota_access_tokens FOR EACH ROW
WHEN ((NEW.id, NEW.user_name, NEW.scope, NEW.type, NEW.job, NEW.hash, NEW.verifier, NEW.created_by, NEW.created_at, NEW.expires_at)
  IS DISTINCT FROM (OLD.id, OLD.user_name, OLD.scope, OLD.type, OLD.job, OLD.hash, OLD.verifier, OLD.created_by, OLD.created_at, OLD.expires_at))
EXECUTE FUNCTION rota_refuse('rota: what a token allows never changes');

CREATE TRIGGER access_tokens_once AFTER UPDATE OF revoked_at, revoked_by ON rota_access_tokens FOR EACH ROW
WHEN (OLD.revoked_at IS NOT NULL AND (NEW.revoked_at, NEW.revoked_by) IS DISTINCT FROM (OLD.revoked_at, OLD.revoked_by))
EXECUTE FUNCTION rota_refuse('rota: a token is revoked once');

-- The version of all principals and tokens: one row, or none.
CREATE TABLE rota_access_state (
  id      integer NOT NULL PRIMARY KEY,
  version uuid NOT NULL,           -- id of the last command that changed one of them

  CONSTRAINT access_state_one CHECK (id = 1)
);
