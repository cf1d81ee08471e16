SELECT current_user, session_user, current_setting('is_superuser') AS is_superuser;
\du
\du bob
\dp sys.jobs
-- The width of a time varies, because trailing zeros are omitted.
\pset format unaligned
SHOW GRANTS;
SHOW GRANTS FOR CURRENT_USER;
SHOW USERS;
SHOW ROLES;
\pset format aligned
SELECT rolname, rolsuper, rolcanlogin FROM pg_roles ORDER BY rolname;
SELECT job_name, owner FROM sys.jobs ORDER BY job_name;
SELECT has_table_privilege('sys.jobs', 'select'), has_table_privilege('sys.jobs', 'update');
EXECUTE JOB theirs;
SELECT count(*) AS visible_runs FROM sys.job_runs WHERE job_name = 'theirs';
GRANT VIEW JOB HISTORY ON JOB mine TO bob;
SELECT grantee, privilege, job FROM sys.grants ORDER BY 1, 2, 3;
\set VERBOSITY verbose
ALTER JOB theirs SET PRIORITY = 3;
DROP JOB theirs;
ALTER JOB mine OWNER TO bob;
DROP JOB hidden;
DROP JOB gone;
SHOW CREATE JOB hidden;
CREATE JOB mine SCHEDULE EVERY 1 HOUR AS CALL noop();
CREATE JOB hidden SCHEDULE EVERY 1 HOUR AS CALL noop();
CREATE USER eve;
CREATE USER bob;
ALTER USER bob PASSWORD 'correct horse battery';
ALTER USER ada PASSWORD 'short';
ALTER USER ada CERTIFICATE 'admin';
DROP USER bob;
GRANT ADMIN TO ada;
GRANT ops TO ada;
GRANT EXECUTE JOB ON JOB mine TO gone;
GRANT EXECUTE JOB ON JOB hidden TO bob;
GRANT EXECUTE EXTERNAL JOB ON JOB mine TO bob;
SHOW GRANTS FOR bob;
SELECT metric FROM sys.performance;
BEGIN;
ALTER JOB mine SET PRIORITY = 4;
ALTER JOB theirs SET PRIORITY = 4;
COMMIT;
SELECT job_name, priority FROM sys.jobs ORDER BY job_name;
