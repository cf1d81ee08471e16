\set n random(1, 20)
CREATE JOB IF NOT EXISTS bench_:n SCHEDULE EVERY 1 HOUR AS CALL noop();
EXECUTE JOB bench_:n;
SELECT job_name, state, next_run_time_ts FROM sys.jobs WHERE job_name = 'bench_:n';
