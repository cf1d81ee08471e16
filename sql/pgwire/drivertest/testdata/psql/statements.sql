-- Everything that there is to say about a job.
CREATE JOB report SCHEDULE = CRON '30 6 * * 1-5' TIME ZONE 'Europe/Berlin'
  -- a comment between clauses
  MAX_RETRIES = 2 RETRY_BACKOFF = 30 SECONDS TIMEOUT = 5 MINUTES
  AS 'SELECT ''it''''s''';
CREATE JOB report SCHEDULE = EVERY 1 HOUR AS 'SELECT 1';
CREATE JOB IF NOT EXISTS report SCHEDULE = EVERY 1 HOUR AS 'SELECT 1';
SHOW CREATE JOB report;
ALTER JOB report SET DESCRIPTION = 'for the morning', SET PRIORITY = 3;
ALTER JOB IF EXISTS nothing SET PRIORITY = 3;
CREATE OR ALTER JOB report SCHEDULE = EVERY 2 HOURS AS CALL noop();
SELECT job_name, priority, interval_seconds, state FROM sys.jobs WHERE job_name = 'report';
RECREATE JOB report SCHEDULE = EVERY 3 HOURS PAUSED AS $$SELECT 'dollars; and a semicolon'$$;
SELECT job_sql, state FROM sys.jobs WHERE job_name = 'report';
\pset format unaligned
EXECUTE JOB report \gset
SELECT state IN ('PENDING', 'RUNNING', 'COMPLETED') AS there FROM sys.job_runs WHERE job_run_uuid = :'job_run_uuid';
CREATE JOB waits SCHEDULE = EVERY 1 DAY AS CALL sleep() WITH PARAMS '{"for": "1h"}';
EXECUTE JOB waits \gset
CANCEL JOB RUN :'job_run_uuid';
SELECT job_run_uuid FROM sys.job_runs WHERE job_name = 'long' \gset
EXPLAIN JOB RUN :'job_run_uuid';
CANCEL JOB RUN '018f0000-0000-7000-8000-000000000000';
SHOW JOBS;
SHOW search_path;
SHOW server_version_num;
SET application_name = 'golden';
SHOW application_name;
RESET application_name;
SHOW application_name;
SET nothing_of_the_sort = 1;
SET my.own = 'x';
SHOW my.own;
DROP JOB report;
DROP JOB waits KEEP HISTORY;
DROP JOB IF EXISTS report;
DROP JOB report;
CREATE USER somebody;
GRANT SELECT ON sys.jobs TO somebody;
DROP USER somebody;
EXPLAIN SELECT 1;
