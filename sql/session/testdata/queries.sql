-- SELECT.

CREATE JOB a SCHEDULE = EVERY 1 HOUR DESCRIPTION = 'Alpha' AS CALL noop();
CREATE JOB b SCHEDULE = EVERY 2 HOURS DESCRIPTION = 'beta' PRIORITY = 5 AS CALL report();
CREATE JOB c SCHEDULE = EVERY 3 HOURS DEPENDS ON a, b AS 'SELECT 1';
CREATE JOB off SCHEDULE = EVERY 1 HOUR DISABLED AS 'SELECT 1';
CREATE JOB held SCHEDULE = EVERY 30 MINUTES PAUSED AS 'SELECT 1';
-- @advance 3h
-- @run
EXECUTE JOB a;

-- NULLs sort last in ascending and first in descending order, as in PostgreSQL.
SELECT job_name, next_run_time_ts FROM sys.jobs ORDER BY next_run_time;
SELECT job_name, next_run_time_ts FROM sys.jobs ORDER BY next_run_time DESC;
SELECT job_name, next_run_time_ts FROM sys.jobs ORDER BY next_run_time NULLS FIRST, job_name;
SELECT job_name FROM sys.jobs ORDER BY next_run_time LIMIT 2 OFFSET 1;
SELECT job_name, last_run_time_ts FROM sys.jobs ORDER BY last_run_time, job_name DESC;
SELECT job_name, description FROM sys.jobs ORDER BY description, job_name;
SELECT max(next_run_time_ts), min(next_run_time_ts), count(next_run_time) FROM sys.jobs;

-- Equality, ranges, IN, LIKE and similar conditions that are not pushed down.
SELECT job_name FROM sys.jobs WHERE job_name = 'A';
SELECT job_name FROM sys.jobs WHERE upper(job_name) = 'A';
SELECT job_name FROM sys.jobs WHERE job_name IN ('a', 'c', 'nobody') ORDER BY 1;
SELECT job_name FROM sys.jobs WHERE interval_seconds = '7200';
SELECT job_name FROM sys.jobs WHERE interval_seconds > 3600 ORDER BY job_name;
SELECT job_name FROM sys.jobs WHERE description LIKE 'a%';
SELECT job_name FROM sys.jobs WHERE description ILIKE 'a%';
SELECT job_name FROM sys.jobs WHERE description NOT ILIKE 'a%' ORDER BY 1;
SELECT 'a_b' LIKE 'a\_b', 'axb' LIKE 'a\_b', 'a%b' LIKE 'a!%b' ESCAPE '!', 'aXb' LIKE 'a_b', 'abc' LIKE '%b%', '' LIKE '%', 'abcbd' LIKE '%b_';
SELECT job_name FROM sys.jobs WHERE next_run_time IS NULL;
SELECT job_name FROM sys.jobs WHERE next_run_time > 1772377200000 ORDER BY next_run_time;
SELECT job_name FROM sys.jobs WHERE next_run_time BETWEEN '1772377200000' AND 1772380800000 ORDER BY next_run_time;
SELECT job_name FROM sys.jobs WHERE next_run_time < 'x' ORDER BY 1;
SELECT job_name FROM sys.jobs WHERE state = 'enabled';
SELECT job_name FROM sys.jobs WHERE job_name = NULL;
SELECT job_name FROM sys.jobs WHERE job_name > 'b' ORDER BY job_name DESC;

-- Joins, groups, common tables, windows, sets.
SELECT j.job_name, count(r.job_run_uuid) AS runs FROM sys.jobs j LEFT JOIN sys.job_runs r USING (job_uuid) GROUP BY j.job_name ORDER BY runs DESC, j.job_name;
SELECT j.job_name, d.depends_on_job_name, u.next_run_time_ts FROM sys.jobs j JOIN sys.job_dependencies d ON d.job_uuid = j.job_uuid JOIN sys.jobs u ON u.job_uuid = d.depends_on_job_uuid ORDER BY 1, 2;
WITH last AS (SELECT job_name, scheduled_time, row_number() OVER (PARTITION BY job_name ORDER BY scheduled_time DESC) AS n FROM sys.job_runs) SELECT job_name FROM last WHERE n = 1 ORDER BY job_name;
SELECT state, count(*) FROM sys.job_runs GROUP BY state HAVING count(*) > 0 ORDER BY state;
SELECT job_name FROM sys.jobs WHERE state = 'PAUSED' UNION SELECT job_name FROM sys.jobs WHERE state = 'DISABLED' ORDER BY 1;
SELECT next_run_time FROM sys.jobs WHERE job_name = 'off' UNION ALL SELECT 1 ORDER BY 1;
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i FROM n;
SELECT job_name, CASE WHEN priority > 0 THEN 'high' ELSE 'normal' END AS level FROM sys.jobs WHERE EXISTS (SELECT 1 FROM sys.job_runs r WHERE r.job_uuid = jobs.job_uuid) ORDER BY 1;
SELECT key, value FROM json_each('{"a": 1, "b": [2]}');
SELECT params ->> 'statement' AS statement FROM sys.jobs WHERE job_type = 'SQL' ORDER BY 1;

