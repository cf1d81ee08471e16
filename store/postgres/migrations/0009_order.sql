-- The order of the whole queue is for those who ask for it by name. Its condition
-- was that of every statement about queued jobs, and it is a small index: analysed
-- while the queue was empty, it seemed the cheapest for all of them, and once the
-- queue was full a claim of one lane read and sorted everything that was in it.
-- PostgreSQL does not conclude LIKE from equality, so whoever does not say it cannot
-- be led here.

-- Whoever has begun to work goes first, or each of the two would wait for the other.
LOCK TABLE rota_jobs IN ACCESS EXCLUSIVE MODE;

DROP INDEX rota_jobs_order;
CREATE INDEX jobs_order ON rota_jobs (priority DESC, position)
  WHERE status LIKE 'QUEUED';
