-- A job belongs to one user.
CREATE JOB nightly SCHEDULE = EVERY 1 HOUR AS CALL noop();
CREATE USER ada;
ALTER JOB nightly OWNER TO ada;
SELECT job_name, owner FROM sys.jobs;
DROP USER ada;
BEGIN;
CREATE USER bob;
ALTER JOB nightly OWNER TO bob;
ALTER JOB nightly SET PRIORITY = 3;
DROP USER ada;
COMMIT;
SELECT job_name, owner, priority FROM sys.jobs;
DROP USER bob;
ALTER JOB nightly OWNER TO CURRENT_USER;
DROP USER bob;
SELECT name FROM sys.users ORDER BY name;
