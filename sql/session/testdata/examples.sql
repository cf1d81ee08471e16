-- The statements of document 002, each alternative of each clause.

CREATE JOB base SCHEDULE = CRON '0 3 * * *' AS 'VACUUM';

CREATE JOB nightly
  CLASS = LOCAL_SAFE
  PARTITION BY ALL_SHARDS
  SCHEDULE = CRON '0 2 * * *'
  DEPENDS ON base
  MAX_RETRIES = 5
  RETRY_BACKOFF = 2 MINUTES
  TIMEOUT = 1 HOUR
  ON COMPLETION PRESERVE
  RUN AS reporter
  DESCRIPTION = 'sums of the day'
  ENABLED
  AS 'INSERT INTO sums SELECT day, sum(x) FROM facts GROUP BY day';

CREATE JOB once SCHEDULE = AT '2026-03-02 09:00:00' ON COMPLETION DROP AS CALL report();
CREATE JOB beat SCHEDULE = EVERY 30 SECONDS STARTS '2026-03-01T13:00:00Z' ENDS '2026-03-01T14:00:00Z' AS CALL noop();
CREATE JOB shell CLASS = LEADER_ONLY SCHEDULE = EVERY 1 HOUR DISABLED AS EXEC '/usr/bin/backup --all';
CREATE JOB one_shard CLASS = QUORUM_REQUIRED PARTITION BY SINGLE_SHARD '6F9619FF-8B86-D011-B42D-00C04FC964FF' SCHEDULE = EVERY 1 DAYS AS 'SELECT 1';
CREATE JOB some_shards PARTITION BY SHARD_SET (6f9619ff-8b86-d011-b42d-00c04fc964ff, '7f9619ff-8b86-d011-b42d-00c04fc964ff') SCHEDULE = EVERY 5 MINUTES AS 'SELECT 1';
CREATE JOB dyn PARTITION BY DYNAMIC 'region == "eu"' SCHEDULE = EVERY 5 MINUTES AS 'SELECT 1';
CREATE JOB dyn2 PARTITION BY DYNAMIC (region in ("eu", "us")) SCHEDULE = EVERY 5 MINUTES AS 'SELECT 1';
CREATE OR ALTER JOB beat SCHEDULE = EVERY 1 MINUTE AS CALL noop();
CREATE OR ALTER JOB fresh SCHEDULE = EVERY 1 MINUTE AS CALL noop();
RECREATE JOB fresh SCHEDULE = CRON '*/5 * * * *' AS CALL report();
RECREATE JOB fresher SCHEDULE = CRON '*/5 * * * *' AS CALL report();

ALTER JOB nightly SET SCHEDULE = CRON '30 2 * * *';
ALTER JOB nightly SET STATE = PAUSED;
ALTER JOB nightly SET STATE = DISABLED;
ALTER JOB nightly SET STATE = ENABLED;
ALTER JOB nightly SET MAX_RETRIES = 2;
ALTER JOB nightly SET RETRY_BACKOFF = 90 SECONDS;
ALTER JOB nightly SET TIMEOUT = '10m';
ALTER JOB nightly SET RUN AS etl;
ALTER JOB nightly SET DESCRIPTION = 'it''s the sums';
ALTER JOB once SET ON COMPLETION PRESERVE;
ALTER JOB nightly SET DEPENDS ON base, fresh;
ALTER JOB nightly SET DEPENDS ON NONE;
ALTER JOB nightly SET CLASS = LEADER_ONLY;
ALTER JOB nightly SET PARTITION BY SINGLE_SHARD '6f9619ff-8b86-d011-b42d-00c04fc964ff';
ALTER JOB nightly SET AS 'SELECT 2';
SELECT job_sql, run_as_role, target FROM sys.jobs WHERE job_name = 'nightly';
ALTER JOB nightly SET AS CALL report();
ALTER JOB nightly SET AS EXEC '/bin/true';
SELECT job_sql, run_as_role FROM sys.jobs WHERE job_name = 'nightly';
ALTER JOB nightly SET AS CALL report() SET RUN AS NONE;
ALTER JOB nightly SET AS EXEC '/bin/true';
ALTER JOB nightly SET SCHEDULE = EVERY 2 HOURS SET MAX_RETRIES = 1, SET TIMEOUT = 5 MINUTES;

EXECUTE JOB nightly;
CANCEL JOB RUN {id 1};
CANCEL JOB RUN {id 1};
DROP JOB fresher;
DROP JOB shell KEEP HISTORY;

SELECT job_name, last_triggered_at IS NOT NULL AS triggered, last_run_time FROM sys.jobs ORDER BY job_name;
SELECT schedule_name, last_triggered_at_ts IS NOT NULL AS triggered FROM sys.schedules ORDER BY schedule_name;
SELECT job_name, state, next_run_time FROM sys.jobs ORDER BY next_run_time;
SELECT job_run_uuid, state, retry_count, result_message FROM sys.job_runs;
SELECT job_name, job_type, job_class, job_sql, external_command, schedule_kind, cron_expression, interval_seconds, schedule_tz FROM sys.jobs ORDER BY job_name;
SELECT job_name, partition_strategy, partition_shard_uuid, partition_expression, partition_shards FROM sys.jobs WHERE partition_strategy IS NOT NULL ORDER BY job_name;
SELECT job_name, max_retries, retry_backoff_seconds, timeout_seconds, on_completion, description, run_as_role FROM sys.jobs ORDER BY job_name;
SELECT job_uuid, job_name FROM sys.jobs WHERE job_uuid = (SELECT job_uuid FROM sys.jobs WHERE job_name = 'base');
SHOW JOBS;
SHOW CREATE JOB nightly;
SHOW CREATE JOB base;
SHOW CREATE JOB dyn2;
