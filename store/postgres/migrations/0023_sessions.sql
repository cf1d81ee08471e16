-- The scope session is that of a login with a password. This migration locks the tokens only, of which there are few.
ALTER TABLE rota_access_tokens DROP CONSTRAINT access_tokens_scope;
ALTER TABLE rota_access_tokens ADD CONSTRAINT access_tokens_scope CHECK (
  CASE scope WHEN 'worker' THEN true WHEN 'read' THEN type IS NULL WHEN 'write' THEN type IS NULL WHEN 'session' THEN type IS NULL AND job IS NULL ELSE false END
);

-- Tokens that have ended are removed later.
CREATE INDEX access_tokens_ended ON rota_access_tokens (coalesce(revoked_at, expires_at), id)
  WHERE coalesce(revoked_at, expires_at) IS NOT NULL;
