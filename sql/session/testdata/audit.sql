-- The audit of a job: its definition, its runs, and what is left after DROP.

CREATE JOB nightly SCHEDULE = CRON '0 2 * * *' MAX_RETRIES = 0 AS 'SELECT 1';
-- @advance 1s
ALTER JOB nightly SET AS 'SELECT 2';
SELECT event_type, job_name, job_uuid IS NOT NULL AS has_uuid, user_name, changes -> 'template.params' AS params FROM sys.audit WHERE job_name = 'nightly' AND event_type = 'JOB_MODIFIED';
-- @advance 1s
ALTER JOB nightly SET SCHEDULE = CRON '0 3 * * *';
SELECT event_type, subject, changes FROM sys.audit WHERE job_name = 'nightly' ORDER BY at DESC LIMIT 1;
SELECT job_name FROM sys.audit a WHERE event_type = 'JOB_MODIFIED' AND job_uuid = (SELECT job_uuid FROM sys.jobs WHERE job_name = 'nightly') ORDER BY at;

-- The SQL text of the job, as an auditor of its job_uuid sees it: created, changed and dropped.
-- @advance 1s
DROP JOB nightly;
SELECT event_type, changes -> 'template.params' -> 'old' AS old, changes -> 'template.params' -> 'new' AS new FROM sys.audit
WHERE job_uuid = (SELECT job_uuid FROM sys.audit WHERE job_name = 'nightly' LIMIT 1) AND changes -> 'template.params' IS NOT NULL ORDER BY at;
CREATE JOB nightly SCHEDULE = CRON '0 2 * * *' MAX_RETRIES = 0 AS 'SELECT 1';
-- @advance 1s
RECREATE JOB nightly SCHEDULE = CRON '0 2 * * *' AS 'SELECT 3';
SELECT event_type, changes -> 'template.params' -> 'old' AS old, changes -> 'template.params' -> 'new' AS new FROM sys.audit WHERE job_name = 'nightly' ORDER BY at DESC, event_type DESC LIMIT 3;

-- A run that completed, one that failed and one that was cancelled.
CREATE JOB report SCHEDULE = EVERY 100 DAYS MAX_RETRIES = 0 AS CALL noop();
-- @advance 1s
EXECUTE JOB report;
-- @advance 1s
-- @run
EXECUTE JOB report;
-- @advance 1s
-- @fail
EXECUTE JOB report;
-- @advance 1s
CANCEL JOB RUN {id 3};
SELECT event_type, user_name, outcome, detail FROM sys.audit WHERE job_name = 'report' ORDER BY at, event_type, outcome;
SELECT count(*) FROM sys.audit WHERE job_run_uuid = '{id 3}' AND event_type = 'JOB_CANCELLED';

-- DROP removes the runs; their entries stay.
-- @advance 1s
DROP JOB report;
-- @advance 1s
-- @run
SELECT count(*) FROM sys.job_runs WHERE job_name = 'report';
SELECT event_type, user_name, outcome, detail FROM sys.audit WHERE job_name = 'report' ORDER BY at, event_type, outcome;
SELECT event_type FROM sys.audit WHERE user_name = 'nobody';
SELECT event_type FROM sys.audit WHERE subject = 'schedule report' AND event_type = 'JOB_DELETED';
SELECT event_type, outcome, job_id = job_run_uuid AS first_attempt, run_id IS NOT NULL AS dispatched, subject = 'job ' || job_id AS of_subject FROM sys.audit WHERE job_id IS NOT NULL ORDER BY at, event_type;
SELECT count(*) FROM sys.audit WHERE job_id IS NULL AND run_id IS NOT NULL;
