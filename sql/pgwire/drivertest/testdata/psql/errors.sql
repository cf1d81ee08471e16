-- Errors say where, what, and what to do.
SELEC 1;
SELECT 1 FROM;
SELECT
  job_name,
  stat
FROM sys.jobs;
SELECT * FROM sys.job;
SELECT * FROM nowhere.jobs;
SELECT nothing(1);
SELECT 1 + 'a';
SELECT 'x'::int;
SELECT 1 / 0;
SELECT job_name, count(*) FROM sys.jobs;
SELECT 'unclosed;
';
INSERT INTO sys.jobs VALUES (1);
UPDATE sys.jobs SET state = 'PAUSED';
DELETE FROM sys.jobs;
CREATE TABLE t (a int);
DROP TABLE sys.jobs;
VACUUM;
LISTEN something;
NOTIFY something;
COPY sys.jobs TO STDOUT;
COPY (SELECT 1) TO STDOUT;
\copy sys.jobs to stdout
\copy sys.jobs from stdin
DECLARE c CURSOR FOR SELECT 1;
CREATE JOB bad SCHEDULE = CRON '61 * * * *' AS 'SELECT 1';
CREATE JOB bad SCHEDULE = EVERY 1 HOUR;
CREATE JOB bad
  SCHEDULE = EVERY 1 HOUR
  PRIORTY = 3
  AS 'SELECT 1';
CREATE JOB bad SCHEDULE = EVERY 1 HOUR AS CALL nobody_handles_this();
CREATE JOB bad SCHEDULE = EVERY 1 HOUR DEPENDS ON nothing AS 'SELECT 1';
DROP JOB nothing;
EXECUTE JOB nothing;
SET TIME ZONE 'Mars/Olympus';
\set VERBOSITY verbose
DROP JOB nothing;
SELECT 1 FROM sys.jbos;
SELECT 1 FROM pg_shadow;
SELECT pg_postmaster_start_time();
\set VERBOSITY terse
DROP JOB nothing;
\set VERBOSITY sqlstate
DROP JOB nothing;
\set VERBOSITY default
\errverbose
\echo :LAST_ERROR_SQLSTATE :ERROR :SQLSTATE :ROW_COUNT
SELECT 1 AS "still here";
\echo :ERROR :SQLSTATE :ROW_COUNT
