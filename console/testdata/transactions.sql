-- BEGIN … COMMIT is one change, and errors come where they belong.

BEGIN;
CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB b DEPENDS ON a SCHEDULE = EVERY 1 HOUR AS CALL noop();
ALTER JOB a SET MAX_RETRIES = 7 SET DESCRIPTION = 'first';
SHOW CREATE JOB a;
SELECT count(*) FROM sys.jobs;
COMMIT;
SELECT job_name, max_retries, description FROM sys.jobs ORDER BY job_name;

-- An error ends it; COMMIT then does nothing.
BEGIN;
CREATE JOB c SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB c SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB d SCHEDULE = EVERY 1 HOUR AS CALL noop();
SELECT 1;
COMMIT;
SELECT job_name FROM sys.jobs ORDER BY job_name;

-- ROLLBACK leaves nothing.
START TRANSACTION;
DROP JOB a;
EXECUTE JOB a;
ROLLBACK;
BEGIN;
DROP JOB a;
CREATE JOB a SCHEDULE = CRON '0 0 * * *' AS CALL report();
SHOW CREATE JOB a;
ROLLBACK;
SELECT job_name, schedule_kind FROM sys.jobs ORDER BY job_name;

-- Dropped and made again in one change.
BEGIN;
DROP JOB a;
CREATE JOB a SCHEDULE = CRON '0 0 * * *' AS CALL report();
EXECUTE JOB a;
COMMIT;
SELECT job_name, schedule_kind FROM sys.jobs ORDER BY job_name;
SELECT job_name, state FROM sys.job_runs;
SELECT * FROM sys.job_dependencies;

-- One that only reads.
BEGIN READ ONLY;
SELECT count(*) FROM sys.jobs;
DROP JOB a;
ROLLBACK;

-- Outside of one.
COMMIT;
ROLLBACK;
BEGIN;
BEGIN;
ROLLBACK;

-- Several statements that are sent together are one change.
CREATE JOB x SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOB y SCHEDULE = EVERY 1 HOUR AS CALL noop(); EXECUTE JOB x;
CREATE JOB z SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOB x SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB z SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOBB;
SELECT job_name FROM sys.jobs ORDER BY job_name;
SELECT job_name, state FROM sys.job_runs ORDER BY job_name;
