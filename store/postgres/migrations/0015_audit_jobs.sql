-- The acts that follow from jobs, by time: what ended, all of it and by schedule,
-- and what a caller enqueued.
CREATE INDEX jobs_finished ON rota_jobs (finished_at, id)
  WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_schedule_finished ON rota_jobs (schedule, finished_at, id)
  WHERE schedule IS NOT NULL AND finished_at IS NOT NULL;
CREATE INDEX jobs_created ON rota_jobs (created_at, id)
  WHERE created_by IS NOT NULL AND schedule IS NULL AND retry_of IS NULL AND redrive_of IS NULL;
