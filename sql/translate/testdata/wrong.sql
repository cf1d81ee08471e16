# What is not there.
SELECT * FROM sys.nothing
SELECT * FROM nothing
SELECT job_nam FROM sys.jobs
SELECT j.job_nam FROM sys.jobs j
SELECT x.job_name FROM sys.jobs j
SELECT jobs.job_name FROM sys.jobs j
SELECT nothing(1)
SELECT lower(1, 2)
SELECT x.* FROM sys.jobs
SELECT *
SELECT job_name FROM sys.jobs ORDER BY nothing
SELECT '1'::nothing
SELECT 1 OVER
SELECT rank() OVER nothing FROM sys.jobs
SELECT job_name COLLATE "nothing" FROM sys.jobs
SELECT * FROM sys.jobs j JOIN sys.runs r USING (nothing)
SELECT * FROM sys.jobs j JOIN sys.runs r USING (n)
# What may be two.
SELECT job_name FROM sys.jobs, sys.runs
SELECT * FROM sys.jobs, sys.jobs
SELECT * FROM sys.jobs a JOIN sys.runs a ON true
SELECT 1 AS a, 2 AS a ORDER BY a
WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x
# What does not fit.
SELECT * FROM sys.jobs WHERE n
SELECT * FROM sys.jobs WHERE 1
SELECT * FROM sys.jobs WHERE job_name AND enabled
SELECT NOT 1
SELECT * FROM sys.jobs WHERE n = job_name
SELECT * FROM sys.jobs WHERE job_uuid = job_name
SELECT * FROM sys.jobs WHERE n = 'x'
SELECT * FROM sys.jobs WHERE job_uuid = 'x'
SELECT * FROM sys.jobs WHERE next_run > 'x'
SELECT * FROM sys.jobs WHERE enabled = 'x'
SELECT * FROM sys.jobs WHERE enabled = 1
SELECT * FROM sys.jobs WHERE n IN (1, 'x')
SELECT * FROM sys.jobs WHERE n LIKE 'x'
SELECT * FROM sys.jobs WHERE doc = doc
SELECT job_uuid + 1 FROM sys.jobs
SELECT next_run + next_run FROM sys.jobs
SELECT next_run * 2 FROM sys.jobs
SELECT enabled + 1 FROM sys.jobs
SELECT -job_name FROM sys.jobs
SELECT 'x'::int
SELECT '99999999999'::int
SELECT 99999999999::int
SELECT 'abc'::uuid
SELECT uuid 'abc'
SELECT '2026-13-01'::date
SELECT 'soon'::timestamptz
SELECT 'some days'::interval
SELECT '{'::jsonb
SELECT 'x'::int[]
SELECT '{1,x}'::int[]
SELECT enabled::date FROM sys.jobs
SELECT next_run::int FROM sys.jobs
SELECT CASE WHEN true THEN 1 ELSE next_run END FROM sys.jobs
SELECT CASE WHEN true THEN 1 ELSE 'x' END
SELECT CASE WHEN 1 THEN 2 END
SELECT coalesce(n, job_name) FROM sys.jobs
SELECT 1 UNION SELECT job_name FROM sys.jobs
SELECT 1 UNION SELECT 1, 2
SELECT 1 UNION SELECT 'x'
VALUES (1), ('x')
VALUES (1), (1, 2)
SELECT ARRAY[1, 'x']
SELECT ARRAY[]
SELECT lower(n) FROM sys.jobs
SELECT sum(job_name) FROM sys.jobs
SELECT max(enabled) FROM sys.jobs
SELECT extract(year FROM n) FROM sys.jobs
SELECT extract(wibble FROM next_run) FROM sys.jobs
SELECT (1, 2) = (1, 2, 3)
SELECT (SELECT 1, 2)
SELECT 1 IN (SELECT 1, 2)
SELECT n[1] FROM sys.jobs
SELECT 1 = ANY (1)
SELECT * FROM sys.jobs LIMIT 'x'
[42703] SELECT * FROM sys.jobs LIMIT next_run
SELECT * FROM sys.jobs LIMIT -1
SELECT job_name FROM (VALUES (1)) AS v(a, b)
WITH x(a, b) AS (SELECT 1) SELECT * FROM x
SELECT 1 / 0
SELECT n / (n - n) FROM sys.jobs
SELECT n % 0 FROM sys.jobs
SELECT sqrt(-1)
SELECT ln(0)
SELECT 'x' ~ '('
SELECT job_name::int FROM sys.jobs
SELECT (params ->> 'a')::int FROM sys.jobs
SELECT 'x' AT TIME ZONE 'nowhere'
SELECT split_part('a', ',', 0)
SELECT convert_from('\xff', 'UTF8')
SELECT convert_from('\x6100', 'UTF8')
SELECT convert_from('\x61e46263', 'UTF8')
SELECT convert_from('\xeda080', 'UTF8')
SELECT convert_from('\xc080', 'UTF8')
SELECT convert_from('\xe282', 'UTF8')
# Groups.
SELECT job_name, count(*) FROM sys.jobs
SELECT job_name FROM sys.jobs GROUP BY state
SELECT state, n FROM sys.jobs GROUP BY state
SELECT state FROM sys.jobs GROUP BY state ORDER BY n
SELECT state FROM sys.jobs GROUP BY state HAVING n > 1
SELECT state FROM sys.jobs WHERE count(*) > 1
SELECT sum(max(n)) FROM sys.jobs
SELECT n + 1 FROM sys.jobs GROUP BY n + 2
SELECT count(*) FROM sys.jobs GROUP BY count(*)
SELECT * FROM sys.jobs JOIN sys.runs ON count(*) > 1
SELECT rank() FROM sys.jobs
SELECT job_name FROM sys.jobs WHERE rank() OVER () = 1
SELECT lower(job_name) OVER () FROM sys.jobs
SELECT (SELECT j.n) FROM sys.jobs j GROUP BY j.state
SELECT count() FROM sys.jobs
SELECT lower(DISTINCT job_name) FROM sys.jobs
# Positions.
SELECT job_name FROM sys.jobs ORDER BY 2
SELECT job_name FROM sys.jobs ORDER BY 0
SELECT job_name FROM sys.jobs ORDER BY 1.5
SELECT job_name FROM sys.jobs ORDER BY 'x'
SELECT job_name FROM sys.jobs GROUP BY 3
SELECT DISTINCT state FROM sys.jobs ORDER BY n
SELECT DISTINCT ON (state) state FROM sys.jobs ORDER BY n
SELECT 1 UNION SELECT 2 ORDER BY 1 + 1
SELECT 1 AS a UNION SELECT 2 ORDER BY b
# What we do not do.
[0A000] SELECT 'today'::date
[0A000] SELECT convert_from('a', 'LATIN1')
[0A000] SELECT convert_to('a', 'nothing')
[0A000] SELECT state FROM sys.jobs EXCEPT ALL SELECT 'ENABLED'
[0A000] SELECT rank() OVER (w ORDER BY n) FROM sys.jobs WINDOW w AS (PARTITION BY n)
[0A000] SELECT job_name FROM sys.jobs WHERE job_name SIMILAR TO '(alpha|beta)'
[0A000] SELECT ARRAY[[1, 2], [3, 4]]
[0A000] SELECT '{{1},{2}}'::int[]
[0A000] SELECT nums[1:2] FROM sys.jobs
[0A000] SELECT array_agg(nums) FROM sys.jobs
[0A000] SELECT params ?| ARRAY['n', 'z'] FROM sys.jobs
[0A000] SELECT 5 # 3
[0A000] SELECT ~5
[0A000] SELECT width_bucket(1, 2, 3, 4)
[0A000] SELECT bit_and(n) FROM sys.jobs
[0A000] SELECT corr(n, n) FROM sys.jobs
[0A000] SELECT percent_rank() OVER (ORDER BY n) FROM sys.jobs
[0A000] SELECT * FROM regexp_split_to_table('a b', ' ')
[0A000] SELECT to_timestamp('2026', 'YYYY')
[0A000] SELECT group_concat(job_name) FROM sys.jobs
[0A000] SELECT iif(true, 1, 2)
[0A000] SELECT strftime('%Y', 'now')
[0A000] SELECT concat(VARIADIC ARRAY['a'])
[0A000] SELECT random()
[0A000] SELECT unnest(tags), count(*) FROM sys.jobs GROUP BY 1
[0A000] SELECT sum(n) OVER (ORDER BY next_run RANGE BETWEEN INTERVAL '1 day' PRECEDING AND CURRENT ROW) FROM sys.jobs
SELECT * FROM sys.jobs WHERE unnest(tags) = 'x'
# More rows than one.
SELECT (SELECT n FROM sys.jobs)
SELECT (SELECT NULL FROM sys.jobs)
SELECT (VALUES (1), (2))
SELECT (SELECT 1 UNION SELECT 2)
SELECT (SELECT n FROM sys.jobs ORDER BY n LIMIT 2)
SELECT (SELECT generate_series(1, 3))
SELECT (SELECT count(*) FROM sys.jobs GROUP BY job_name)
SELECT job_name FROM sys.jobs j WHERE n = (SELECT k.n FROM sys.jobs k WHERE k.job_name >= j.job_name OR true)
SELECT interval '1 2 minutes'
[0A000] SELECT interval '1-13'
[0A000] SELECT extract(century FROM next_run) FROM sys.jobs
SELECT interval '5 ago'
SELECT interval '1 2'
[0A000] SELECT interval '1.234' second(2)
[0A000] SELECT interval '1' year to day
[0A000] SELECT interval '1 2:03:04' day to second
# What has no order here.
[0A000] SELECT ARRAY[2] < ARRAY[10]
[0A000] SELECT '[2]'::jsonb >= '[10]'
[0A000] SELECT (1, ARRAY[2]) < (1, ARRAY[10])
[0A000] SELECT '[2]'::jsonb BETWEEN '[1]' AND '[10]'
[0A000] SELECT max(tags) FROM sys.jobs
[0A000] SELECT greatest(ARRAY[2], ARRAY[10])
[0A000] SELECT tags FROM sys.jobs ORDER BY tags
[0A000] SELECT tags FROM sys.jobs ORDER BY 1
[0A000] SELECT tags FROM sys.jobs UNION SELECT tags FROM sys.jobs ORDER BY 1
[0A000] SELECT job_name FROM sys.jobs ORDER BY (n, tags)
[0A000] SELECT job_name FROM sys.jobs ORDER BY jobs
[0A000] SELECT rank() OVER (ORDER BY tags) FROM sys.jobs
[0A000] SELECT array_agg(n ORDER BY tags) FROM sys.jobs
[0A000] SELECT '{}'::jsonb - 'a'
[0A000] SELECT '{}'::jsonb || '{}'
SELECT extract(hour FROM date '2026-01-01')
SELECT extract(day FROM time '10:00')
[0A000] SELECT to_char(1234.5, '9.99')
[0A000] SELECT to_char(now(), 'YYYYTH')
[0A000] SELECT format('%1$s', 'a')
[54000] SELECT repeat('a', 100000) ~ repeat('(a|b)*', 1000)
[54000] SELECT 'a' ~ repeat('a', 20000)
[54000] SELECT 'a' ~ repeat('a{1000}', 100)
[54000] SELECT regexp_replace(repeat('a', 3000000), '(.*)', repeat('\1', 100000))
# Intervals that are too long.
[22008] SELECT make_interval(secs => 1e300)
[22008] SELECT make_interval(years => 2000000000)
SELECT interval '1 day' * 1e300
SELECT interval '1 month' * 1e10
SELECT interval '1 second' * 1e300
SELECT interval '1 second' / 1e-300
[22008] SELECT interval '1e300 days'
[22008] SELECT interval '9999999999 days'
[22008] SELECT sum(i) FROM (VALUES (interval '2000000000 days'), (interval '2000000000 days')) t(i)
# Formats of times and intervals that we do not read.
[0A000] SELECT interval '1-2'
[0A000] SELECT interval '1 day ago'
[0A000] SELECT interval '@ 1 day'
[0A000] SELECT interval 'P0001-02-03T04:05:06'
SELECT interval 'P'
[22007] SELECT interval 'PT'
SELECT interval 'p1m'
SELECT interval 'pear'
SELECT interval 'P1X'
[0A000] SELECT timestamp '2026-05-05 10:00 PM'
[0A000] SELECT timestamp '2026-05-05 10:00:00am'
[0A000] SELECT time '10:00 AM'
[0A000] SELECT timestamp '5 May 2026'
[0A000] SELECT date 'May 5, 2026'
[0A000] SELECT date '2026-may-05'
[0A000] SELECT timestamp '05/06/2026'
[0A000] SELECT timestamptz '20260505T101112'
[0A000] SELECT timestamp '2026-05-05 10:00:00,5'
SELECT timestamptz 'maybe'
SELECT timestamptz '2026-13-05'
SELECT date '2026-02-30'
[0A000] SELECT percentile_cont(ARRAY[0.5, 0.9]) WITHIN GROUP (ORDER BY n) FROM sys.jobs
[0A000] SELECT percentile_disc('{0.5,0.9}'::float8[]) WITHIN GROUP (ORDER BY job_name) FROM sys.jobs
[0A000] SELECT now() AT TIME ZONE interval '1 hour'
