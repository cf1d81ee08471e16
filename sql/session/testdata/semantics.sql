-- The behaviour of schedules.

-- EVERY fires one interval after its creation; ENDS is inclusive.
CREATE JOB beat SCHEDULE = EVERY 1 HOUR ENDS '2026-03-01T15:00:00Z' AS CALL noop();
SELECT next_run_time_ts, state FROM sys.jobs WHERE job_name = 'beat';
-- @advance 1h
-- @run
-- @advance 1h
-- @run
-- @advance 1h
-- @run
SELECT scheduled_time_ts, state, rows_affected FROM sys.job_runs WHERE job_name = 'beat' ORDER BY scheduled_time;
SELECT next_run_time_ts, last_run_time_ts, state, state_reason FROM sys.jobs WHERE job_name = 'beat';

-- AT runs once. ON COMPLETION PRESERVE keeps the definition and disables it, DROP removes it.
CREATE JOB once SCHEDULE = AT '2026-03-01T16:00:00Z' AS CALL noop();
CREATE JOB gone SCHEDULE = AT '2026-03-01T16:00:00Z' ON COMPLETION DROP AS CALL noop();
-- @advance 1h
SELECT job_name, state FROM sys.jobs WHERE schedule_kind = 'AT' ORDER BY job_name;
-- @run
SELECT job_name, state, next_run_time FROM sys.jobs WHERE schedule_kind = 'AT' ORDER BY job_name;
SELECT job_name, state FROM sys.job_runs WHERE job_name IN ('once', 'gone') ORDER BY job_name;
ALTER JOB once SET STATE = ENABLED;
ALTER JOB once SET SCHEDULE = AT '2026-03-01T18:00:00Z' SET STATE = ENABLED;
SELECT job_name, state, next_run_time_ts FROM sys.jobs WHERE job_name = 'once';

-- Catch-up: the server was down for five hours.
CREATE JOB none SCHEDULE = CRON '0 * * * *' CATCH_UP = NONE AS CALL noop();
CREATE JOB last SCHEDULE = CRON '0 * * * *' AS CALL noop();
CREATE JOB every SCHEDULE = CRON '0 * * * *' CATCH_UP = ALL AS CALL noop();
-- @advance 5h30m
SELECT job_name, count(*) AS runs, min(scheduled_time_ts) AS first FROM sys.job_runs WHERE job_name IN ('none', 'last', 'every') GROUP BY job_name ORDER BY job_name;
SELECT job_name, next_run_time_ts FROM sys.jobs WHERE job_name IN ('none', 'last', 'every') ORDER BY job_name;
DROP JOB none;
DROP JOB last;
DROP JOB every;

-- PAUSED → ENABLED catches up, DISABLED → ENABLED starts from now.
CREATE JOB p SCHEDULE = CRON '0 * * * *' AS CALL noop();
CREATE JOB d SCHEDULE = CRON '0 * * * *' AS CALL noop();
ALTER JOB p SET STATE = PAUSED;
ALTER JOB d SET STATE = DISABLED;
SELECT job_name, state, next_run_time_ts FROM sys.jobs WHERE job_name IN ('p', 'd') ORDER BY job_name;
-- @advance 3h
ALTER JOB p SET STATE = ENABLED;
ALTER JOB d SET STATE = ENABLED;
-- @advance 1s
SELECT job_name, scheduled_time_ts FROM sys.job_runs WHERE job_name IN ('p', 'd') ORDER BY job_name;
DROP JOB p;
DROP JOB d;

-- DST: a time that does not exist is skipped; a time that occurs twice runs once, at its first occurrence.
CREATE JOB spring SCHEDULE = CRON '30 2 * * *' STARTS '2026-03-28 00:00' TIME ZONE 'Europe/Berlin' AS CALL noop();
SELECT job_name, schedule_tz, next_run_time_ts FROM sys.jobs WHERE job_name = 'spring';
-- @advance 636h
-- @run
SELECT next_run_time_ts FROM sys.jobs WHERE job_name = 'spring';
CREATE JOB autumn SCHEDULE = CRON '30 2 * * *' STARTS '2026-10-25 00:00' TIME ZONE 'Europe/Berlin' AS CALL noop();
CREATE JOB twice SCHEDULE = AT '2026-10-25 02:30' TIME ZONE 'Europe/Berlin' AS CALL noop();
SELECT job_name, next_run_time_ts FROM sys.jobs WHERE job_name IN ('autumn', 'twice') ORDER BY job_name;
-- @advance 5065h
-- @run
-- @advance 30m
SELECT next_run_time_ts, last_run_time_ts FROM sys.jobs WHERE job_name = 'autumn';
SELECT count(*) FROM sys.job_runs WHERE job_name = 'autumn';
DROP JOB spring;
DROP JOB autumn;

