# Lists and names.
SELECT job_name, state FROM sys.jobs WHERE job_name = 'alpha'
SELECT * FROM sys.jobs
SELECT * FROM jobs ORDER BY job_name
SELECT j.* FROM sys.jobs j WHERE j.priority > 3 ORDER BY j.job_name
SELECT jobs.job_name, sys.jobs.state FROM sys.jobs
SELECT 1, 'x', NULL, true, 1.5, 9999999999, 1e3
SELECT 1 AS a, 2 AS a
SELECT * FROM (SELECT 1 AS a, 2 AS "A", 3 AS b) t
SELECT count(*), max(priority), min(job_name), upper(job_name) FROM sys.jobs GROUP BY upper(job_name)
SELECT job_name::text, 1::text, priority::int4, '5'::int, CAST('7' AS bigint), '{}'::text[], ARRAY[1,2], CASE WHEN true THEN 1 END, CASE WHEN true THEN 1 ELSE n END FROM sys.jobs WHERE n = 1
SELECT (SELECT max(n) FROM sys.jobs), EXISTS (SELECT 1), coalesce(n, 0), nullif(n, 1), greatest(1, 2), -n, n + 1, NOT enabled FROM sys.jobs WHERE n = 1
SELECT extract(year FROM next_run), date_part('month', next_run), next_run AT TIME ZONE 'Europe/Berlin' FROM sys.jobs
SELECT row_number() OVER (ORDER BY job_name), job_name FROM sys.jobs ORDER BY 1
SELECT 'a' || 'b', 'a' LIKE 'b', 1 = 1, 1 IN (1, 2), 1 BETWEEN 0 AND 2
SELECT "job_name" FROM sys.jobs AS "J" WHERE "J".n IS NOT NULL
SELECT x.a, x.b FROM sys.jobs AS x(a, b) ORDER BY x.b
SELECT x.a, x.state FROM sys.jobs AS x(a, b) ORDER BY x.b
TABLE sys.runs
VALUES (1, 'one'), (2, 'two')
VALUES (1, NULL), (2.5, 'x')
SELECT * FROM (VALUES (1, 'one'), (2, 'two')) v
SELECT v.b, v.a FROM (VALUES (1, 'one'), (2, 'two')) v(a, b) ORDER BY a DESC
SELECT current_user
# Order and limit.
SELECT job_name, priority FROM sys.jobs ORDER BY priority, job_name
SELECT job_name, priority FROM sys.jobs ORDER BY priority DESC, job_name
SELECT job_name, priority FROM sys.jobs ORDER BY priority NULLS FIRST, job_name
SELECT job_name, priority FROM sys.jobs ORDER BY priority DESC NULLS LAST, job_name
SELECT job_name AS x, priority FROM sys.jobs ORDER BY x LIMIT 2 OFFSET 1
SELECT job_name, priority * 2 AS p FROM sys.jobs ORDER BY p, 1
SELECT job_name FROM sys.jobs ORDER BY length(job_name), job_name
SELECT job_name FROM sys.jobs ORDER BY job_name OFFSET 2
SELECT job_name FROM sys.jobs ORDER BY job_name LIMIT $1 OFFSET $2 -- 2 | 1
SELECT took FROM sys.jobs ORDER BY took, job_name
SELECT job_name, took FROM sys.jobs ORDER BY 2 DESC, 1
SELECT enabled, job_name FROM sys.jobs ORDER BY enabled, job_name
SELECT DISTINCT state FROM sys.jobs ORDER BY state
SELECT DISTINCT state, enabled FROM sys.jobs ORDER BY 1, 2
SELECT DISTINCT ON (state) state, job_name FROM sys.jobs ORDER BY state, job_name DESC
SELECT DISTINCT ON (state) state, job_name, n FROM sys.jobs ORDER BY state, n NULLS FIRST
SELECT job_name FROM sys.jobs ORDER BY upper(job_name)
SELECT job_name FROM sys.jobs LIMIT 0
SELECT n FROM sys.jobs ORDER BY n FETCH FIRST 2 ROWS ONLY
SELECT n FROM sys.jobs ORDER BY n LIMIT ALL
# Conditions.
SELECT job_name FROM sys.jobs WHERE enabled
SELECT job_name FROM sys.jobs WHERE NOT enabled
SELECT job_name FROM sys.jobs WHERE enabled = 'yes' OR enabled = false
SELECT job_name FROM sys.jobs WHERE enabled IS NOT TRUE
SELECT job_name FROM sys.jobs WHERE enabled IS UNKNOWN
SELECT job_name FROM sys.jobs WHERE job_uuid = '00000000-0000-0000-0000-00000000000A'
SELECT job_name FROM sys.jobs WHERE job_uuid = $1 -- 00000000-0000-0000-0000-00000000000B
SELECT job_name FROM sys.jobs WHERE priority = '5' AND n < '1'
SELECT job_name FROM sys.jobs WHERE next_run > '2026-03-01'
SELECT job_name FROM sys.jobs WHERE next_run = '2026-03-01 13:00+01'
SELECT job_name FROM sys.jobs WHERE next_run BETWEEN '2026-01-01' AND timestamptz '2026-03-02'
SELECT job_name FROM sys.jobs WHERE next_run >= day
SELECT job_name FROM sys.jobs WHERE day > '2025-12-30' AND day <= DATE '2026-03-01'
SELECT job_name FROM sys.jobs WHERE local = next_run
SELECT job_name FROM sys.jobs WHERE took = '1 day'
SELECT job_name FROM sys.jobs WHERE took > interval '1 hour'
SELECT job_name FROM sys.jobs WHERE n IN (1, 3) OR job_name IN ('beta')
SELECT job_name FROM sys.jobs WHERE n NOT IN (1, 3)
SELECT job_name FROM sys.jobs WHERE n IN ('1', '3')
SELECT job_name FROM sys.jobs WHERE job_name IN ($1, $2) -- alpha | beta
SELECT job_name FROM sys.jobs WHERE job_name = ANY(ARRAY['alpha', 'beta'])
SELECT job_name FROM sys.jobs WHERE job_name = ANY('{alpha,beta}')
SELECT job_name FROM sys.jobs WHERE job_name = ANY($1) -- {alpha,gamma}
SELECT job_name FROM sys.jobs WHERE n = ANY($1::int[]) -- {1,3}
SELECT job_name FROM sys.jobs WHERE job_uuid = ANY($1) -- {00000000-0000-0000-0000-00000000000A}
SELECT job_name FROM sys.jobs WHERE n <> ALL(ARRAY[1, 2])
SELECT job_name FROM sys.jobs WHERE n > ANY(ARRAY[0, 2])
SELECT job_name FROM sys.jobs WHERE n > ALL(ARRAY[0, 2])
SELECT job_name FROM sys.jobs WHERE 'red' = ANY(tags)
SELECT job_name FROM sys.jobs WHERE 2 = ANY(nums)
SELECT job_name FROM sys.jobs WHERE job_name LIKE ANY(ARRAY['a%', '%ta'])
SELECT job_name FROM sys.jobs WHERE n = ANY(SELECT 1)
SELECT job_name FROM sys.jobs WHERE n >= ALL(SELECT n FROM sys.jobs WHERE n IS NOT NULL)
SELECT job_name FROM sys.jobs WHERE job_uuid IN (SELECT job_uuid FROM sys.runs)
SELECT job_name FROM sys.jobs WHERE job_uuid NOT IN (SELECT job_uuid FROM sys.runs WHERE job_uuid IS NOT NULL)
SELECT job_name FROM sys.jobs j WHERE EXISTS (SELECT 1 FROM sys.runs r WHERE r.job_uuid = j.job_uuid AND r.state = 'FAILED')
SELECT job_name FROM sys.jobs WHERE (job_name, n) = ('alpha', 1)
SELECT job_name FROM sys.jobs WHERE (job_name, n) IN (('alpha', 1), ('beta', 1))
SELECT job_name FROM sys.jobs WHERE (job_uuid, state) IN (SELECT job_uuid, 'ENABLED' FROM sys.runs)
SELECT job_name FROM sys.jobs WHERE (n, job_name) > (0, 'b')
SELECT job_name FROM sys.jobs WHERE n NOT BETWEEN 0 AND 1
SELECT job_name FROM sys.jobs WHERE n BETWEEN $1 AND $2 -- 0 | 2
SELECT job_name FROM sys.jobs WHERE description IS DISTINCT FROM 'third one'
SELECT job_name FROM sys.jobs WHERE description IS NOT DISTINCT FROM NULL
SELECT job_name FROM sys.jobs WHERE description ISNULL
SELECT job_name FROM sys.jobs WHERE description LIKE 'The%'
SELECT job_name FROM sys.jobs WHERE description ILIKE 'the f%'
SELECT job_name FROM sys.jobs WHERE description NOT ILIKE '%o%'
SELECT job_name FROM sys.jobs WHERE description LIKE '50!% !_off!_' ESCAPE '!'
SELECT job_name FROM sys.jobs WHERE description LIKE $1 -- %f%
SELECT job_name FROM sys.jobs WHERE description ~ '^The' AND description !~* 'FIRST'
SELECT job_name FROM sys.jobs WHERE job_name ~* '^e' OR job_name ~~ 'b%'
SELECT job_name FROM sys.jobs WHERE title = 'Alpha' AND title || 'x' = 'Alphax'
SELECT job_name FROM sys.jobs WHERE $1::text IS NULL OR job_name = $1 -- alpha
SELECT job_name FROM sys.jobs WHERE state = 'ENABLED' AND (n = 1 OR n = 0) AND NOT job_name = 'x'
SELECT job_name FROM sys.jobs WHERE job_name COLLATE "C" > 'b'
SELECT job_name FROM sys.jobs WHERE NULL
# Numbers.
SELECT 7 / 2, 7 / 2.0, 7 % 3, -7 / 2, -7 % 3, 2 ^ 10, 7.5 % 2, 1 / 3.0
SELECT n / 2, n / 2.0, weight / 2, cost / 3, priority / 2, n % 2, small + n, n + priority, n * weight, small * small, cost + n FROM sys.jobs
SELECT 2::smallint + 2::smallint, 1::int2 + 1, 1::bigint * 2, 1 + 1.5, 1 + 1.5::float8, 1.5::real + 1.5::real, 1.5::real + 1
SELECT abs(-5), abs(-1.5), ceil(1.2), floor(-1.2), round(2.5), round(3.5), round(2.567, 2), trunc(2.567, 1), sign(-3), sqrt(16), exp(0), ln(1), log(100), power(2, 3), mod(7, 3)
SELECT round(2.5::float8), round(3.5::float8), round(-2.5), round(5), ceil(5), floor(weight), round(cost), round(cost, 1), abs(n), abs(cost) FROM sys.jobs
SELECT 1.5::int, 2.5::int, -1.5::int, 2.5::float8::int, 3.7::float8::bigint, '12'::bigint, 1::boolean, true::int, 3::float8, 5::numeric(10,2), 1.005::numeric(10,2)
SELECT 5 & 3, 5 | 3, 1 << 4, 256 >> 2
SELECT greatest(1, 2.5), least(n, 0), greatest(n, priority), greatest('a', 'b'), least(NULL, 3) FROM sys.jobs
SELECT n::text, priority::text, weight::text, cost::text, enabled::text, small::text FROM sys.jobs
SELECT $1::int4 + 1, $2 + n FROM sys.jobs -- 5 | 6
SELECT - n, + n, -(-3), n - -1 FROM sys.jobs
SELECT twice(4), twice(n) FROM sys.jobs
SELECT 10 / nullif(n, 0) FROM sys.jobs
# Texts.
SELECT length('häß'), char_length('abc'), octet_length('ä'), lower('ÄB'), upper('äb'), initcap('hello wORLD'), left('hello', 2), right('hello', -3), repeat('ab', 2), reverse('abc')
SELECT substring('hello' FROM 2 FOR 3), substr('hello', 2), substr('hello', -1, 4), substring('foobar' FROM 'o(.)b'), position('l' IN 'hello'), strpos('hello', 'x')
SELECT lpad('hi', 5, 'xy'), rpad('hi', 5), btrim('  x '), trim(both 'x' FROM 'xax'), ltrim('  a'), rtrim('a  '), trim('  q '), replace('abc', 'b', 'x'), split_part('a,b,c', ',', 2), starts_with('alpha', 'al')
SELECT concat('a', 1, NULL, true), concat_ws(',', 'a', NULL, 2), format('%s is %L and %I', 'x', 'it''s', 'A b'), md5('a'), ascii('a'), chr(65), quote_ident('A b')
SELECT regexp_replace('foobarbaz', 'b..', 'X'), regexp_replace('foobarbaz', 'b(..)', 'X\1Y', 'g'), substring('foobarbequebaz' FROM '(bar)(beque)')
SELECT 'a' || 1, 1 || 'a', job_name || n, description || '!' FROM sys.jobs
SELECT convert_from('\x68c3a4c39f', 'UTF8'), convert_from('abc'::bytea, 'utf-8'), convert_from(NULL, 'UTF8'), convert_from('', 'Utf_8'), convert_to('häß', 'UTF8'), convert_to('', 'unicode'), convert_from(convert_to('häß€😀', 'UTF8'), 'UTF8')
SELECT encode('abc', 'hex'), encode('abc'::bytea, 'base64'), encode('abc', 'escape')
SELECT 'abc'::varchar(2), 'abc'::char(2), 'x'::name, 'abc'::"char"
SELECT coalesce(description, 'none'), coalesce(title, job_name), coalesce(NULL, n, 5) FROM sys.jobs
SELECT string_to_array('a,b,c', ','), array_to_string(ARRAY['a', NULL, 'c'], '-', '*'), array_to_string(tags, ',') FROM sys.jobs
# Times.
SELECT next_run + interval '1 day', next_run - interval '1 month', next_run + '90 minutes', interval '2 hours' + next_run FROM sys.jobs
SELECT next_run - timestamptz '2026-01-01', day - date '2026-01-01', day + 7, day - 1, day + interval '1 hour', local - local, next_run - day FROM sys.jobs
SELECT took * 2, took / 2, took + interval '1 hour', took - interval '1 min', -took, 2.5 * interval '1 day', took::text FROM sys.jobs
SELECT extract(epoch FROM next_run), extract(dow FROM day), extract(hour FROM clock), extract(day FROM took), extract(second FROM local), extract(week FROM day), extract(quarter FROM day), extract(epoch FROM took) FROM sys.jobs
SELECT date_trunc('hour', next_run), date_trunc('month', local), date_trunc('week', day), date_trunc('day', next_run, 'Europe/Berlin'), date_trunc('hour', took), date_trunc('quarter', next_run) FROM sys.jobs
SELECT to_char(next_run, 'YYYY-MM-DD HH24:MI:SS'), to_char(day, 'Day, DD Month YYYY'), to_char(local, 'FMMonth FMDD HH12:MI AM'), to_char(next_run, 'IYYY-IW Q US MS TZ') FROM sys.jobs
SELECT to_char(took, 'HH24:MI:SS'), to_char(took, 'DD HH12 MM YYYY'), to_char(day, 'FMDay DY Dy dy MON mon YY D ID DDD'), to_char(local, 'HH:MI:SS.MS "at" pm') FROM sys.jobs
SELECT to_timestamp(1772366400), to_timestamp(1.5), make_interval(1, 2), make_interval(days => 3, hours => 2)
SELECT next_run::date, next_run::timestamp, day::timestamptz, day::timestamp, local::timestamptz, next_run::time, local::date, next_run::text, day::text, local::text, clock::text FROM sys.jobs
SELECT '2026-03-01'::date, '2026-03-01 12:00'::timestamptz, '2026-03-01T12:00:00.123456+02'::timestamptz, '1 day 2 hours'::interval, '01:02:03'::interval, '-1 day'::interval, '1.5 days'::interval, '2 weeks'::interval, '12:30'::time
SELECT timestamp '2026-03-01 12:00' AT TIME ZONE 'America/New_York', timestamptz '2026-07-01 12:00Z' AT TIME ZONE 'America/New_York', timezone('UTC', next_run) FROM sys.jobs
SELECT age(timestamptz '2026-03-01', timestamptz '2024-02-29'), age(timestamp '2024-01-31', timestamp '2026-03-01 10:00')
SELECT now() > '2020-01-01', current_date > '2020-01-01', now() - interval '1 day' < now(), current_timestamp = now(), localtimestamp > '2020-01-01'
SELECT started, ended - started, ended - started > interval '15 seconds', extract(epoch FROM ended - started) * 1000 FROM sys.runs
SELECT $1 < next_run, next_run + $2 FROM sys.jobs -- 2026-03-02 | 1 hour
SELECT 'epoch'::timestamptz, 'infinity'::timestamptz > now(), timestamptz '2026-03-01 10:00 Europe/Berlin'
# Groups.
SELECT state, count(*) FROM sys.jobs GROUP BY state
SELECT state, count(*) AS c FROM sys.jobs GROUP BY 1 HAVING count(*) > 1 ORDER BY c
SELECT upper(state) AS s, count(*) FROM sys.jobs GROUP BY s ORDER BY s
SELECT count(n), count(DISTINCT priority), sum(n), sum(priority), sum(weight), sum(cost), sum(small), avg(n), avg(priority), avg(weight), avg(cost), min(n), max(next_run), min(day), max(weight) FROM sys.jobs
SELECT count(n), sum(n), avg(n), max(a), min(b), array_agg(a), string_agg(b, ','), bool_and(a > 1) FROM sys.empty, (SELECT 1 AS n) x
SELECT sum(took), avg(took), min(took), max(took) FROM sys.jobs
SELECT bool_and(enabled), bool_or(enabled) FROM sys.jobs
SELECT string_agg(job_name, ', ' ORDER BY job_name), string_agg(DISTINCT state, ','), array_agg(n ORDER BY n), array_agg(DISTINCT state ORDER BY state) FROM sys.jobs
SELECT count(*) FILTER (WHERE enabled), sum(n) FILTER (WHERE n > 0) FROM sys.jobs
SELECT json_agg(n ORDER BY n), jsonb_agg(enabled ORDER BY job_name), json_agg(next_run ORDER BY job_name) FROM sys.jobs
SELECT stddev(n), variance(n), stddev_pop(weight), var_samp(cost) FROM sys.jobs WHERE n < 3
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ms), percentile_disc(0.5) WITHIN GROUP (ORDER BY ms), percentile_disc(0.2) WITHIN GROUP (ORDER BY state DESC) FROM sys.runs
SELECT date_trunc('month', started) AS m, count(*) FROM sys.runs GROUP BY date_trunc('month', started) ORDER BY m
SELECT date_trunc('month', started), count(*) FROM sys.runs GROUP BY 1 ORDER BY 1
SELECT j.state, count(r.run_uuid) AS runs FROM sys.jobs j LEFT JOIN sys.runs r USING (job_uuid) GROUP BY j.state ORDER BY runs DESC, j.state
SELECT state, n + 1 FROM sys.jobs GROUP BY state, n
SELECT n + 1, count(*) FROM sys.jobs GROUP BY n + 1
SELECT state, (SELECT count(*) FROM sys.runs r WHERE r.state = j.state) FROM sys.jobs j GROUP BY state
SELECT count(*) FROM sys.jobs HAVING count(*) > 100
SELECT max(n) - min(n), sum(n) / count(*), sum(priority) / count(*), avg(n)::int, round(avg(n), 2) FROM sys.jobs
SELECT CASE WHEN n > 0 THEN 'pos' ELSE 'neg' END AS s, count(*) FROM sys.jobs GROUP BY CASE WHEN n > 0 THEN 'pos' ELSE 'neg' END ORDER BY s
SELECT enabled, bool_or(n > 0) FROM sys.jobs GROUP BY enabled ORDER BY enabled NULLS FIRST
# Windows.
SELECT job_name, rank() OVER (ORDER BY priority DESC), dense_rank() OVER (ORDER BY state), ntile(2) OVER (ORDER BY job_name) FROM sys.jobs
SELECT job_name, sum(n) OVER (PARTITION BY state ORDER BY job_name), count(*) OVER () FROM sys.jobs
SELECT job_name, lag(job_name) OVER w, lead(n, 1, 0) OVER w, first_value(job_name) OVER w, last_value(job_name) OVER (ORDER BY job_name ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM sys.jobs WINDOW w AS (ORDER BY job_name)
SELECT state, count(*), sum(count(*)) OVER (ORDER BY state) FROM sys.jobs GROUP BY state
SELECT * FROM (SELECT job_name, row_number() OVER (PARTITION BY state ORDER BY n DESC) AS rn FROM sys.jobs) x WHERE rn = 1
SELECT job_name, avg(weight) OVER (ORDER BY job_name ROWS 1 PRECEDING) FROM sys.jobs
SELECT job_name, array_agg(n) OVER (PARTITION BY state ORDER BY job_name) FROM sys.jobs
# Joins.
SELECT j.job_name, r.state FROM sys.jobs j JOIN sys.runs r ON r.job_uuid = j.job_uuid
SELECT j.job_name, r.state FROM sys.jobs j LEFT JOIN sys.runs r ON r.job_uuid = j.job_uuid AND r.state = 'COMPLETED'
SELECT job_uuid, j.n, r.ms FROM sys.jobs j JOIN sys.runs r USING (job_uuid)
SELECT * FROM (SELECT job_uuid, n FROM sys.jobs) j FULL JOIN (SELECT job_uuid, ms FROM sys.runs) r USING (job_uuid)
SELECT * FROM (SELECT job_uuid, n FROM sys.jobs) j RIGHT JOIN (SELECT job_uuid, ms FROM sys.runs) r USING (job_uuid)
SELECT * FROM (SELECT job_uuid, n FROM sys.jobs) j NATURAL JOIN (SELECT job_uuid, ms FROM sys.runs) r
SELECT count(*) FROM sys.jobs, sys.runs
SELECT count(*) FROM sys.jobs CROSS JOIN sys.runs CROSS JOIN sys.runs r2
SELECT a.job_name, b.job_name FROM sys.jobs a, sys.jobs b LEFT JOIN sys.runs c ON c.job_uuid = b.job_uuid WHERE a.n > b.n AND c.ms IS NULL
SELECT a.n, b.n, c.ms FROM sys.jobs a JOIN (sys.jobs b JOIN sys.runs c ON b.job_uuid = c.job_uuid) ON a.n = b.n
SELECT j.job_name, l.started FROM sys.jobs j LEFT JOIN LATERAL (SELECT r.started FROM sys.runs r WHERE r.job_uuid = j.job_uuid ORDER BY r.started DESC LIMIT 1) l ON true
SELECT j.job_name, l.c, l.m FROM sys.jobs j, LATERAL (SELECT count(*) AS c, max(ms) AS m FROM sys.runs r WHERE r.job_uuid = j.job_uuid) l
SELECT j.job_name, (SELECT count(*) FROM sys.runs WHERE sys.runs.job_uuid = j.job_uuid) AS c FROM sys.jobs j ORDER BY c DESC, 1
SELECT j.job_name FROM sys.jobs j WHERE j.n = (SELECT max(n) FROM sys.jobs)
SELECT t.x FROM (SELECT job_name AS x FROM sys.jobs UNION ALL SELECT state FROM sys.runs) t WHERE t.x LIKE '%a'
# Sets of rows.
SELECT job_name FROM sys.jobs UNION SELECT job_name FROM sys.runs ORDER BY 1
SELECT n FROM sys.jobs UNION ALL SELECT row_count FROM sys.runs
SELECT n FROM sys.jobs UNION SELECT 1.5
SELECT next_run FROM sys.jobs UNION SELECT '2026-01-01'
SELECT next_run FROM sys.jobs UNION ALL SELECT day FROM sys.jobs
SELECT NULL UNION SELECT 1
SELECT 'x' UNION SELECT 'y' ORDER BY 1
SELECT job_uuid FROM sys.jobs INTERSECT SELECT job_uuid FROM sys.runs
SELECT job_uuid FROM sys.jobs EXCEPT SELECT job_uuid FROM sys.runs
(SELECT n FROM sys.jobs ORDER BY n LIMIT 1) UNION ALL (SELECT n FROM sys.jobs ORDER BY n DESC NULLS LAST LIMIT 1) ORDER BY 1
SELECT 1 UNION SELECT 2 INTERSECT SELECT 2 ORDER BY 1
SELECT 1 AS a UNION ALL (SELECT 2 UNION SELECT 2) ORDER BY a
VALUES (1), (2) UNION ALL SELECT 3 ORDER BY 1
SELECT job_name, n FROM sys.jobs UNION ALL VALUES ('z', 9) ORDER BY 2 DESC, 1 LIMIT 3
# Common tables.
WITH x AS (SELECT * FROM sys.jobs WHERE n > 0) SELECT job_name FROM x
WITH x(a, b) AS (SELECT job_name, n FROM sys.jobs), y AS (SELECT max(b) AS m FROM x) SELECT a FROM x, y WHERE b = m
WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 5) SELECT sum(n) FROM t
WITH RECURSIVE t AS (SELECT 1 AS n, 'a' AS s UNION ALL SELECT n + 1, s || 'a' FROM t WHERE n < 3) SELECT * FROM t ORDER BY n
WITH jobs AS (SELECT 1 AS only) SELECT * FROM jobs
SELECT * FROM (WITH x AS (SELECT 1 AS a) SELECT a + 1 AS b FROM x) y
WITH x AS (SELECT state, count(*) AS c FROM sys.runs GROUP BY state) SELECT x.state, x.c::float8 / (SELECT sum(c) FROM x) AS share FROM x ORDER BY x.state
WITH last AS (SELECT DISTINCT ON (job_name) job_name, started FROM sys.runs ORDER BY job_name, started DESC) SELECT * FROM last
# Arrays.
SELECT ARRAY[1, 2, 3], ARRAY['a', NULL], ARRAY[n, 2] FROM sys.jobs
SELECT tags[1], nums[2], tags[5], (ARRAY[1, 2, 3])[2], array_length(tags, 1), cardinality(nums), array_upper(nums, 1), array_position(tags, 'green') FROM sys.jobs
SELECT tags || 'x'::text, nums || 4, 0 || nums, nums || ARRAY[5, 6], array_remove(nums, 2) FROM sys.jobs WHERE tags IS NOT NULL
SELECT ARRAY(SELECT n FROM sys.jobs WHERE n IS NOT NULL ORDER BY n), ARRAY(SELECT job_name FROM sys.jobs WHERE n = 1)
SELECT nums @> ARRAY[1], nums && ARRAY[3, 9], ARRAY[1] <@ nums, tags = '{red}', tags = ARRAY['red', 'green'] FROM sys.jobs
SELECT unnest(nums) FROM sys.jobs
SELECT job_name, unnest(tags) AS tag FROM sys.jobs ORDER BY 1, 2
SELECT unnest(ARRAY[1, 2]), unnest(ARRAY['a', 'b', 'c'])
SELECT j.job_name, t FROM sys.jobs j, unnest(j.tags) t
SELECT j.job_name, t.tag, t.i FROM sys.jobs j CROSS JOIN LATERAL unnest(j.tags) WITH ORDINALITY AS t(tag, i)
SELECT * FROM generate_series(1, 5)
SELECT g, g * 2 AS d FROM generate_series(10, 1, -3) g
SELECT d::date FROM generate_series(timestamp '2026-01-01', '2026-01-03', '1 day') d
SELECT generate_series(1, 3) AS i, 'x'
SELECT i, count(r.run_uuid) FROM generate_series(1, 3) AS i LEFT JOIN sys.runs r ON r.row_count > i GROUP BY i ORDER BY i
SELECT '{1,2}'::int[], '{a,"b c",NULL}'::text[], ARRAY[]::text[], ARRAY['1', '2']::int[], nums::text[], nums::text FROM sys.jobs
SELECT count(*) FROM unnest('{1,2,3}'::int[]) AS u(x) WHERE x > 1
SELECT (information_schema._pg_expandarray(nums)).n, (information_schema._pg_expandarray(nums)).x FROM sys.jobs WHERE job_name = 'Epsilon'
# Documents.
SELECT params -> 'a', params ->> 'a', params -> 'b' -> 'c', params #>> '{b,c}', params #> '{l,0}', params -> 'l' -> 1, params ->> 't', params ->> 'n' FROM sys.jobs
SELECT doc -> 'k', doc ->> 'k', doc -> 0, doc #>> '{x,1,y}' FROM sys.jobs
SELECT job_name FROM sys.jobs WHERE params ->> 'a' = '1'
SELECT (params ->> 'a')::int FROM sys.jobs WHERE job_name = 'alpha'
SELECT params @> '{"a": 1}', params ? 'a' FROM sys.jobs
SELECT jsonb_typeof(params), json_typeof(doc), jsonb_array_length(params -> 'l') FROM sys.jobs WHERE job_name = 'alpha'
SELECT json_build_object('a', n, 'b', enabled, 'c', job_name, 'd', next_run, 'e', params), to_json(job_name), to_jsonb(enabled), to_json(nums) FROM sys.jobs
SELECT e.key, e.value FROM sys.jobs, jsonb_each(params) e WHERE job_name = 'alpha'
SELECT key, value FROM sys.jobs, jsonb_each_text(params) WHERE job_name = 'alpha'
SELECT jsonb_array_elements('[1, {"a": 2}, "x"]'), jsonb_array_elements_text('[1, {"a": 2}, "x"]')
SELECT jsonb_object_keys(params) FROM sys.jobs WHERE job_name = 'alpha'
SELECT value FROM jsonb_array_elements_text('["a", "b"]')
SELECT params = '{}' FROM sys.jobs WHERE job_name IN ('alpha', 'gamma')
SELECT row_to_json(x) FROM (SELECT n, job_name FROM sys.jobs) x
SELECT params::text, '{"b":1,"a":[1,2]}'::jsonb, '{"b":1,  "a":2}'::json, doc::text FROM sys.jobs
# Cases, and what else there is.
SELECT CASE n WHEN 1 THEN 'one' WHEN 0 THEN 'zero' ELSE 'many' END, CASE WHEN n > 0 THEN n ELSE 0.5 END, CASE WHEN enabled THEN next_run ELSE '2000-01-01' END FROM sys.jobs
SELECT CASE $1 WHEN 'a' THEN 1 ELSE 2 END -- a
SELECT coalesce($1, n), coalesce(description, $2) FROM sys.jobs -- 5 | x
SELECT $1, $2::timestamptz, $3 || 'x', length($4) -- a | 2026-01-01 | b | abc
SELECT job_name FROM sys.jobs WHERE upper(job_name) = upper($1) -- ALPHA
SELECT job_name FROM sys.jobs WHERE next_run > $1 AND next_run < $1 + interval '10 days' -- 2026-02-25
SELECT job_name FROM sys.jobs WHERE day = $1 AND n = $2 AND enabled = $3 AND params @> $4 -- 2026-03-01 | 1 | true | {"a": 1}
SELECT job_uuid::text, 'f0000000-0000-0000-0000-00000000000F'::uuid, enabled::int, 'yes'::bool FROM sys.jobs
SELECT job_name FROM sys.jobs WHERE job_uuid::text LIKE '%b'
SELECT pg_catalog.upper('a'), pg_catalog.length('abc')
SELECT (job_name, n) FROM sys.jobs WHERE n = 1
SELECT x FROM (SELECT n, job_name FROM sys.jobs WHERE n = 1) x
SELECT 1 WHERE false
SELECT count(*) FROM (SELECT DISTINCT state, enabled FROM sys.jobs) x
SELECT 'it''s', E'a\nb', $$x$$
SELECT a.job_name FROM sys.jobs a WHERE a.job_name IN (SELECT a.job_name FROM sys.runs a WHERE a.state = 'COMPLETED')
SELECT job_name, n IS NULL AS missing, n = 1 AS one FROM sys.jobs ORDER BY missing, one, job_name
# Queries that stand for a value.
SELECT (SELECT job_name FROM sys.jobs WHERE n = 1), (SELECT job_name FROM sys.jobs WHERE n = 12345), (SELECT next_run FROM sys.jobs WHERE n = 1), (SELECT tags FROM sys.jobs WHERE n = 1)
SELECT j.job_name, (SELECT k.n FROM sys.jobs k WHERE k.job_name = j.job_name) FROM sys.jobs j
SELECT j.job_name FROM sys.jobs j WHERE j.n = (SELECT k.n FROM sys.jobs k WHERE k.job_name = j.job_name)
SELECT j.job_name FROM sys.jobs j WHERE (SELECT k.job_name FROM (SELECT * FROM sys.jobs i WHERE i.job_name = j.job_name) k) = 'alpha'
SELECT (SELECT job_name FROM sys.jobs ORDER BY job_name DESC LIMIT 1), (SELECT job_name FROM sys.jobs ORDER BY job_name OFFSET 1 LIMIT 1), (SELECT x FROM (VALUES (1), (2)) v(x) WHERE x > 1 LIMIT 5)
SELECT (SELECT 1 UNION SELECT 1), (SELECT 1 INTERSECT SELECT 2), (VALUES (7)), (SELECT 'x' WHERE false), (SELECT doc FROM sys.jobs WHERE n = 1)
SELECT (SELECT '\x00ff'::bytea FROM sys.jobs WHERE n = 1), (SELECT ' b ' FROM sys.jobs WHERE n = 1), (SELECT 1.50 FROM sys.jobs WHERE n = 1)
SELECT (WITH w AS (SELECT n FROM sys.jobs WHERE n = 1) SELECT n FROM w), ARRAY(SELECT n FROM sys.jobs ORDER BY n)
SELECT (SELECT count(*) FROM sys.jobs), (SELECT max(n) FROM sys.jobs HAVING count(*) > 0)
# Intervals of some fields.
SELECT interval '1' day, interval '2' year, interval '3' month, interval '4' hour, interval '5' minute, interval '6' second, interval '1.5' hour, '1'::interval day
SELECT interval '1 2:03:04', interval '1 2:03', interval '3:04.5', interval '1 day 5'
SELECT interval '1 year 2 months 3 days 04:05:06' day, interval '1 year 2 months 3 days' year, interval '1 year 2 months 3 days' month, interval '04:05:06' hour, interval '04:05:06' minute
SELECT interval '-3' day, interval '1' day * 2, date '2026-01-01' + interval '1' month
# What is equal, however it is written.
SELECT '{"a":1,"b":[2.50]}'::jsonb = '{"b":[2.5],"a":1.0}', '[1e2]'::jsonb = '[100]', '1'::jsonb <> '1.00', '0'::jsonb = '-0.0', '[1,2]'::jsonb = '[2,1]', '"1"'::jsonb = '1'
SELECT ARRAY[1, 2.0] = ARRAY[1.0, 2.0], ARRAY[1.5] = ARRAY[1.50], ARRAY['a', E'\u2028'] = '{a,\u2028}', ARRAY[0.1::float8] = ARRAY[0.1::float8], ARRAY[1, 2] <> ARRAY[2, 1]
SELECT job_name FROM sys.jobs WHERE tags = (SELECT tags FROM sys.jobs WHERE job_name = 'alpha') OR tags IN ('{}', '{x}')
SELECT job_name, n FROM sys.jobs ORDER BY (n, job_name)
SELECT job_name, priority FROM sys.jobs ORDER BY (priority, job_name) DESC
# Small things.
VALUES (3), (1), (2) ORDER BY 1
VALUES (3, 'c'), (1, 'a'), (2, 'b') ORDER BY column2 DESC LIMIT 2
SELECT * FROM (VALUES (3), (1) ORDER BY 1 LIMIT 1) v
SELECT concat_ws('-', 1, '', 'x'), concat_ws('-', NULL, 'a', NULL), concat_ws(NULL, 'a'), concat_ws('', 'a', 'b')
SELECT array_to_string(ARRAY[true, false], '|'), array_to_string(ARRAY[1.5, 2], ','), array_to_string(ARRAY[date '2026-01-01'], ','), array_to_string(ARRAY[interval '1 day'], ',')
SELECT time '24:00', time '23:59:59', timestamptz '2024-01-01 00:00 America/New_York'
SELECT current_timestamp(0) = date_trunc('second', current_timestamp(0)), localtimestamp(0) = date_trunc('second', localtimestamp(0))
SELECT ARRAY[9007199254740993] @> ARRAY[9007199254740992], ARRAY[9007199254740993] && ARRAY[9007199254740993], array_position(ARRAY[9007199254740993], 9007199254740992), ARRAY[1.0, 2.50] @> ARRAY[2.5, 1], ARRAY['1.0'] @> ARRAY['1']
SELECT ARRAY[1, NULL] @> ARRAY[1, NULL], ARRAY[1, NULL] && ARRAY[NULL]::int[], ARRAY[]::int[] <@ ARRAY[1], ARRAY[1, 2, 2] <@ ARRAY[2, 1]
SELECT generate_series(9223372036854775806, 9223372036854775807), 1
SELECT * FROM generate_series(5, 1, -2)
SELECT * FROM generate_series(3, 1)
SELECT '[1,[2,3],{"a":[1,2]}]'::jsonb @> '[{"a":[2]},1]', '["a","b"]'::jsonb ? 'b', '{"a":1}'::jsonb ? 'b', '"a"'::jsonb ? 'a'
SELECT regexp_replace('aXbXc', 'x', '<\&>', 'gi'), btrim('xyäx', 'xä')
SELECT array_agg(n ORDER BY n) FILTER (WHERE n > 0 OR n < 0), string_agg(job_name, ',' ORDER BY job_name) FROM sys.jobs
SELECT job_name, array_agg(n) OVER (ORDER BY job_name) FROM sys.jobs ORDER BY job_name
SELECT json_agg(1), array_agg('x'::text), stddev_pop(n), (SELECT json_agg(j.n) FROM (SELECT 1 AS n UNION ALL SELECT 2) j) FROM sys.jobs
SELECT j.job_name, r.c FROM sys.jobs j, LATERAL (SELECT count(*) AS c, max(r.ms) AS m FROM sys.runs r WHERE r.job_uuid = j.job_uuid) r ORDER BY 1
SELECT variance(x), stddev_samp(x), round(var_pop(x), 3) FROM generate_series(1, 9) x
SELECT key, value FROM json_each('{"k": [1]}')
SELECT generate_subscripts(nums, 1), json_object_keys('{"a": 1}') FROM sys.jobs
# Numbers with more than 15 digits, and numbers that a calculation rounds.
SELECT extract(epoch FROM timestamptz '2026-11-17 19:04:00.376249+00'), extract(epoch FROM timestamptz '2026-11-17 19:04:00.000001+00'), extract(epoch FROM timestamptz '2090-06-15 12:00:00.000001+00')
SELECT 1234567890123456.5::numeric, 0.1 + 0.2, 0.7 + 0.1, 1.1 + 2.2, 1.1 * 1.1 * 1.1, 4.35 * 100, 999999999.123456, 1234567.654321
SELECT (0.1 + 0.2)::text, 1234567890123456.5::numeric::text, 0.9999999999::numeric::text, (extract(epoch FROM timestamptz '2026-11-17 19:04:00.376249+00'))::text
# Arrays of records.
SELECT ARRAY[ROW(1, 2)], ARRAY[ROW('a b', NULL), ROW('q"x', true)]
SELECT array_agg(t ORDER BY t.a) FROM (VALUES (1, 'x'), (2, 'y z')) t(a, b)
# Durations of ISO 8601.
SELECT interval 'P1D', interval 'PT5M', interval 'P1Y2M3W4DT5H6M7.5S', interval 'P-1DT-2H', 'PT0.5S'::interval, interval 'P1.5D'
