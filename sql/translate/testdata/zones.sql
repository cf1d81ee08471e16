# What a clock shows, before and behind each change of it.
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-03-28 22:00+00', timestamptz '2026-03-29 04:00+00', interval '30 min') t
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-10-24 22:00+00', timestamptz '2026-10-25 04:00+00', interval '30 min') t
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-03-08 05:00+00', timestamptz '2026-03-08 09:00+00', interval '30 min') t
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-11-01 04:00+00', timestamptz '2026-11-01 08:00+00', interval '30 min') t
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-04-04 13:00+00', timestamptz '2026-04-04 17:00+00', interval '15 min') t
SELECT t, t::text, t::timestamp, t::date, t::time FROM generate_series(timestamptz '2026-10-03 13:00+00', timestamptz '2026-10-03 17:00+00', interval '15 min') t
# What a clock passes over, and what it shows twice.
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-03-29 00:00', timestamp '2026-03-29 05:00', interval '15 min') l
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-10-25 00:00', timestamp '2026-10-25 05:00', interval '15 min') l
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-03-08 00:00', timestamp '2026-03-08 05:00', interval '15 min') l
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-11-01 00:00', timestamp '2026-11-01 05:00', interval '15 min') l
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-04-05 00:00', timestamp '2026-04-05 04:00', interval '10 min') l
SELECT l, l::timestamptz, extract(epoch FROM l::timestamptz) FROM generate_series(timestamp '2026-10-04 00:00', timestamp '2026-10-04 04:00', interval '10 min') l
SELECT l AT TIME ZONE 'Europe/Berlin', l AT TIME ZONE 'America/New_York', l AT TIME ZONE 'Australia/Lord_Howe' FROM generate_series(timestamp '2026-03-08 01:00', timestamp '2026-04-06 04:00', interval '30 min') l
SELECT l AT TIME ZONE 'Europe/Berlin', l AT TIME ZONE 'America/New_York', l AT TIME ZONE 'Australia/Lord_Howe' FROM generate_series(timestamp '2026-10-03 23:00', timestamp '2026-11-01 04:00', interval '30 min') l
SELECT d::date, d::date::timestamptz, d::date::timestamp FROM generate_series(timestamp '2026-03-27', timestamp '2026-03-31', interval '1 day') d
# Times as they are written.
SELECT timestamptz '2026-03-29 01:59:59.999999', timestamptz '2026-03-29 02:00', timestamptz '2026-03-29 02:30', timestamptz '2026-03-29 03:00'
SELECT timestamptz '2026-10-25 01:59:59.999999', timestamptz '2026-10-25 02:00', timestamptz '2026-10-25 02:59', timestamptz '2026-10-25 03:00'
SELECT timestamptz '2026-10-25 02:30 Europe/Berlin', timestamptz '2026-03-29 02:30 Europe/Berlin', timestamptz '2026-10-25 02:30+02', timestamptz '2026-10-25 02:30Z'
SELECT '2026-07-01'::timestamptz, '2026-07-01 24:00'::timestamptz, 'epoch'::timestamptz, 'epoch'::timestamp, 'infinity'::timestamptz, '-infinity'::timestamptz
SELECT '2026-07-01 10:00+00'::timestamp, '2026-07-01 23:00-09'::date, '2026-07-01 12:00'::text::timestamptz, ('2026-01-' || '05')::timestamptz
SELECT timestamptz '1900-01-01 12:00', timestamptz '1850-06-01 00:00', timestamptz '1970-06-01', timestamptz '2090-06-15 12:00'
SELECT timestamp '2026-03-29 02:30'::timestamptz::timestamp, timestamp '2026-10-25 02:30'::timestamptz::text, date '2026-03-29'::timestamptz::text
SELECT '2026-03-29 02:30:00.123456'::timestamptz(3), '2026-10-25 02:30:00.9999'::timestamptz(0)
SELECT $1::timestamptz, $2::timestamptz, $3::timestamptz -- 2026-03-29 02:30 | 2026-10-25 02:30 | 2026-10-25 02:30+00
SELECT $1::timestamp, $2::date, $3::time, $1::timestamp::timestamptz -- 2026-03-29 02:30 | 2026-10-25 | 10:00
SELECT $1::text::timestamptz, $2::timestamptz[] -- 2026-10-25 02:30 | {2026-03-29 02:30,NULL,2026-07-01 00:00Z}
SELECT '{2026-03-29 02:30,2026-10-25 02:30}'::timestamptz[], ARRAY['2026-07-01', timestamptz '2026-01-01'], ARRAY['2026-07-01', '2026-01-01']::timestamptz[]
SELECT ARRAY['2026-07-01 10:00'::timestamptz]::text, ARRAY['2026-07-01 23:00Z'::timestamptz]::date[], ARRAY[timestamp '2026-03-29 02:30', NULL]::timestamptz[]
SELECT ARRAY[timestamptz '2026-07-01 23:00Z']::text[], ARRAY[date '2026-07-01']::timestamptz[], ARRAY[timestamptz '2026-07-01 23:00Z']::timestamp[], ARRAY['2026-07-01 10:00']::text[]::timestamptz[]
# Comparisons.
SELECT job_name FROM sys.jobs WHERE next_run > '2026-03-01 12:00'
SELECT job_name FROM sys.jobs WHERE next_run >= '2026-03-01 13:00' AND next_run < '2026-03-05 08:00'
SELECT job_name FROM sys.jobs WHERE next_run = '2026-03-01 17:30' OR next_run = '2026-03-01 13:00' OR next_run = '2026-03-01 07:00' OR next_run = '2026-03-01 23:00'
SELECT job_name FROM sys.jobs WHERE next_run > $1 AND next_run < $2 -- 2026-03-01 12:00 | 2026-03-05 08:00
SELECT job_name FROM sys.jobs WHERE next_run = ANY($1) -- {2026-03-01 13:00,2026-03-01 07:00,2026-03-01 17:30}
SELECT job_name FROM sys.jobs WHERE next_run IN ('2026-03-01 13:00', '2026-03-01 07:00', '2026-03-01 17:30')
SELECT job_name FROM sys.jobs WHERE next_run BETWEEN '2026-03-01' AND date '2026-03-02'
SELECT job_name, next_run = local, next_run > local, next_run > day, next_run::date = day, local < next_run, day <= next_run FROM sys.jobs
SELECT job_name FROM sys.jobs WHERE next_run::date = '2026-01-01' OR next_run::date = date '2026-03-05'
SELECT run_uuid, started > '2026-02-02', started::date, started = date '2026-02-02' FROM sys.runs
SELECT run_uuid FROM sys.runs WHERE started IN (SELECT local FROM sys.jobs UNION SELECT timestamp '2026-02-03 11:00' UNION SELECT '2026-02-03 15:30')
SELECT timestamptz '2026-10-25 00:30+00' < timestamptz '2026-10-25 01:30+00', timestamp '2026-10-25 02:30' = timestamptz '2026-10-25 01:30+00', date '2026-03-29' < timestamptz '2026-03-28 23:30+00'
SELECT coalesce(next_run, local, day), greatest(next_run, day), least(next_run, '2026-01-01 00:30'), nullif(next_run, '2026-03-01 13:00') FROM sys.jobs
SELECT CASE WHEN n > 0 THEN next_run ELSE local END, CASE WHEN n > 0 THEN day ELSE next_run END FROM sys.jobs
SELECT next_run FROM sys.jobs UNION SELECT local FROM sys.jobs UNION SELECT day FROM sys.jobs
SELECT j.job_name, r.run_uuid FROM sys.jobs j JOIN sys.runs r ON r.started::date = j.next_run::date
SELECT (next_run, n) = ('2026-03-01 13:00', 1), (next_run, n) > ('2026-03-01', 0) FROM sys.jobs
# Parts.
SELECT extract(hour FROM t), extract(day FROM t), extract(dow FROM t), extract(doy FROM t), extract(minute FROM t), extract(week FROM t), extract(isoyear FROM t) FROM generate_series(timestamptz '2026-03-28 20:15+00', timestamptz '2026-03-29 06:00+00', interval '1 hour') t
SELECT extract(epoch FROM t), extract(isodow FROM t) FROM generate_series(timestamptz '2026-10-24 20:15+00', timestamptz '2026-10-25 06:00+00', interval '1 hour') t
SELECT extract(year FROM timestamptz '2025-12-31 23:30+00'), extract(quarter FROM timestamptz '2026-06-30 23:00+00')
SELECT date_part('hour', next_run), date_part('day', next_run), date_part('epoch', next_run), date_part(lower('HOUR'), next_run), date_part('hour', local) FROM sys.jobs
SELECT extract(hour FROM next_run), extract(month FROM next_run), extract(second FROM next_run), extract(hour FROM local), extract(day FROM day) FROM sys.jobs
SELECT extract(hour FROM timestamptz '2026-10-25 02:30'), extract(epoch FROM timestamptz '2026-03-29 02:30'), extract(epoch FROM date '2026-03-29'), extract(epoch FROM timestamp '2026-03-29 02:30')
# What is cut.
SELECT date_trunc('hour', t), date_trunc('day', t), date_trunc('minute', t), date_trunc('second', t) FROM generate_series(timestamptz '2026-03-28 20:17:31.5+00', timestamptz '2026-03-29 04:00+00', interval '47 min') t
SELECT date_trunc('hour', t), date_trunc('day', t), date_trunc('week', t), date_trunc('month', t) FROM generate_series(timestamptz '2026-10-24 20:17:31.5+00', timestamptz '2026-10-25 04:00+00', interval '47 min') t
SELECT date_trunc('hour', t), date_trunc('day', t) FROM generate_series(timestamptz '2026-04-04 13:00+00', timestamptz '2026-04-04 17:00+00', interval '10 min') t
SELECT date_trunc('quarter', next_run), date_trunc('year', next_run), date_trunc('day', local), date_trunc('month', day) FROM sys.jobs
SELECT date_trunc('day', next_run, 'America/New_York'), date_trunc('hour', next_run, 'Asia/Kolkata'), date_trunc('day', date '2026-03-29'), date_trunc('day', timestamp '2026-03-29 02:30') FROM sys.jobs
SELECT date_trunc('day', started) AS d, count(*) FROM sys.runs GROUP BY 1 ORDER BY 1
SELECT started::date AS d, count(*), min(started), max(started::time) FROM sys.runs GROUP BY started::date ORDER BY d
# By a pattern.
SELECT to_char(t, 'YYYY-MM-DD HH24:MI:SS TZ OF'), to_char(t, 'HH12 AM tz'), to_char(t, 'Day DDD IW') FROM generate_series(timestamptz '2026-03-28 22:30+00', timestamptz '2026-03-29 04:00+00', interval '30 min') t
SELECT to_char(t, 'HH24:MI TZ OF') FROM generate_series(timestamptz '2026-10-24 22:30+00', timestamptz '2026-10-25 04:00+00', interval '30 min') t
SELECT to_char(next_run, 'HH24:MI'), to_char(local, 'HH24:MI OF'), to_char(local, 'HH24 TZ'), to_char(day, 'YYYY-MM-DD HH24:MI') FROM sys.jobs
SELECT to_timestamp(1774744200)
# Later and earlier.
SELECT timestamptz '2026-03-28 12:00' + interval '1 day', timestamptz '2026-03-28 12:00' + interval '24 hours', timestamptz '2026-03-30 12:00' - interval '1 day', timestamptz '2026-03-30 12:00' - interval '1 day 12 hours'
SELECT timestamptz '2026-10-24 12:00' + interval '1 day', timestamptz '2026-10-24 12:00' + interval '24 hours', timestamptz '2026-10-26 12:00' - interval '1 day', timestamptz '2026-10-26 12:00' - interval '1 day 12 hours'
SELECT timestamptz '2026-03-28 02:30' + interval '1 day', timestamptz '2026-10-24 02:30' + interval '1 day', timestamptz '2026-10-26 02:30' - interval '1 day', timestamptz '2026-03-30 02:30' - interval '1 day'
SELECT timestamptz '2026-02-28 02:30' + interval '1 month', timestamptz '2026-01-31 12:00' + interval '1 month', timestamptz '2026-09-25 02:30' + interval '1 month', timestamptz '2026-01-31 12:00' + interval '1 month 1 day 1 hour', timestamptz '2026-03-29 02:30' + interval '1 year'
SELECT t + interval '1 day', t - interval '1 month', t + interval '1 mon -1 day 30 min', interval '2 days' + t FROM generate_series(timestamptz '2026-03-28 00:00+00', timestamptz '2026-03-29 04:00+00', interval '30 min') t
SELECT t + interval '1 day', t - interval '1 month', t - interval '1 day', t + interval '0 days' FROM generate_series(timestamptz '2026-10-24 00:00+00', timestamptz '2026-10-25 04:00+00', interval '30 min') t
SELECT t + interval '1 day', t - interval '1 day', t - interval '7 months' FROM generate_series(timestamptz '2026-10-31 04:00+00', timestamptz '2026-11-02 08:00+00', interval '30 min') t
SELECT next_run + took, next_run - took, local + took, day + took, day + clock, next_run - local, next_run - day, day - next_run FROM sys.jobs
SELECT timestamptz '2026-03-30 00:00' - timestamptz '2026-03-29 00:00', timestamptz '2026-10-26' - timestamptz '2026-10-25', timestamptz '2026-03-29 12:00' - '2026-03-29 00:00', date '2026-10-26' - timestamptz '2026-10-25 12:00+00'
SELECT age(timestamptz '2026-03-30 00:00', timestamptz '2026-03-29 00:00'), age(timestamptz '2026-10-26 12:00', '2026-10-25 00:00'), age(timestamptz '2026-10-25 01:15+00', timestamptz '2026-10-25 00:45+00'), age(timestamptz '2026-10-25 00:45+00', timestamptz '2026-10-25 01:15+00')
SELECT age(timestamptz '2026-12-31 23:30+00', timestamptz '2026-02-28 22:30+00'), age(timestamptz '2026-02-28 22:30+00', timestamptz '2026-12-31 23:30+00'), age(timestamp '2026-03-30', timestamp '2026-03-29'), age(next_run, local) FROM sys.jobs
# Rows of times.
SELECT t FROM generate_series(timestamptz '2026-03-27 02:30', timestamptz '2026-03-31 02:30', interval '1 day') t
SELECT t FROM generate_series(timestamptz '2026-10-27 02:30', timestamptz '2026-10-22 02:30', interval '-1 day') t
SELECT t FROM generate_series('2026-03-28'::timestamptz, '2026-03-30', '6 hours') t
SELECT t FROM generate_series(date '2026-03-28', date '2026-04-06', interval '1 day') t
SELECT t FROM generate_series(timestamp '2026-03-28', timestamp '2026-03-30', interval '6 hours') t
SELECT t, t::date FROM generate_series(timestamptz '2026-01-31', timestamptz '2026-12-31', interval '1 month') t
SELECT t.d, count(r.run_uuid) FROM generate_series(date '2026-01-31', date '2026-02-05', '1 day') AS t(d) LEFT JOIN sys.runs r ON r.started >= t.d AND r.started < t.d + interval '1 day' GROUP BY t.d ORDER BY t.d
SELECT generate_series(timestamptz '2026-10-24', timestamptz '2026-10-27', interval '12 hours')
SELECT array_agg(t) FROM generate_series(timestamptz '2026-10-24', timestamptz '2026-10-27', interval '1 day') t
# Texts and documents.
SELECT next_run::text, 'at ' || next_run, concat(next_run, '/', local), format('%s', next_run), next_run::varchar(16), started FROM sys.jobs, sys.runs
SELECT to_json(next_run), to_jsonb(next_run), json_build_object('t', next_run, 'l', local), to_json(ARRAY[next_run]) FROM sys.jobs
SELECT to_json(t), json_build_object(t, 1) FROM generate_series(timestamptz '2026-10-24 22:30+00', timestamptz '2026-10-25 04:00+00', interval '30 min') t
SELECT to_json(timestamptz '1850-06-01 00:00+00'), timestamptz '1850-06-01 00:00+00', to_json('infinity'::timestamptz), to_json(timestamp '2026-03-29 02:30')
SELECT json_agg(next_run ORDER BY job_name), jsonb_agg(started) FILTER (WHERE false) FROM sys.jobs, (SELECT started FROM sys.runs LIMIT 1) r
SELECT row_to_json(r) FROM (SELECT started, ended, started::date AS d FROM sys.runs) r
SELECT to_jsonb(r) ->> 'started', (to_jsonb(r) ->> 'started')::timestamptz, (json_build_object('t', '2026-03-29 02:30') ->> 't')::timestamptz FROM sys.runs r
SELECT json_build_object('a', ARRAY[next_run, '2026-03-29 02:30']) FROM sys.jobs
SELECT array_to_string(ARRAY[next_run, '2026-03-29 02:30'], ', ') FROM sys.jobs
SELECT string_agg(next_run::text, ',' ORDER BY next_run) FROM sys.jobs
SELECT started FROM sys.runs ORDER BY started::time, run_uuid
SELECT ARRAY(SELECT next_run FROM sys.jobs ORDER BY job_name), ARRAY(SELECT next_run::date FROM sys.jobs ORDER BY job_name)
SELECT (ARRAY[timestamptz '2026-03-29 02:30'])[1]::text, timestamptz '2026-03-29 02:30' = ANY(ARRAY[timestamp '2026-03-29 02:30'])
# Made of numbers, and of other zones.
SELECT next_run AT TIME ZONE 'Asia/Tokyo', local AT TIME ZONE 'Asia/Tokyo', day AT TIME ZONE 'Asia/Tokyo', '2026-03-29 02:30' AT TIME ZONE 'UTC', timezone('UTC', next_run) FROM sys.jobs
SELECT next_run AT TIME ZONE 'UTC' AT TIME ZONE 'Europe/Berlin', (next_run AT TIME ZONE 'Asia/Tokyo')::timestamptz, (next_run AT TIME ZONE 'Asia/Tokyo')::date FROM sys.jobs
SELECT date(next_run), date(local), next_run::date + 1, next_run::date - day, next_run::date + clock, next_run::time - clock FROM sys.jobs
# The time of the statement.
SELECT current_date = now()::date, localtimestamp = now()::timestamp, localtime = now()::time
SELECT age(timestamptz '2020-02-29 12:00') = age(current_date, timestamptz '2020-02-29 12:00'), age(timestamp '2020-02-29 12:00') = age(current_date::timestamp, '2020-02-29 12:00'), now()::text::timestamptz = now(), to_char(now(), 'YYYY-MM-DD') = current_date::text
SELECT max(started), min(started::date), count(DISTINCT started::date), max(age(ended, started)), percentile_disc(0.5) WITHIN GROUP (ORDER BY started) FROM sys.runs
SELECT started, lag(started) OVER (ORDER BY started), row_number() OVER (PARTITION BY started::date ORDER BY started) FROM sys.runs WHERE started IS NOT NULL ORDER BY started
WITH RECURSIVE d(t) AS (SELECT timestamptz '2026-03-27 02:30' UNION ALL SELECT t + interval '1 day' FROM d WHERE t < '2026-03-31') SELECT t, t::text FROM d
SELECT next_run = 'infinity', 'infinity'::timestamptz::date, 'infinity'::timestamptz::timestamp, 'infinity'::timestamptz + interval '1 day', date_trunc('day', '-infinity'::timestamptz) FROM sys.jobs
# What is short, or rare.
SELECT timestamptz '2026-07-01 12:00' AT TIME ZONE 'CET', timestamp '2026-07-01 12:00' AT TIME ZONE 'CET', timestamptz '2026-07-01 12:00 CET', timestamptz '2026-07-01 12:00 EST', timestamptz '2026-07-01 12:00 CEST', timestamptz '2026-01-01 12:00 EET'
SELECT array_to_string(ARRAY[clock], '/') FROM sys.jobs
SELECT l, l::timestamptz, date_trunc('day', l::timestamptz), l::timestamptz + interval '1 day' FROM generate_series(timestamp '2018-11-03 00:00', timestamp '2018-11-05 05:00', interval '30 min') l
SELECT (timestamptz '2026-07-01 12:00', 5) < (timestamp '2026-07-01 12:00', 6), timestamptz '2026-07-01 12:00' IN (date '2026-07-01', timestamp '2026-07-01 12:00')
SELECT started FROM sys.runs ORDER BY (started, run_uuid)
