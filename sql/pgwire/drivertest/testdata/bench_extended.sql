\set n random(0, 9)
CREATE JOB IF NOT EXISTS bench SCHEDULE EVERY 1 HOUR AS CALL noop();
EXECUTE JOB bench;
SELECT count(*), sum(priority + :n) FROM sys.jobs WHERE priority < :n;
