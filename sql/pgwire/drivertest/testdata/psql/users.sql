CREATE USER ada PASSWORD 'correct horse battery' CERTIFICATE 'ada.example';
CREATE ROLE ops;
CREATE ROLE root;
GRANT ADMIN TO root;
GRANT root TO ops;
GRANT ops TO ada;
GRANT EXECUTE JOB ON JOB tick TO ops;
\du
\du+
\dg ops
\du nobody
\drds
\dp sys.users
-- The width of a time varies, because trailing zeros are omitted.
\pset format unaligned
SHOW GRANTS FOR ada;
\pset format aligned
SELECT rolname, rolsuper, rolcanlogin FROM pg_roles ORDER BY rolname;
SELECT usename, usesuper, passwd FROM pg_user ORDER BY usename;
SELECT pg_get_userbyid(oid), oid::regrole, pg_has_role(oid, 'ops', 'MEMBER') FROM pg_roles ORDER BY rolname;
SELECT roleid::regrole, member::regrole, grantor::regrole FROM pg_auth_members ORDER BY 1::text;
SELECT 'nobody'::regrole;
REVOKE root FROM ops;
\du
\set VERBOSITY verbose
CREATE USER ada;
CREATE USER eve PASSWORD 'short';
GRANT EXECUTE JOB ON JOB tick TO ada, eve;
GRANT EXECUTE JOB ON JOB gone TO ada;
GRANT root TO root;
ALTER USER eve PASSWORD 'correct horse battery';
ALTER ROLE ops PASSWORD 'correct horse battery';
\set VERBOSITY default
DROP USER ada;
DROP ROLE ops;
DROP ROLE root;
DROP USER IF EXISTS ada;
\du
