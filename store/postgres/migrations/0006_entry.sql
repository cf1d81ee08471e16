-- The way in. A job that enters was looked at by seven triggers and written into
-- two orders with all that breaks ties: that cost more than its row. Now one
-- condition tells whether anything about it is out of the ordinary, and the order
-- of the whole queue has the numbers alone.

-- Whoever has begun to work goes first, or each of the two would wait for the other.
LOCK TABLE rota_jobs IN ACCESS EXCLUSIVE MODE;

-- Held jobs included: the end of a priority, and the neighbours of a job that is
-- moved. Two jobs in one place, which is rare, are told apart when they are read.
DROP INDEX rota_jobs_order;
CREATE INDEX jobs_order ON rota_jobs (priority DESC, position)
  WHERE status = 'QUEUED';

CREATE FUNCTION rota_refuse_job(reason text, name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = 'rota: ' || reason, ERRCODE = 'check_violation', CONSTRAINT = name;
END $$;

CREATE OR REPLACE FUNCTION rota_jobs_enter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status <> 'QUEUED' THEN
    PERFORM rota_refuse_job('a job enters as QUEUED', 'jobs_enter');
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

DROP TRIGGER jobs_enter ON rota_jobs;
DROP TRIGGER jobs_attempt ON rota_jobs;
DROP TRIGGER jobs_scope ON rota_jobs;
DROP TRIGGER jobs_member ON rota_jobs;
DROP TRIGGER jobs_schedule ON rota_jobs;
DROP TRIGGER jobs_redrive ON rota_jobs;
DROP TRIGGER jobs_enter_company ON rota_jobs;

-- What has anything to do with others is looked at by the function. A plain job
-- is told by what it has nothing in.
CREATE TRIGGER jobs_enter AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN (NEW.status <> 'QUEUED' OR NEW.attempt <> 1 OR NEW.max_attempts < 1
  OR num_nonnulls(NEW.execution_id, NEW.retry_of, NEW.redrive_of, NEW.scope_kind, NEW.scope_id, NEW.schedule, NEW.counts_at, NEW.group_id,
    NEW.group_position, NEW.wait_from, NEW.wait_until) > 0)
EXECUTE FUNCTION rota_jobs_enter();
