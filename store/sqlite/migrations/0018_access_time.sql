-- The newest time of a principal, token, membership or grant that ever existed; NULL: not known. What is created later is never older.
ALTER TABLE rota_access_state ADD COLUMN newest INTEGER;

UPDATE rota_access_state
SET newest = nullif(max(
  (SELECT coalesce(max(updated_at), 0) FROM rota_principals),
  (SELECT coalesce(max(created_at), 0) FROM rota_access_tokens)), 0);
