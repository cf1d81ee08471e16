-- Users and roles.
CREATE USER ada PASSWORD 'correct horse';
CREATE USER bob WITH CERTIFICATE 'bob.example' PASSWORD 'battery staple';
CREATE USER IF NOT EXISTS ada PASSWORD 'another horse';
CREATE ROLE ops;
CREATE ROLE dev;
CREATE ROLE IF NOT EXISTS ops;
ALTER USER ada CERTIFICATE 'ada.example' PASSWORD NULL;
SELECT name, has_password, certificate, is_admin, created_by FROM sys.users ORDER BY name;
ALTER USER ada PASSWORD 'SCRAM-SHA-256$4096:AAECAwQFBgcICQoLDA0ODw==$AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';
ALTER ROLE ada CERTIFICATE NULL;
ALTER USER IF EXISTS eve PASSWORD 'correct horse';
SHOW USERS;
SHOW ROLES;
SELECT name, certificate FROM sys.users WHERE name = 'bob';
SELECT name FROM sys.users WHERE name = 'ops';
SELECT name FROM sys.roles WHERE name IN ('ops', 'ada');

-- Privileges.
CREATE JOB nightly SCHEDULE = EVERY 1 HOUR AS CALL noop();
GRANT CREATE JOB, EXECUTE JOB TO ada, ops;
GRANT EXECUTE JOB, VIEW JOB HISTORY ON JOB nightly TO dev;
GRANT ALL PRIVILEGES ON JOB nightly TO bob;
GRANT ops TO dev;
GRANT dev TO bob;
SHOW GRANTS;
SHOW GRANTS FOR bob;
SHOW GRANTS FOR admin;
SHOW GRANTS FOR CURRENT_USER;
SELECT role, member, member_kind, granted_by FROM sys.role_members ORDER BY role;
REVOKE ALL ON JOB nightly FROM bob;
SHOW GRANTS FOR bob;
REVOKE ops FROM dev;
SHOW GRANTS FOR bob;
GRANT ADMIN TO dev;
SELECT name, is_admin FROM sys.users ORDER BY name;
GRANT ALL PRIVILEGES TO ada;
SELECT privilege FROM sys.grants WHERE grantee = 'ada' ORDER BY privilege;
REVOKE ALL PRIVILEGES FROM dev;
SELECT name, is_admin FROM sys.users ORDER BY name;

-- A grant that is older than its job has no effect, nor a membership that is older than its role.
SELECT grantee, privilege FROM sys.grants WHERE job = 'nightly' ORDER BY grantee, privilege;
-- @advance 1s
DROP JOB nightly;
CREATE JOB nightly SCHEDULE = EVERY 1 HOUR AS CALL noop();
SELECT grantee, privilege FROM sys.grants WHERE job = 'nightly' ORDER BY grantee, privilege;
DROP ROLE dev;
CREATE ROLE dev;
SELECT count(*) FROM sys.role_members;

-- Owners.
ALTER JOB nightly OWNER TO CURRENT_USER;
ALTER JOB IF EXISTS gone OWNER TO ada;
DROP USER ada;

-- One transaction.
BEGIN;
CREATE USER carol PASSWORD 'correct horse';
CREATE ROLE night;
GRANT EXECUTE JOB ON JOB nightly TO night;
GRANT night TO carol;
CREATE USER IF NOT EXISTS carol;
COMMIT;
SHOW GRANTS FOR carol;
BEGIN;
DROP ROLE night;
DROP ROLE IF EXISTS night;
CREATE ROLE night;
ROLLBACK;
SHOW GRANTS FOR carol;
BEGIN;
CREATE USER dora;
CREATE USER dora;
ROLLBACK;
SELECT count(*) FROM sys.users WHERE name = 'dora';

-- What is wrong.
CREATE USER carol;
CREATE ROLE carol;
CREATE USER dora PASSWORD 'short';
CREATE USER dora PASSWORD 'SCRAM-SHA-256$0:x';
CREATE USER dora PASSWORD 'md5acbd18db4cc2f85cedef654fccc4a4d8';
CREATE USER dora CERTIFICATE 'bob.example';
CREATE USER "a b";
CREATE USER admin;
CREATE ROLE public;
CREATE USER rota_x;
ALTER USER admin PASSWORD 'correct horse';
ALTER USER eve PASSWORD 'correct horse';
ALTER ROLE ops PASSWORD 'correct horse';
DROP USER eve;
DROP USER ops;
DROP ROLE carol;
DROP USER admin;
DROP USER carol;
DROP USER IF EXISTS eve;
DROP ROLE IF EXISTS carol;
GRANT EXECUTE JOB TO carol, eve;
GRANT EXECUTE JOB TO admin;
GRANT EXECUTE JOB ON JOB gone TO carol;
GRANT EXECUTE JOB, ADMIN ON JOB nightly TO carol;
GRANT gone TO carol;
GRANT carol TO bob;
GRANT ops TO night;
GRANT night TO ops;
GRANT ops TO ops;
REVOKE gone FROM carol;
ALTER JOB nightly OWNER TO eve;
ALTER JOB nightly OWNER TO ops;
ALTER JOB gone OWNER TO carol;
SHOW GRANTS FOR eve;
ALTER USER carol RENAME TO caroline;

-- PostgreSQL's view of them.
SELECT rolname, rolsuper, rolcanlogin, rolcreaterole FROM pg_roles ORDER BY rolname;
SELECT usename, usesuper, passwd FROM pg_user ORDER BY usename;
SELECT r.rolname AS role, m.rolname AS member FROM pg_auth_members a JOIN pg_roles r ON r.oid = a.roleid JOIN pg_roles m ON m.oid = a.member ORDER BY 1, 2;
SELECT count(*) FROM pg_authid WHERE rolpassword IS NOT NULL;
SELECT pg_get_userbyid(oid), pg_has_role(rolname, 'ops', 'member'), oid::regrole = rolname::regrole AS same FROM pg_roles ORDER BY rolname;
SELECT pg_has_role('eve', 'ops', 'member');
SELECT pg_has_role('carol', 'ops', 'select');
SELECT has_table_privilege('carol', 'sys.jobs', 'select'), current_user, session_user;
SHOW is_superuser;
SHOW password_encryption;
