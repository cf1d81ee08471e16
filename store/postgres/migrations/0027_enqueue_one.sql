-- rota_enqueue_one inserts a simple job in a transaction of a caller: the fast path of the program, see
-- caller_enqueue.go. It returns null, and changes nothing, unless the program has decided on rows that are still so.
-- Otherwise it returns the last position before the job, the id of the transaction and that of the row's version. A
-- function leaves neither settings nor a prepared statement in the connection, and its plans are kept.
CREATE FUNCTION rota_enqueue_one(
  assumed_now bigint, lag_max bigint, hooks text, type_version xid,
  job_id uuid, job_type text, job_hold bigint, job_priority bigint, job_max_attempts bigint,
  job_backoff bigint, job_backoff_max bigint, job_jitter double precision, job_timeout bigint,
  job_created_at bigint, job_queued_at bigint, job_run_at bigint,
  job_unique_key text, job_unique_for bigint, key_free_at bigint,
  job_created_by text, job_trace text, job_owner text, job_params text
) RETURNS bigint[] LANGUAGE plpgsql
SET lock_timeout = '250ms' SET enable_seqscan = off SET jit = off SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
  last_position bigint;
  version xid;
BEGIN
  IF current_setting('transaction_read_only') = 'on'
    OR (extract(epoch FROM clock_timestamp()) * 1000000)::bigint NOT BETWEEN assumed_now AND assumed_now + lag_max
    OR hooks IS DISTINCT FROM (SELECT concat(w.version, ' ', w.xmin) FROM rota_webhooks w)
    OR EXISTS (SELECT FROM rota_templates t WHERE t.webhooks > 0)
    OR (SELECT t.xmin FROM rota_types t WHERE t.name = job_type) IS DISTINCT FROM type_version
    OR EXISTS (SELECT FROM rota_jobs j WHERE j.id = job_id)
  THEN
    RETURN NULL;
  END IF;
  IF job_unique_key IS NOT NULL THEN
    INSERT INTO rota_keys (type, key, execution_id, free_at, ended)
    VALUES (job_type, job_unique_key, job_id, key_free_at, false)
    ON CONFLICT (type, key) DO NOTHING;
    IF NOT FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  last_position := coalesce((
    SELECT j.position FROM rota_jobs j
    WHERE j.status LIKE 'QUEUED' AND j.priority = job_priority::integer
    ORDER BY j.priority, j.position DESC LIMIT 1), 0);
  INSERT INTO rota_jobs (id, type, hold, priority, position, max_attempts, backoff, backoff_max, jitter, timeout,
    created_at, queued_at, run_at, unique_key, unique_for, created_by, trace, owner, params)
  VALUES (job_id, job_type, job_hold, job_priority, last_position + 100, job_max_attempts, job_backoff, job_backoff_max, job_jitter, job_timeout,
    job_created_at, job_queued_at, job_run_at, job_unique_key, job_unique_for, job_created_by, job_trace, job_owner, job_params)
  RETURNING xmin INTO version;
  RETURN ARRAY[last_position, pg_current_xact_id()::text::bigint, version::text::bigint];
END $$;
