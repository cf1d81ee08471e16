package storekit

// Without history a copy takes the executions that the rules may still need:
//
//   - those that have not ended, and dead letters, which wait for a person;
//   - those that a unique key refers to;
//   - those created since the oldest idempotency key that is stored: a request that is sent again
//     must find what it created;
//   - those that a client planned: their plan time is a key as long as they exist. Those that a
//     schedule planned count only from its next fire on, because it fires no earlier time again;
//   - those of a schedule that others depend on, if they count after the last fire of a schedule that
//     depends on it or after the begin of the window of a job that waits, and the newest of each scope
//     before that;
//   - redrives of these, because a dead letter is handled as long as its redrive exists;
//   - all members of their groups.
//
// All attempts of an execution are taken together.
const waitingExecutions = `
WITH bound (schedule, at) AS (
  SELECT e.depends_on, min(x.at)
  FROM rota_edges e
  JOIN (
    SELECT s.name AS schedule, coalesce(s.last_fire, s.created_at) AS at
    FROM rota_schedules s
    UNION ALL
    SELECT w.schedule, min(w.wait_from)
    FROM rota_jobs w
    WHERE w.sequel IS NULL AND w.wait_from IS NOT NULL
    GROUP BY w.schedule
  ) x ON x.schedule = e.schedule
  GROUP BY e.depends_on
), newest (schedule, scope_kind, scope_id, at) AS (
  SELECT n.schedule, coalesce(n.scope_kind, ''), coalesce(n.scope_id, ''), max(n.counts_at)
  FROM bound b
  JOIN rota_jobs n ON n.schedule = b.schedule
  WHERE n.retry_of IS NULL AND n.counts_at <= b.at
  GROUP BY n.schedule, coalesce(n.scope_kind, ''), coalesce(n.scope_id, '')
), needed (id) AS (
  SELECT coalesce(a.execution_id, a.id)
  FROM rota_jobs a
  WHERE a.sequel IS NULL OR a.sequel = 'dead'
  UNION
  SELECT k.execution_id
  FROM rota_keys k
  UNION
  SELECT c.id
  FROM rota_jobs c
  WHERE c.retry_of IS NULL AND c.created_at >= (SELECT min(r.at) FROM rota_requests r)
  UNION
  SELECT p.id
  FROM rota_jobs p
  LEFT JOIN rota_schedules s ON s.name = p.schedule
  WHERE p.retry_of IS NULL AND p.plan_time IS NOT NULL AND (p.schedule IS NULL OR p.plan_time >= s.next_fire)
  UNION
  SELECT d.id
  FROM bound b
  JOIN rota_jobs d ON d.schedule = b.schedule
  WHERE d.retry_of IS NULL AND d.counts_at > b.at
  UNION
  SELECT d.id
  FROM newest n
  JOIN rota_jobs d ON d.schedule = n.schedule AND d.counts_at = n.at
    AND coalesce(d.scope_kind, '') = n.scope_kind AND coalesce(d.scope_id, '') = n.scope_id
  WHERE d.retry_of IS NULL
), kept (id) AS (
  SELECT id
  FROM needed
  UNION
  SELECT v.id
  FROM rota_jobs v
  WHERE v.redrive_of IN (SELECT id FROM needed)
), kept_groups (id) AS (
  SELECT DISTINCT m.group_id
  FROM rota_jobs m
  WHERE m.group_id IS NOT NULL AND coalesce(m.execution_id, m.id) IN (SELECT id FROM kept)
)`

const (
	sqlWaitingJobIDs = waitingExecutions + `
SELECT q.id
FROM rota_jobs q
WHERE coalesce(q.execution_id, q.id) IN (SELECT id FROM kept) OR q.group_id IN (SELECT id FROM kept_groups)
ORDER BY q.id`
	sqlWaitingGroups = waitingExecutions + `
SELECT id
FROM kept_groups
ORDER BY id`
)
