-- The secrets of templates. Only ciphertext is stored.
CREATE TABLE rota_secrets (
  template    text COLLATE "C" NOT NULL REFERENCES rota_templates,
  key         text COLLATE "C" NOT NULL,
  sealed      text COLLATE "C" NOT NULL, -- text of the ciphertext, which begins with the fingerprint of its key
  fingerprint text COLLATE "C" NOT NULL, -- of the key, 16 digits, as in sealed
  version     uuid NOT NULL,             -- id of the last command that set it
  created_by  text COLLATE "C",
  created_at  bigint NOT NULL,
  updated_at  bigint NOT NULL,

  PRIMARY KEY (template, key),
  CONSTRAINT secrets_key CHECK (length(key) BETWEEN 1 AND 128 AND key !~ '[^A-Za-z0-9_]' AND key !~ '^[0-9]'),
  CONSTRAINT secrets_fingerprint CHECK (fingerprint !~ '[^0-9a-f]'),
  CONSTRAINT secrets_prefix CHECK (substr(sealed, 1, 27) = 'sealed:v1:' || fingerprint || ':'),
  CONSTRAINT secrets_sealed CHECK (length(sealed) BETWEEN 28 AND 98304 AND substr(sealed, 28) !~ '[^A-Za-z0-9_-]')
);

CREATE INDEX secrets_of_key ON rota_secrets (fingerprint);

-- The key that seals new values: one row, or none.
CREATE TABLE rota_secret_keys (
  id          integer NOT NULL PRIMARY KEY,
  primary_key text COLLATE "C" NOT NULL, -- its fingerprint

  CONSTRAINT secret_keys_one CHECK (id = 1),
  CONSTRAINT secret_keys_primary CHECK (length(primary_key) = 16 AND primary_key !~ '[^0-9a-f]')
);

CREATE FUNCTION rota_secrets_enter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM rota_secret_keys) THEN
    RAISE EXCEPTION 'rota: the store knows its key before its first secret' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER secrets_enter AFTER INSERT ON rota_secrets FOR EACH ROW
EXECUTE FUNCTION rota_secrets_enter();

CREATE TRIGGER secrets_identity AFTER UPDATE OF template, key, created_by, created_at ON rota_secrets FOR EACH ROW
WHEN ((NEW.template, NEW.key, NEW.created_by, NEW.created_at) IS DISTINCT FROM (OLD.template, OLD.key, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: the name and the origin of a secret never change');

CREATE FUNCTION rota_secret_keys_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM rota_secrets) THEN
    RAISE EXCEPTION 'rota: the store knows its key as long as it has secrets' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER secret_keys_leave AFTER DELETE ON rota_secret_keys FOR EACH ROW
EXECUTE FUNCTION rota_secret_keys_leave();

CREATE TRIGGER secret_keys_stay BEFORE TRUNCATE ON rota_secret_keys
EXECUTE FUNCTION rota_refuse('rota: the store knows its key as long as it has secrets');

-- A process of an earlier version that still runs drops and recreates definitions, and does not know secrets: they
-- must not reach the jobs of another definition of the name.
CREATE FUNCTION rota_templates_secrets() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM rota_secrets WHERE template = NEW.name;
  RETURN NULL;
END $$;

CREATE TRIGGER templates_secrets AFTER UPDATE OF owner, since ON rota_templates FOR EACH ROW
WHEN (NEW.owner IS NULL OR NEW.since <> OLD.since)
EXECUTE FUNCTION rota_templates_secrets();