-- Casts, booleans, times.
SELECT interval_seconds::text || 's' AS every, (interval_seconds / 3600)::int AS hours FROM sys.jobs WHERE job_name = 'b';
SELECT true, false, 'yes'::boolean, 1 = 1 AS eq, NOT true AS not_true;
SELECT '2026-03-01 12:00'::timestamptz, '1772366400000'::bigint, 1.5::int, '7'::int::text;
SELECT now() > '2026-01-01' AS later, count(*) FROM sys.jobs WHERE created_at_ts <= now();
SELECT 'a' || NULL AS empty, coalesce(NULL, 'x'), nullif(1, 1), greatest(1, NULL, 3), least('b', 'a'), left('hello', 2), right('hello', -3);
SELECT now() - interval '1 day' AS yesterday, '2026-03-01'::timestamptz + interval '1 month 2 hours' AS later;
SELECT job_name FROM sys.jobs WHERE next_run_time_ts < now() + interval '90 minutes' ORDER BY job_name;
SELECT count(*) FROM sys.jobs WHERE created_at_ts > '2026-03-01 12:30';
SELECT count(*) FROM sys.jobs WHERE created_at_ts = '2026-03-01 13:00+01';
SELECT now() - interval 'some days';
SELECT count(*) FROM sys.job_runs;
VALUES (1, 'one'), (2, 'two');
SELECT $$it's$$, $x$a $$ b$x$, 'c' /* one /* in */ the other */ AS c -- and this
, 1;
TABLE sys.job_dependencies;

-- The other tables.
SELECT template_name, job_type, type, state FROM sys.templates ORDER BY template_name;
SELECT schedule_name, every, state FROM sys.schedules ORDER BY schedule_name;
SELECT metric, value, unit FROM sys.performance WHERE type IS NULL AND metric IN ('scheduler_queue_depth', 'jobs_running', 'schedules_enabled') ORDER BY metric;
SELECT count(*) FROM sys.groups;
SELECT count(*) FROM sys.reservations;
SELECT count(*) FROM sys.nodes;
SELECT event_type, user_name, subject, changes -> 'cron' ->> 'new' AS cron FROM sys.audit WHERE event_type IN ('JOB_CREATED', 'TEMPLATE_CREATED') AND subject IS NOT NULL ORDER BY subject LIMIT 8;
SELECT job_name, status, attempt FROM sys.executions WHERE schedule = 'b';

-- The catalogue, as tools read it.
SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'sys' AND tablename LIKE 'job%' ORDER BY 1;
SELECT count(*) FROM pg_partitioned_table;
SELECT (a).grantee, (a).privilege_type, (a).is_grantable FROM (SELECT aclexplode(relacl) AS a FROM pg_class WHERE oid = 'sys.jobs'::regclass) AS acl ORDER BY 1;
SELECT datname, privilege_type FROM pg_database, aclexplode(datacl) WHERE grantee = 0;
SELECT s.setting, s.vartype FROM pg_show_all_settings() s WHERE s.name = 'default_transaction_isolation';
SELECT c.xmin, host('10.0.0.1/8'::inet), bpchar(c.relkind) = 'r'::bpchar AS is_table FROM pg_class c WHERE c.oid = 'sys.jobs'::regclass;
SELECT constraint_type, count(*) FROM information_schema.table_constraints WHERE table_schema = 'sys' AND table_name = 'jobs' AND constraint_type <> 'CHECK' GROUP BY 1;
SELECT table_name, column_name, ordinal_position FROM information_schema.key_column_usage WHERE table_name = 'job_dependencies' ORDER BY ordinal_position;
SELECT count(*) FROM information_schema.views WHERE table_schema = 'sys';
SELECT schema_name FROM information_schema.schemata ORDER BY 1;
SELECT count(*) FROM information_schema.referential_constraints;
