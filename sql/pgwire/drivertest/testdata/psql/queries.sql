-- How queries are shown, and what they are before they run.
SELECT job_name, state, priority, schedule_kind FROM sys.jobs ORDER BY job_name;
SELECT job_name, state, count(*) FROM job_runs
  GROUP BY 1, 2
  ORDER BY 1 /* a comment
  over lines */, 2;
SELECT job_uuid, job_name, priority, is_null, at, params, list FROM (
  SELECT job_uuid, job_name, priority, description IS NULL AS is_null, next_run_time_ts AS at, params, ARRAY['a', 'b'] AS list FROM sys.jobs
) j \gdesc
SELECT count(*), sum(priority), avg(priority), max(created_at_ts), now() - max(created_at_ts), extract(epoch FROM max(created_at_ts)), job_name || '!'
  FROM sys.jobs GROUP BY job_name \gdesc
CREATE JOB x SCHEDULE EVERY 1 HOUR AS 'SELECT 1' \gdesc
SHOW timezone \gdesc
\x on
SELECT job_name, description, schedule_tz, max_retries FROM sys.jobs WHERE job_name = 'nightly';
\x off
SELECT job_name, state FROM sys.jobs WHERE job_name = 'once' \gx
SELECT count(*) AS jobs, max(priority) AS most FROM sys.jobs \gset my_
\echo :my_jobs :my_most
\set name tick
SELECT job_name, priority FROM sys.jobs WHERE job_name = :'name';
SELECT :"name" FROM (VALUES (1), (2)) AS v (tick);
SELECT priority FROM sys.jobs WHERE priority > :my_most - 1;
SELECT job_name, state, count(*) FROM sys.job_runs GROUP BY 1, 2 ORDER BY 1, 2 \crosstabview job_name state
SELECT 'SELECT ' || priority || ' AS p' FROM sys.jobs WHERE job_name = 'tick' \gexec
SELECT 1 AS a \; SELECT 2 AS b;
\pset format csv
SELECT job_name, description, params FROM sys.jobs WHERE params IS NOT NULL ORDER BY 1;
\pset format html
SELECT 1 AS a, true AS b, NULL AS c;
\pset format aligned
\pset null '(null)'
\pset pager off
SELECT NULL::text AS a, ''::text AS b, true AS c, 1.50 AS d, 2::float8 AS e, '{"a": 1}'::jsonb AS f, ARRAY[1, NULL, 3] AS g, interval '90 minutes' AS h, date '2026-01-31' AS i;
TABLE sys.job_dependencies \gdesc
VALUES (1, 'one'), (2, 'two');
WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i, i * i AS square FROM n;
SELECT job_name FROM sys.jobs ORDER BY job_name FETCH FIRST 2 ROWS ONLY;
SELECT job_name FROM sys.jobs WHERE job_name ILIKE 'T%' OR job_name = ANY (ARRAY['once']) ORDER BY 1 COLLATE "C";
SELECT job_name FROM sys.jobs WHERE job_name OPERATOR(pg_catalog.~) '^(tick|once)$' ORDER BY 1 DESC;
SELECT current_user, session_user, current_database(), current_schema, version() LIKE 'PostgreSQL 15%' AS like_postgres;
SELECT pg_typeof(next_run_time_ts), pg_typeof(job_uuid), pg_typeof(count(*)) FROM sys.jobs GROUP BY 1, 2;
SELECT 'sys.jobs'::regclass, 25::regtype, 11::regnamespace, tableoid::regclass, to_regclass('nothing') FROM sys.nodes;
SELECT word, catcode, barelabel FROM pg_get_keywords() WHERE word IN ('select', 'abort') ORDER BY word;
