-- Times are shown in the zone of the session.
SHOW timezone;
SELECT starts_at_ts FROM (VALUES ('2099-07-01T12:00:00Z'::timestamptz), ('2099-01-01T12:00:00.5Z')) AS v (starts_at_ts);
SET TIME ZONE 'Europe/Berlin';
SHOW timezone;
SELECT '2099-07-01T12:00:00Z'::timestamptz AS summer, '2099-01-01T12:00:00Z'::timestamptz AS winter;
SELECT next_run_time_ts FROM sys.jobs WHERE job_name = 'once';
SELECT '2099-07-01 12:00'::timestamptz AS read_here, '2099-07-01 12:00'::timestamp AS of_no_zone, '2099-07-01 12:00+05:30'::timestamptz AS elsewhere;
SELECT '2099-07-01 12:00'::timestamptz::text AS as_text, to_char('2099-07-01 12:00Z'::timestamptz, 'YYYY-MM-DD HH24:MI') AS by_pattern, date_trunc('day', '2099-07-01 23:00Z'::timestamptz) AS day, extract(hour FROM '2099-07-01 12:00Z'::timestamptz) AS hour;
SELECT timestamptz '2099-07-01 12:00Z' AT TIME ZONE 'Asia/Tokyo' AS tokyo, '2099-07-01 12:00Z'::timestamptz::date AS date;
SET TIME ZONE 'Asia/Kolkata';
SELECT '2099-07-01T12:00:00Z'::timestamptz AS half;
SET timezone TO DEFAULT;
SELECT '2099-07-01T12:00:00Z'::timestamptz AS utc, interval '1 day 02:03:04.5' AS span, '2099-07-01T12:00:00Z'::timestamptz + interval '1 month' AS later;
SELECT '2099-07-01T12:00:00Z'::timestamptz - '2099-06-01T11:00:00Z'::timestamptz AS between, age('2099-07-01T12:00:00Z'::timestamptz, '2099-05-01T00:00:00Z'::timestamptz) AS age;
