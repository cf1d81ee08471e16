-- BEGIN … COMMIT is one change; an error is reported at its statement.

BEGIN;
CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB b DEPENDS ON a SCHEDULE = EVERY 1 HOUR AS CALL noop();
ALTER JOB a SET MAX_RETRIES = 7 SET DESCRIPTION = 'first';
SHOW CREATE JOB a;
SELECT count(*) FROM sys.jobs;
COMMIT;
SELECT job_name, max_retries, description FROM sys.jobs ORDER BY job_name;

-- An error aborts the transaction; COMMIT then rolls back.
BEGIN;
CREATE JOB c SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB c SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB d SCHEDULE = EVERY 1 HOUR AS CALL noop();
SELECT 1;
COMMIT;
SELECT job_name FROM sys.jobs ORDER BY job_name;

-- ROLLBACK discards all changes.
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

-- Drop and create the same job in one transaction.
BEGIN;
DROP JOB a;
CREATE JOB a SCHEDULE = CRON '0 0 * * *' AS CALL report();
EXECUTE JOB a;
COMMIT;
SELECT job_name, schedule_kind FROM sys.jobs ORDER BY job_name;
SELECT job_name, state FROM sys.job_runs;
SELECT * FROM sys.job_dependencies;

-- A read-only transaction.
BEGIN READ ONLY;
SELECT count(*) FROM sys.jobs;
DROP JOB a;
ROLLBACK;

-- Outside of a transaction.
COMMIT;
ROLLBACK;
BEGIN;
BEGIN;
ROLLBACK;

-- Several statements in one text are one transaction.
CREATE JOB x SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOB y SCHEDULE = EVERY 1 HOUR AS CALL noop(); EXECUTE JOB x;
CREATE JOB z SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOB x SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE JOB z SCHEDULE = EVERY 1 HOUR AS CALL noop(); CREATE JOBB;
SELECT job_name FROM sys.jobs ORDER BY job_name;
SELECT job_name, state FROM sys.job_runs ORDER BY job_name;
