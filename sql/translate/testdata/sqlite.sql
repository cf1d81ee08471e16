# What SQLite has and PostgreSQL has not, and still may be asked for.
SELECT key, value FROM json_each('{"a": 1, "b": [2]}')
SELECT j.key, j.value, j.type, j.fullkey FROM sys.jobs, json_tree(params) AS j WHERE j.atom IS NOT NULL
SELECT json_extract(params, '$.a'), json_extract(params, '$.a') = 1, iif(n > 0, 'x', 'y'), ifnull(n, 0), typeof(n), unixepoch('now') > 0 FROM sys.jobs
SELECT strftime('%Y', next_run), date('now', '-1 day'), datetime('2026-01-01'), julianday('2026-01-01'), printf('%05d', n), hex('a'), unicode('a'), total(n), group_concat(job_name) FROM sys.jobs GROUP BY n, next_run
SELECT max(1, 2), min(n, 0), instr(job_name, 'a'), quote(job_name), substr(job_name, 1, 2), json_group_array(n), json_group_object(job_name, n) FROM sys.jobs GROUP BY job_name, n
SELECT json_array(1, 'x'), json_object('a', 1), json_type('[1]'), json_valid('x'), json_set('{}', '$.a', 1), json_quote('a'), json_patch('{}', '{"a":1}')
SELECT job_name FROM sys.jobs WHERE job_name = 'ALPHA' COLLATE NOCASE
SELECT job_name FROM sys.jobs WHERE job_name GLOB 'a*'
SELECT round(1.5), length('abc'), 5 / 2, 'a' == 'a', 1 != 2, now() - '1 day' > '2026-01-01'
SELECT count(*) FROM (SELECT 1 UNION ALL SELECT 2)
SELECT now(), current_date, current_time, localtimestamp, 'today'::date, 'now'::timestamptz, 'tomorrow'::timestamp
SELECT $1 IS NULL OR job_name = $1 FROM sys.jobs -- alpha
SELECT value ->> 'a' FROM json_each('[{"a": 1}]') WHERE value ->> 'a' = '1'
SELECT value + 1, value || 'x', coalesce(value, 'y'), CASE WHEN value > 1 THEN value END, max(value) FROM json_each('[1,2]') GROUP BY value
