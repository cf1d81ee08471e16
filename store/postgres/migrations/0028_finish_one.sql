-- rota_finish_one completes a simple run in a transaction of a caller: the fast path of the program, see
-- caller_finish.go. It returns null, and changes nothing, unless the program has decided on rows that are still so.
-- Otherwise it returns the id of the transaction and that of the row's version.
CREATE FUNCTION rota_finish_one(
  assumed_now bigint, lag_max bigint, hooks text, limits_version xid,
  job_id uuid, job_version xid, job_finished_at bigint, job_sequel text, job_outcome text,
  job_exit_code bigint, job_rows_affected bigint, job_result text, job_log_path text
) RETURNS bigint[] LANGUAGE plpgsql
SET lock_timeout = '250ms' SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  version xid;
BEGIN
  IF current_setting('transaction_read_only') = 'on'
    OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint NOT BETWEEN assumed_now AND assumed_now + lag_max
    OR hooks IS DISTINCT FROM (SELECT concat(w.version, ' ', w.xmin) FROM rota_webhooks w)
    OR EXISTS (SELECT FROM rota_templates t WHERE t.webhooks > 0)
    OR (SELECT t.xmin FROM rota_throttle t) IS DISTINCT FROM limits_version
    OR EXISTS (SELECT FROM rota_reservations r WHERE r.status = 'ACTIVE')
  THEN
    RETURN NULL;
  END IF;
  UPDATE rota_jobs j
  SET finished_at = job_finished_at, sequel = job_sequel, outcome = job_outcome, ended_at = job_finished_at,
    exit_code = job_exit_code, rows_affected = job_rows_affected, result = job_result, log_path = job_log_path
  WHERE j.id = job_id AND j.xmin = job_version
  RETURNING j.xmin INTO version;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  RETURN ARRAY[pg_current_xact_id()::text::bigint, version::text::bigint];
END $$;
