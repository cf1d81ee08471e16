-- Searches for jobs by what few of them have: a name, a unique key, a scope, an
-- error. Each index holds only jobs that have it, so that a plain job that
-- completes has an entry in none of them.
CREATE INDEX rota_jobs_name ON rota_jobs (name, id)
  WHERE name IS NOT NULL;
CREATE INDEX rota_jobs_unique_key ON rota_jobs (unique_key, id)
  WHERE unique_key IS NOT NULL;
CREATE INDEX rota_jobs_scope ON rota_jobs (scope_id, id)
  WHERE scope_id IS NOT NULL;
CREATE INDEX rota_jobs_error_code ON rota_jobs (error_code, id)
  WHERE error_code IS NOT NULL;