-- Failures retry with base × 2^n; then the run has failed.
CREATE JOB flaky SCHEDULE = EVERY 100 DAYS MAX_RETRIES = 2 RETRY_BACKOFF = 1 MINUTE AS CALL report();
EXECUTE JOB flaky;
-- @fail
SELECT state, retry_count, completed_at FROM sys.job_runs WHERE job_name = 'flaky';
SELECT status, attempt, max_attempts, next_retry_at, error_code, error_msg FROM sys.executions WHERE schedule = 'flaky';
-- @advance 1m
-- @fail
SELECT next_retry_at FROM sys.executions WHERE schedule = 'flaky';
-- @advance 2m
-- @fail
SELECT state, retry_count, result_message, error_code, error_name FROM sys.job_runs WHERE job_name = 'flaky';
SELECT event_type, outcome, detail FROM sys.audit WHERE job_name = 'flaky' ORDER BY at, event_type;

-- Dependencies: extract, then load, in the window of load.
CREATE JOB extract SCHEDULE = CRON '0 1 * * *' MAX_RETRIES = 0 AS CALL noop();
CREATE JOB load SCHEDULE = CRON '30 1 * * *' DEPENDS ON extract MAX_RETRIES = 0 AS CALL noop();
SELECT job_name, next_run_time_ts FROM sys.jobs WHERE job_name IN ('extract', 'load') ORDER BY job_name;
-- @advance 24h
SELECT job_name, state FROM sys.job_runs WHERE job_name IN ('extract', 'load') ORDER BY job_name;
-- @run
SELECT job_name, state FROM sys.job_runs WHERE job_name IN ('extract', 'load') ORDER BY job_name;
-- @advance 24h
-- @fail
-- @advance 24h
SELECT job_name, state, result_message FROM sys.job_runs WHERE job_name = 'load' ORDER BY scheduled_time;

-- EXECUTE JOB ignores dependencies; EXPLAIN says why a run waits.
EXECUTE JOB load;
EXPLAIN JOB RUN {id 2};
CANCEL JOB RUN {id 2};
SELECT state FROM sys.job_runs WHERE job_run_uuid = '{id 2}';
SELECT event_type, user_name, job_run_uuid FROM sys.audit WHERE job_run_uuid = '{id 2}';

-- Overlap.
CREATE JOB slow SCHEDULE = EVERY 10 MINUTES OVERLAP = SKIP AS CALL report();
-- @advance 10m
-- @advance 10m
SELECT state, error_name FROM sys.job_runs WHERE job_name = 'slow' ORDER BY scheduled_time;

-- DROP hides the history at once; KEEP HISTORY keeps it.
SELECT count(*) > 0 AS some FROM sys.job_runs WHERE job_name = 'load';
DROP JOB load;
SELECT count(*) AS runs FROM sys.job_runs WHERE job_name = 'load';
SELECT count(*) > 0 AS some FROM sys.job_runs WHERE job_name = 'extract';
DROP JOB extract KEEP HISTORY;
SELECT count(*) > 0 AS some FROM sys.job_runs WHERE job_name = 'extract';
CREATE JOB load SCHEDULE = CRON '30 1 * * *' AS CALL noop();
EXECUTE JOB load;
SELECT state FROM sys.job_runs WHERE job_name = 'load';
-- @advance 1s
RECREATE JOB load SCHEDULE = CRON '30 2 * * *' AS CALL noop();
SELECT state FROM sys.job_runs WHERE job_name = 'load';
SELECT cron_expression FROM sys.jobs WHERE job_name = 'load';
