-- The secrets of templates. Only ciphertext is stored.
CREATE TABLE rota_secrets (
  template    TEXT NOT NULL,
  key         TEXT NOT NULL,
  sealed      TEXT NOT NULL,    -- text of the ciphertext, which begins with the fingerprint of its key
  fingerprint TEXT NOT NULL,    -- of the key, 16 digits, as in sealed
  version     BLOB NOT NULL,    -- id of the last command that set it
  created_by  TEXT,
  created_at  INTEGER NOT NULL,
  updated_at  INTEGER NOT NULL,

  PRIMARY KEY (template, key),
  CHECK (length(key) BETWEEN 1 AND 128 AND key NOT GLOB '*[^A-Za-z0-9_]*' AND key NOT GLOB '[0-9]*'),
  CHECK (fingerprint NOT GLOB '*[^0-9a-f]*'),
  CHECK (substr(sealed, 1, 27) = 'sealed:v1:' || fingerprint || ':'),
  CHECK (length(sealed) BETWEEN 28 AND 98304 AND substr(sealed, 28) NOT GLOB '*[^A-Za-z0-9_-]*')
) STRICT, WITHOUT ROWID;

CREATE INDEX rota_secrets_fingerprint ON rota_secrets (fingerprint);

CREATE TRIGGER rota_secrets_enter BEFORE INSERT ON rota_secrets BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this secret exists')
    WHERE EXISTS (SELECT 1 FROM rota_secrets WHERE template = NEW.template AND key = NEW.key);
  SELECT RAISE(ROLLBACK, 'rota: a secret belongs to a template that exists')
    WHERE NOT EXISTS (SELECT 1 FROM rota_templates WHERE name = NEW.template);
  SELECT RAISE(ROLLBACK, 'rota: the store knows its key before its first secret')
    WHERE NOT EXISTS (SELECT 1 FROM rota_secret_keys);
END;

CREATE TRIGGER rota_templates_secrets BEFORE DELETE ON rota_templates
WHEN EXISTS (SELECT 1 FROM rota_secrets WHERE template = OLD.name)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a template leaves after its secrets');
END;

CREATE TRIGGER rota_secrets_identity BEFORE UPDATE OF template, key, created_by, created_at ON rota_secrets
WHEN NEW.template IS NOT OLD.template OR NEW.key IS NOT OLD.key OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name and the origin of a secret never change');
END;

-- The key that seals new values: one row, or none.
CREATE TABLE rota_secret_keys (
  id          INTEGER NOT NULL PRIMARY KEY,
  primary_key TEXT NOT NULL, -- its fingerprint

  CHECK (id = 1),
  CHECK (length(primary_key) = 16 AND primary_key NOT GLOB '*[^0-9a-f]*')
) STRICT;

CREATE TRIGGER rota_secret_keys_leave BEFORE DELETE ON rota_secret_keys
WHEN EXISTS (SELECT 1 FROM rota_secrets)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the store knows its key as long as it has secrets');
END;
