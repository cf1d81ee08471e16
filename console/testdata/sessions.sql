-- What is about the session and the transaction alone.

-- Savepoints.
SAVEPOINT a;
BEGIN;
CREATE JOB kept SCHEDULE = EVERY 1 HOUR AS CALL noop();
SAVEPOINT one;
CREATE JOB lost SCHEDULE = EVERY 1 HOUR AS CALL noop();
SAVEPOINT two;
CREATE JOB kept SCHEDULE = EVERY 1 HOUR AS CALL noop();
SELECT 1;
RELEASE two;
ROLLBACK TO SAVEPOINT two;
SHOW CREATE JOB lost;
ROLLBACK TO one;
SHOW CREATE JOB lost;
ROLLBACK TO one;
CREATE JOB lost SCHEDULE = EVERY 2 HOURS AS CALL noop();
RELEASE SAVEPOINT one;
ROLLBACK TO one;
ROLLBACK;
SELECT job_name FROM sys.jobs;
BEGIN;
CREATE JOB kept SCHEDULE = EVERY 1 HOUR AS CALL noop();
SAVEPOINT one;
CREATE JOB lost SCHEDULE = EVERY 1 HOUR AS CALL noop();
ROLLBACK TO one;
COMMIT;
SELECT job_name FROM sys.jobs;

-- Settings, those of a transaction too.
SET application_name = 'a tool';
SHOW application_name;
SET TIME ZONE 'Europe/Berlin';
SHOW TIME ZONE;
SET TimeZone = 'Nowhere/Land';
SET client_encoding = 'latin1';
SET NAMES 'utf-8';
SHOW client_encoding;
SET datestyle = 'German';
SET datestyle = 'ISO, MDY';
SET nothing = 1;
SET server_version = '16';
SET my.own = 'x';
SHOW my.own;
SET statement_timeout = '2min';
SHOW statement_timeout;
SET statement_timeout = 'soon';
BEGIN;
SET application_name = 'forgotten';
SET LOCAL statement_timeout = 5;
SHOW statement_timeout;
ROLLBACK;
SHOW application_name;
BEGIN;
SET application_name = 'kept';
SET LOCAL statement_timeout = 5;
COMMIT;
SHOW application_name;
SHOW statement_timeout;
SET LOCAL statement_timeout = 6;
RESET statement_timeout;
SHOW statement_timeout;
SELECT current_setting('application_name'), set_config('application_name', 'by a function', false), current_setting('TimeZone');
SHOW application_name;
RESET ALL;
SHOW application_name;

-- Who only reads.
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY;
CREATE JOB no SCHEDULE = EVERY 1 HOUR AS CALL noop();
SHOW transaction_read_only;
BEGIN;
SET TRANSACTION READ WRITE;
CREATE JOB yes SCHEDULE = EVERY 1 HOUR AS CALL noop();
ROLLBACK;
RESET default_transaction_read_only;
BEGIN;
SET TRANSACTION READ ONLY;
DROP JOB kept;
ROLLBACK;

-- What drivers send when a connection goes back to its pool.
DISCARD ALL;
DEALLOCATE ALL;
CLOSE ALL;
UNLISTEN *;
DISCARD PLANS;
BEGIN;
DISCARD ALL;
ROLLBACK;
LISTEN jobs;
PREPARE a AS SELECT 1;
DECLARE c CURSOR FOR SELECT 1;
COPY sys.jobs TO STDOUT;
SET ROLE somebody;
