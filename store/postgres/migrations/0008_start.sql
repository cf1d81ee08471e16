-- The short way. A job that is taken by the very step that makes it was written
-- twice: as it enters the queue, and as it leaves it. Now it enters as it is then,
-- with the run that it is given.

CREATE OR REPLACE FUNCTION rota_jobs_enter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status <> 'QUEUED' AND (NEW.status <> 'RUNNING' OR num_nulls(NEW.run_id, NEW.runner, NEW.queued_at) > 0
      OR NEW.hold <> 0 OR num_nonnulls(NEW.finished_at, NEW.sequel, NEW.outcome, NEW.ended_at, NEW.exit_code, NEW.error_code, NEW.error,
        NEW.rows_affected, NEW.cancel_at, NEW.cancel_by, NEW.cancel_reason, NEW.progress, NEW.log_path, NEW.artifacts, NEW.result) > 0) THEN
    PERFORM rota_refuse_job('a job enters as QUEUED, or as RUNNING with a run that has just begun', 'jobs_enter');
  END IF;
  IF NEW.attempt > NEW.max_attempts OR (NEW.retry_of IS NULL AND (NEW.attempt <> 1 OR NEW.execution_id IS NOT NULL)) THEN
    PERFORM rota_refuse_job('the first attempt begins an execution, and there are no more than its policy allows', 'jobs_attempt');
  END IF;
  IF (NEW.scope_kind IS NULL) <> (NEW.scope_id IS NULL) OR NEW.scope_kind = '' OR NEW.scope_id = ''
      OR (NEW.scope_kind = 'global' AND NEW.scope_id = 'global') THEN
    PERFORM rota_refuse_job('a scope has a kind and an id; the global one is written in one way', 'jobs_scope');
  END IF;
  IF (NEW.group_id IS NULL) <> (NEW.group_position IS NULL) OR NEW.group_position < 1 THEN
    PERFORM rota_refuse_job('a member has a group and a place in it', 'jobs_member');
  END IF;
  IF (NEW.schedule IS NULL) <> (NEW.counts_at IS NULL) OR (NEW.wait_from IS NULL) <> (NEW.wait_until IS NULL)
      OR (NEW.wait_until IS NOT NULL AND NEW.schedule IS NULL) THEN
    PERFORM rota_refuse_job('a job of a schedule counts at a time, and waits from one time to another', 'jobs_schedule');
  END IF;
  IF NEW.retry_of IS NOT NULL THEN
    IF NEW.redrive_of IS NOT NULL THEN
      PERFORM rota_refuse_job('what tries a dead letter anew is no retry', 'jobs_redrive');
    END IF;
    IF NOT EXISTS (SELECT FROM rota_jobs j WHERE j.id = NEW.retry_of
        AND j.attempt = NEW.attempt - 1 AND coalesce(j.execution_id, j.id) = NEW.execution_id) THEN
      PERFORM rota_refuse_job('a retry continues the chain of the job it retries', 'jobs_enter');
    END IF;
    IF NOT EXISTS (SELECT FROM rota_jobs j WHERE j.id = NEW.retry_of AND j.outcome IN ('FAILED', 'CANCELLED')) THEN
      PERFORM rota_refuse_job('only a run that failed is retried', 'jobs_enter');
    END IF;
  END IF;
  IF NEW.group_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM rota_groups g WHERE g.id = NEW.group_id AND g.size >= NEW.group_position) THEN
    PERFORM rota_refuse_job('a member has a place in a group that exists', 'jobs_enter');
  END IF;
  RETURN NULL;
END $$;
