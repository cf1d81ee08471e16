-- The time zone of a session applies to its queries; the times in their results are the
-- same in every zone.

CREATE JOB a SCHEDULE = EVERY 12 HOURS AS CALL noop();
CREATE JOB b SCHEDULE = AT '2026-03-28T22:30:00Z' AS CALL noop();
-- @advance 11h30m
SELECT now(), current_date, localtimestamp, localtime;
SELECT job_name, next_run_time_ts, next_run_time_ts::date, next_run_time_ts::time, next_run_time_ts::text FROM sys.jobs ORDER BY 1;

SET TIME ZONE 'Europe/Berlin';
SELECT now(), current_date, localtimestamp, localtime;
SELECT job_name, next_run_time_ts, next_run_time_ts::date, next_run_time_ts::time, next_run_time_ts::text FROM sys.jobs ORDER BY 1;
SELECT job_name FROM sys.jobs WHERE next_run_time_ts = '2026-03-02 01:00';
SELECT job_name FROM sys.jobs WHERE next_run_time_ts = '2026-03-02 00:00+00';
SELECT job_name FROM sys.jobs WHERE next_run_time_ts >= '2026-03-28 23:30' AND next_run_time_ts < '2026-03-29';
SELECT job_name FROM sys.jobs WHERE next_run_time_ts < date '2026-03-29' ORDER BY 1;
SELECT job_name, next_run_time_ts + interval '1 day', next_run_time_ts + interval '24 hours' FROM sys.jobs WHERE job_name = 'b';
SELECT job_name, date_trunc('day', next_run_time_ts), extract(hour FROM next_run_time_ts), to_char(next_run_time_ts, 'HH24:MI TZ'), to_json(next_run_time_ts) FROM sys.jobs ORDER BY 1;
SELECT date_trunc('day', next_run_time_ts) AS day, count(*) FROM sys.jobs GROUP BY 1 ORDER BY 1;
SELECT timestamptz '2026-03-29 02:30', timestamptz '2026-10-25 02:30', timestamp '2026-07-01 12:00'::timestamptz, '{2026-07-01}'::timestamptz[];
SELECT d FROM generate_series(timestamptz '2026-03-28', timestamptz '2026-03-30', interval '1 day') d;
SELECT current_setting('TimeZone'), age(timestamptz '2026-03-30', timestamptz '2026-03-29'), timestamptz '2026-03-30' - timestamptz '2026-03-29';
SHOW JOBS;

-- SET LOCAL applies to one transaction, and RESET resets the zone like any setting.
BEGIN;
SET LOCAL TIME ZONE 'Asia/Kolkata';
SELECT job_name, next_run_time_ts::text FROM sys.jobs WHERE job_name = 'b';
COMMIT;
SELECT job_name, next_run_time_ts::text FROM sys.jobs WHERE job_name = 'b';
SELECT set_config('TimeZone', 'America/New_York', false);
SELECT job_name, next_run_time_ts::text FROM sys.jobs WHERE job_name = 'b';
RESET TIME ZONE;
SELECT job_name, next_run_time_ts::text FROM sys.jobs WHERE job_name = 'b';
SET TIME ZONE 'Nowhere/Land';
