-- Brevity. PostgreSQL reads the conditions of a table's CHECKs and triggers anew in
-- every statement that writes to it, at 12 ns for each byte of their trees: for one
-- job that took longer than to write it. Now a condition tells only whether there
-- is anything to look at, and functions, which are kept ready, look.

-- Whoever has begun to work goes first, or each of the two would wait for the other.
LOCK TABLE rota_jobs IN ACCESS EXCLUSIVE MODE;

-- A job that waits for nothing, or for its time alone, needs nothing for it.
CREATE FUNCTION rota_hold_fits(hold integer, group_id uuid, wait_until bigint, schedule text, concurrency_key text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  RETURN hold >= 0 AND hold < 256 AND (hold & 2 = 0 OR group_id IS NOT NULL) AND (hold & 4 = 0 OR wait_until IS NOT NULL)
    AND (hold & 8 = 0 OR schedule IS NOT NULL) AND (hold & 16 = 0 OR concurrency_key IS NOT NULL);
END $$;
-- It is asked for by whoever writes a job, also where functions are for their owner alone.
GRANT EXECUTE ON FUNCTION rota_hold_fits(integer, uuid, bigint, text, text) TO PUBLIC;

ALTER TABLE rota_jobs
  DROP CONSTRAINT jobs_hold,
  ADD CONSTRAINT jobs_hold CHECK (hold IN (0, 1) OR rota_hold_fits(hold, group_id, wait_until, schedule, concurrency_key));

-- What follows from the guards of the rows is not asked for again: what has a run
-- has started, and what has a sequel has finished.
CREATE FUNCTION rota_jobs_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.queued_at IS NOT NULL AND NEW.queued_at IS DISTINCT FROM OLD.queued_at)
      OR (OLD.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at)
      OR (OLD.finished_at IS NOT NULL AND NEW.finished_at IS DISTINCT FROM OLD.finished_at)
      OR (OLD.sequel IS NOT NULL AND NEW.sequel IS DISTINCT FROM OLD.sequel)
      OR (OLD.run_id IS NOT NULL AND NEW.run_id IS DISTINCT FROM OLD.run_id) THEN
    PERFORM rota_refuse_job('the times, the run and the sequel of a job are written once', 'jobs_once');
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER jobs_once ON rota_jobs;
CREATE TRIGGER jobs_once AFTER UPDATE OF started_at, run_id ON rota_jobs FOR EACH ROW
WHEN (OLD.started_at IS NOT NULL)
EXECUTE FUNCTION rota_jobs_once();
CREATE TRIGGER jobs_once_finished AFTER UPDATE OF finished_at, sequel ON rota_jobs FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL)
EXECUTE FUNCTION rota_jobs_once();
CREATE TRIGGER jobs_once_queued AFTER UPDATE OF queued_at ON rota_jobs FOR EACH ROW
WHEN (OLD.queued_at IS NOT NULL)
EXECUTE FUNCTION rota_jobs_once();

CREATE FUNCTION rota_jobs_whose() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.token, NEW.runner, NEW.life, NEW.claim_id) IS DISTINCT FROM (OLD.token, OLD.runner, OLD.life, OLD.claim_id) THEN
    PERFORM rota_refuse_job('whose a run is never changes', 'jobs_whose');
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER jobs_whose ON rota_jobs;
CREATE TRIGGER jobs_whose AFTER UPDATE OF token, runner, life, claim_id ON rota_jobs FOR EACH ROW
WHEN (OLD.runner IS NOT NULL)
EXECUTE FUNCTION rota_jobs_whose();

CREATE FUNCTION rota_jobs_closed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.outcome, NEW.heartbeat_at, NEW.stale_after, NEW.error_code, NEW.rows_affected, NEW.cancel_at, NEW.cancel_by,
      NEW.cancel_reason, NEW.progress, NEW.log_path, NEW.result)
    IS DISTINCT FROM (OLD.outcome, OLD.heartbeat_at, OLD.stale_after, OLD.error_code, OLD.rows_affected, OLD.cancel_at, OLD.cancel_by,
      OLD.cancel_reason, OLD.progress, OLD.log_path, OLD.result) THEN
    PERFORM rota_refuse_job('the outcome of a run is written once', 'jobs_closed');
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER jobs_closed ON rota_jobs;
CREATE TRIGGER jobs_closed AFTER UPDATE OF
  outcome, heartbeat_at, stale_after, error_code, rows_affected, cancel_at, cancel_by, cancel_reason, progress,
  log_path, result
ON rota_jobs FOR EACH ROW
WHEN (OLD.outcome IS NOT NULL)
EXECUTE FUNCTION rota_jobs_closed();

CREATE FUNCTION rota_jobs_noted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (OLD.ended_at IS NOT NULL AND NEW.ended_at IS DISTINCT FROM OLD.ended_at)
      OR (OLD.exit_code IS NOT NULL AND NEW.exit_code IS DISTINCT FROM OLD.exit_code)
      OR (OLD.error IS NOT NULL AND NEW.error IS DISTINCT FROM OLD.error)
      OR (OLD.cancel_at IS NOT NULL AND (NEW.cancel_at, NEW.cancel_by, NEW.cancel_reason)
        IS DISTINCT FROM (OLD.cancel_at, OLD.cancel_by, OLD.cancel_reason))
      OR (OLD.log_path IS NOT NULL AND NEW.log_path IS DISTINCT FROM OLD.log_path) THEN
    PERFORM rota_refuse_job('finish time, exit code, error, cancellation and log of a run are written once', 'jobs_noted');
  END IF;
  RETURN NULL;
END $$;

DROP TRIGGER jobs_noted ON rota_jobs;
CREATE TRIGGER jobs_noted AFTER UPDATE OF ended_at, exit_code, error ON rota_jobs FOR EACH ROW
WHEN (num_nonnulls(OLD.ended_at, OLD.exit_code, OLD.error) > 0)
EXECUTE FUNCTION rota_jobs_noted();
CREATE TRIGGER jobs_noted_cancel AFTER UPDATE OF cancel_at, cancel_by, cancel_reason ON rota_jobs FOR EACH ROW
WHEN (OLD.cancel_at IS NOT NULL)
EXECUTE FUNCTION rota_jobs_noted();
CREATE TRIGGER jobs_noted_log AFTER UPDATE OF log_path ON rota_jobs FOR EACH ROW
WHEN (OLD.log_path IS NOT NULL)
EXECUTE FUNCTION rota_jobs_noted();
