-- The store: jobs, and what they have to do with others.
--
-- Times and durations are integer microseconds, documents are text since their
-- bytes are kept as they came, and text is ordered by its bytes, as in Go. The
-- rules decide; the constraints and triggers below refuse what the rules would
-- never write, from whatever connection it comes.
--
-- A condition (CHECK, WHEN) costs little, and a call of PL/pgSQL much more: each
-- WHEN is false where nothing is wrong, so that what a plain job goes through
-- calls nothing. Triggers come after the change: for one that comes before it
-- PostgreSQL first locks the row, and writes that down, or inserts row by row what
-- it would otherwise put into its page together. No key refers to
-- another table on the way of a job: it would lock the row that it refers to.

CREATE FUNCTION rota_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'check_violation', SCHEMA = TG_TABLE_SCHEMA, TABLE = TG_TABLE_NAME,
    CONSTRAINT = TG_NAME;
END $$;

-- rota_expect ends a transaction that was decided on rows that are not so any
-- more: of those looked at, as many are there as should be, each as it was.
CREATE FUNCTION rota_expect(matched bigint, should bigint, present bigint) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF matched = should AND present = should THEN
    RETURN;
  END IF;
  RAISE EXCEPTION 'rota: what was read has moved' USING ERRCODE = 'serialization_failure';
END $$;

-- A job and its run, of which it has at most one. What is always there comes
-- first: PostgreSQL finds it at once.
CREATE TABLE rota_jobs (
  id              uuid NOT NULL PRIMARY KEY,
  position        bigint NOT NULL,
  created_at      bigint NOT NULL,
  backoff         bigint NOT NULL,
  timeout         bigint NOT NULL,
  priority        integer NOT NULL,
  hold            integer NOT NULL DEFAULT 0, -- why it does not stand in the order; 1: its run_at has not come
  attempt         integer NOT NULL DEFAULT 1,
  max_attempts    integer NOT NULL,
  status          text COLLATE "C" NOT NULL DEFAULT 'QUEUED',
  type            text COLLATE "C" NOT NULL,
  sequel          text COLLATE "C",           -- what came after it
  queued_at       bigint,
  started_at      bigint,                     -- its run's too
  finished_at     bigint,
  execution_id    uuid,                       -- of a retry: the first job of its chain
  retry_of        uuid,                       -- of a retry: the job before it
  run_id          uuid,                       -- set when it is dispatched
  claim_id        uuid,                       -- of the first that a claim took: the claim
  version         uuid,                       -- the last command that edited or moved it
  backoff_max     bigint,
  jitter          double precision,
  run_at          bigint,
  plan_time       bigint,
  unique_for      bigint,
  scope_kind      text COLLATE "C",           -- both NULL: global/global
  scope_id        text COLLATE "C",
  name            text COLLATE "C",           -- NULL: the type's
  unique_key      text COLLATE "C",
  created_by      text COLLATE "C",
  trace           text COLLATE "C",           -- the traceparent of the span that enqueued it
  params          text NOT NULL,

  -- What it was made from, and belongs to.
  template        text COLLATE "C",
  schedule        text COLLATE "C",
  concurrency_key text COLLATE "C",
  group_id        uuid,
  redrive_of      uuid,
  group_position  integer,
  counts_at       bigint,
  wait_from       bigint,
  wait_until      bigint,

  -- Its run.
  token           uuid,
  life            uuid,
  heartbeat_at    bigint,
  stale_after     bigint,
  ended_at        bigint,                     -- not finished_at, where a crash came between
  exit_code       bigint,
  rows_affected   bigint,
  cancel_at       bigint,
  runner          text COLLATE "C",           -- NULL: it has no run; empty: nobody ran it
  outcome         text COLLATE "C",
  error_code      text COLLATE "C",
  cancel_by       text COLLATE "C",
  cancel_reason   text,
  progress        text,
  log_path        text,
  error           text,
  artifacts       text,                       -- one JSON string a line, only ever appended to
  result          text,

  -- The table of states.
  CONSTRAINT jobs_state CHECK (CASE status
    WHEN 'QUEUED' THEN started_at IS NULL AND run_id IS NULL AND finished_at IS NULL AND sequel IS NULL
    WHEN 'RUNNING' THEN started_at IS NOT NULL
      AND (sequel IS NULL OR (finished_at IS NOT NULL AND sequel IN ('none', 'retry', 'dead')))
    WHEN 'CANCELLED' THEN started_at IS NULL AND run_id IS NULL AND finished_at IS NOT NULL
      AND sequel IS NOT DISTINCT FROM 'none'
    ELSE false END),
  CONSTRAINT jobs_hold CHECK (hold >= 0 AND hold < 256
    AND (hold < 2 OR ((hold & 2 = 0 OR group_id IS NOT NULL) AND (hold & 4 = 0 OR wait_until IS NOT NULL)
      AND (hold & 8 = 0 OR schedule IS NOT NULL) AND (hold & 16 = 0 OR concurrency_key IS NOT NULL)))),
  CONSTRAINT jobs_run CHECK (
    (runner IS NOT NULL OR num_nonnulls(token, claim_id, life, heartbeat_at, stale_after, outcome, ended_at, exit_code, error_code, error,
      rows_affected, cancel_at, cancel_by, cancel_reason, progress, log_path, artifacts, result) = 0)
    AND (runner IS NULL OR (status = 'RUNNING' AND token IS NOT NULL AND heartbeat_at IS NOT NULL AND stale_after IS NOT NULL))),
  CONSTRAINT jobs_outcome CHECK (outcome IS NULL OR outcome IN ('COMPLETED', 'FAILED', 'SKIPPED', 'CANCELLED')),
  -- A job that runs ends with its run.
  CONSTRAINT jobs_close CHECK (outcome IS NOT NULL OR (ended_at IS NULL AND (finished_at IS NULL OR status <> 'RUNNING')))
) WITH (
  -- A job is written some times in its life, and at each heartbeat. Room in its
  -- page keeps that to the page, and out of the indexes where none is on what
  -- changes: none is on what a heartbeat writes.
  fillfactor = 80,
  -- Rows that have left the order are swept up soon, and at full speed: a claim
  -- that walks over what is dead gets slower with each.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_insert_scale_factor = 0.05,
  autovacuum_analyze_scale_factor = 0.05,
  autovacuum_vacuum_cost_delay = 0,
  -- Long params and results stand aside, and are not written again with their job.
  toast_tuple_target = 512
);

-- A progress note is written at each heartbeat: where it stands aside, that
-- would be a second table each time.
ALTER TABLE rota_jobs ALTER COLUMN progress SET STORAGE MAIN;

-- The claim order of each lane; a lane is a type. Delayed, blocked and
-- finished jobs stand outside, so they cost a claim nothing.
CREATE INDEX jobs_claim ON rota_jobs (type, priority DESC, position, created_at, id)
  WHERE status = 'QUEUED' AND hold = 0;

-- The order of the whole queue, held jobs included: the end of a priority,
-- and the neighbours of a job that is moved.
CREATE INDEX jobs_order ON rota_jobs (priority DESC, position, created_at, id)
  WHERE status = 'QUEUED';

-- What waits for its time, and what waits for something, its time included.
CREATE INDEX jobs_due ON rota_jobs (run_at, id)
  WHERE status = 'QUEUED' AND hold & 1 <> 0;
CREATE INDEX jobs_held ON rota_jobs (type, hold, id)
  WHERE status = 'QUEUED' AND hold <> 0;

-- What runs, and what ended without being settled.
CREATE INDEX jobs_open ON rota_jobs (type, id)
  WHERE status = 'RUNNING' AND sequel IS NULL;

-- A claim that is sent again finds that it took something, and then looks for it
-- among what runs: an index of all runs would be written at every change of a job.
CREATE INDEX jobs_claimed ON rota_jobs (claim_id)
  WHERE claim_id IS NOT NULL;

-- At most one retry per job.
CREATE UNIQUE INDEX jobs_retry ON rota_jobs (retry_of)
  WHERE retry_of IS NOT NULL;

-- The planned-execution key, unique among first attempts.
CREATE UNIQUE INDEX jobs_plan ON rota_jobs (
    coalesce(name, type), coalesce(scope_kind, 'global'), coalesce(scope_id, 'global'), plan_time)
  WHERE plan_time IS NOT NULL AND retry_of IS NULL;

-- All jobs of a schedule, to be listed; those that live: QUEUED, or RUNNING and
-- not settled; and its executions by when they count for those that depend on it.
-- A scope that is NULL is '' here, which no part of one is.
CREATE INDEX jobs_of ON rota_jobs (schedule, id)
  WHERE schedule IS NOT NULL;
CREATE INDEX jobs_live ON rota_jobs (schedule, coalesce(scope_kind, ''), coalesce(scope_id, ''), id)
  WHERE schedule IS NOT NULL AND sequel IS NULL;
CREATE INDEX jobs_counts ON rota_jobs (schedule, coalesce(scope_kind, ''), coalesce(scope_id, ''), counts_at, id)
  WHERE schedule IS NOT NULL AND retry_of IS NULL;

-- The members of a group, each place taken once, and those of them that live.
CREATE UNIQUE INDEX jobs_group ON rota_jobs (group_id, group_position, attempt)
  WHERE group_id IS NOT NULL;
CREATE INDEX jobs_members ON rota_jobs (group_id, group_position, id)
  WHERE group_id IS NOT NULL AND sequel IS NULL;

-- What waits for dependencies, by how long it does.
CREATE INDEX jobs_wait ON rota_jobs (wait_until, id)
  WHERE status = 'QUEUED' AND hold & 4 <> 0;

-- The lane of a concurrency key: who runs, who is ready, who is held back.
CREATE INDEX jobs_lane ON rota_jobs (concurrency_key, status, hold, type, priority DESC, position, created_at, id)
  WHERE concurrency_key IS NOT NULL AND sequel IS NULL;

-- Dead letters, and what tries them anew.
CREATE INDEX jobs_dead ON rota_jobs (id)
  WHERE sequel = 'dead';
CREATE INDEX jobs_redriven ON rota_jobs (redrive_of, id)
  WHERE redrive_of IS NOT NULL;

-- Which execution holds a unique key.
CREATE TABLE rota_keys (
  type         text COLLATE "C" NOT NULL,
  key          text COLLATE "C" NOT NULL,
  execution_id uuid NOT NULL,
  free_at      bigint,             -- NULL: held until the execution is pruned
  ended        boolean NOT NULL DEFAULT false,
  PRIMARY KEY (type, key)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE TABLE rota_audit (
  id      uuid NOT NULL PRIMARY KEY, -- from the command and the job: a command is written down once
  seq     bigint UNIQUE,             -- in the order of committing; NULL until then
  at      bigint NOT NULL,
  actor   text COLLATE "C",
  act     text COLLATE "C" NOT NULL,
  job_id  uuid,
  subject text COLLATE "C",          -- what else it is about, such as 'schedule nightly'
  detail  text
);

-- A spec is JSON as rota.EncodeSpec writes it. What is asked for by itself
-- stands in a column beside it.

CREATE TABLE rota_types (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  paused     boolean NOT NULL DEFAULT false,
  version    uuid NOT NULL,        -- the last command that changed it
  created_by text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  spec       text NOT NULL
);

CREATE TABLE rota_templates (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  type       text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL DEFAULT 'ACTIVE',
  webhooks   integer NOT NULL DEFAULT 0, -- how many are told of its jobs
  version    uuid NOT NULL,
  created_by text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  spec       text NOT NULL,

  CONSTRAINT templates_state CHECK (state IN ('ACTIVE', 'ARCHIVED'))
);

-- Only templates that have some are looked at.
CREATE INDEX templates_webhooks ON rota_templates (name)
  WHERE webhooks > 0;

CREATE TABLE rota_schedules (
  name       text COLLATE "C" NOT NULL PRIMARY KEY,
  template   text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL DEFAULT 'ENABLED',
  reason     text COLLATE "C",     -- why Rota disabled it
  anchor     bigint NOT NULL,      -- what EVERY counts from
  next_fire  bigint,               -- the oldest time not fired; NULL: none is owed
  last_fire  bigint,               -- the newest time fired
  moved_at   bigint,               -- when next_fire was set; in the future by a clock that was set back since
  version    uuid NOT NULL,
  created_by text COLLATE "C",
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  spec       text NOT NULL,

  CONSTRAINT schedules_state CHECK (CASE state
    WHEN 'ENABLED' THEN reason IS NULL
    WHEN 'PAUSED' THEN reason IS NULL
    WHEN 'DISABLED' THEN next_fire IS NULL
    ELSE false END)
) WITH (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.02, toast_tuple_target = 512);

CREATE INDEX schedules_due ON rota_schedules (next_fire, name)
  WHERE state = 'ENABLED' AND next_fire IS NOT NULL;
CREATE INDEX schedules_enabled ON rota_schedules (name)
  WHERE state = 'ENABLED';
CREATE INDEX schedules_template ON rota_schedules (template, name);

-- What depends on what, as it stands in the specs.
CREATE TABLE rota_edges (
  schedule   text COLLATE "C" NOT NULL REFERENCES rota_schedules ON DELETE CASCADE,
  depends_on text COLLATE "C" NOT NULL,
  PRIMARY KEY (schedule, depends_on),
  CONSTRAINT edges_self CHECK (schedule <> depends_on)
);

CREATE INDEX edges_back ON rota_edges (depends_on, schedule);

-- The limits in force: one row, or none.
CREATE TABLE rota_throttle (
  id         integer NOT NULL PRIMARY KEY,
  version    uuid NOT NULL,
  updated_by text COLLATE "C",
  updated_at bigint NOT NULL,
  spec       text NOT NULL,

  CONSTRAINT throttle_one CHECK (id = 1)
);

-- The recent starts of types that have a rate, written at each of them.
CREATE TABLE rota_buckets (
  type   text COLLATE "C" NOT NULL PRIMARY KEY,
  slot   bigint NOT NULL,
  starts text NOT NULL             -- a JSON list, the newest slot first
) WITH (fillfactor = 50);

CREATE TABLE rota_groups (
  id            uuid NOT NULL PRIMARY KEY,
  name          text COLLATE "C",
  mode          text COLLATE "C" NOT NULL,
  on_failure    text COLLATE "C" NOT NULL,
  size          bigint NOT NULL,
  ending        text COLLATE "C",  -- what was decided about those that have not started
  ending_reason text,
  ending_by     text COLLATE "C",
  created_by    text COLLATE "C",
  created_at    bigint NOT NULL,
  pruned        text,              -- a JSON object that counts the members that are gone; NULL: none is

  CONSTRAINT groups_mode CHECK (mode IN ('parallel', 'sequential')),
  CONSTRAINT groups_on_failure CHECK (on_failure IN ('continue', 'stop', 'skip')),
  CONSTRAINT groups_size CHECK (size >= 1),
  CONSTRAINT groups_end CHECK (CASE WHEN ending IS NULL
    THEN ending_reason IS NULL AND ending_by IS NULL
    ELSE ending IN ('cancel', 'stop', 'skip') END)
);

CREATE TABLE rota_reservations (
  id          uuid NOT NULL PRIMARY KEY,
  node        text COLLATE "C" NOT NULL,
  life        uuid,
  status      text COLLATE "C" NOT NULL,
  reserved_by text COLLATE "C",
  reserved_at bigint NOT NULL,
  expires_at  bigint NOT NULL,
  ended_at    bigint,
  job_id      uuid,                -- the direct run, once it has started

  CONSTRAINT reservations_state CHECK (CASE status
    WHEN 'ACTIVE' THEN ended_at IS NULL
    WHEN 'RELEASED' THEN ended_at IS NOT NULL
    WHEN 'EXPIRED' THEN ended_at IS NOT NULL
    ELSE false END)
);

-- At most one is ACTIVE.
CREATE UNIQUE INDEX reservations_active ON rota_reservations (status)
  WHERE status = 'ACTIVE';

-- What was decided for more rows than a command may touch.
CREATE TABLE rota_intents (
  kind text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  PRIMARY KEY (kind, name),
  CONSTRAINT intents_kind CHECK (kind IN ('group', 'key', 'template'))
);

-- Which command a key of a request is tied to.
CREATE TABLE rota_requests (
  actor      text COLLATE "C" NOT NULL, -- empty: the process itself
  key        text COLLATE "C" NOT NULL,
  at         bigint NOT NULL,      -- when it was tied; it is free again a while later
  command_id uuid NOT NULL,
  hash       text COLLATE "C" NOT NULL, -- of the request
  PRIMARY KEY (actor, key),
  CONSTRAINT requests_key CHECK (key <> ''),
  CONSTRAINT requests_hash CHECK (length(hash) = 64)
);

-- Those that are free again.
CREATE INDEX requests_at ON rota_requests (at, actor, key);

-- The webhooks that are told of everything: one row, or none.
CREATE TABLE rota_webhooks (
  id         integer NOT NULL PRIMARY KEY,
  version    uuid NOT NULL,
  updated_by text COLLATE "C",
  updated_at bigint NOT NULL,
  spec       text NOT NULL,

  CONSTRAINT webhooks_one CHECK (id = 1)
);

-- Jobs.

CREATE TRIGGER jobs_enter AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN (NEW.status <> 'QUEUED')
EXECUTE FUNCTION rota_refuse('rota: a job enters as QUEUED');

-- What never changes is looked at once, and not at every change.

CREATE TRIGGER jobs_attempt AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN (NEW.attempt > NEW.max_attempts OR (NEW.retry_of IS NULL AND (NEW.attempt <> 1 OR NEW.execution_id IS NOT NULL)))
EXECUTE FUNCTION rota_refuse('rota: the first attempt begins an execution, and there are no more than its policy allows');

CREATE TRIGGER jobs_scope AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN ((NEW.scope_kind IS NULL) <> (NEW.scope_id IS NULL)
  OR (NEW.scope_kind IS NOT NULL
    AND (NEW.scope_kind = '' OR NEW.scope_id = '' OR (NEW.scope_kind = 'global' AND NEW.scope_id = 'global'))))
EXECUTE FUNCTION rota_refuse('rota: a scope has a kind and an id; the global one is written in one way');

CREATE TRIGGER jobs_member AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN ((NEW.group_id IS NULL) <> (NEW.group_position IS NULL) OR (NEW.group_position IS NOT NULL AND NEW.group_position < 1))
EXECUTE FUNCTION rota_refuse('rota: a member has a group and a place in it');

CREATE TRIGGER jobs_schedule AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN ((NEW.schedule IS NULL) <> (NEW.counts_at IS NULL) OR (NEW.wait_from IS NULL) <> (NEW.wait_until IS NULL)
  OR (NEW.wait_until IS NOT NULL AND NEW.schedule IS NULL))
EXECUTE FUNCTION rota_refuse('rota: a job of a schedule counts at a time, and waits from one time to another');

CREATE TRIGGER jobs_redrive AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN (NEW.redrive_of IS NOT NULL AND NEW.retry_of IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: what tries a dead letter anew is no retry');

CREATE FUNCTION rota_jobs_enter() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.retry_of IS NOT NULL THEN
    IF NOT EXISTS (SELECT FROM rota_jobs j WHERE j.id = NEW.retry_of
        AND j.attempt = NEW.attempt - 1 AND coalesce(j.execution_id, j.id) = NEW.execution_id) THEN
      RAISE EXCEPTION 'rota: a retry continues the chain of the job it retries' USING ERRCODE = 'check_violation';
    END IF;
    IF NOT EXISTS (SELECT FROM rota_jobs j WHERE j.id = NEW.retry_of AND j.outcome IN ('FAILED', 'CANCELLED')) THEN
      RAISE EXCEPTION 'rota: only a run that failed is retried' USING ERRCODE = 'check_violation';
    END IF;
  END IF;
  IF NEW.group_id IS NOT NULL
      AND NOT EXISTS (SELECT FROM rota_groups g WHERE g.id = NEW.group_id AND g.size >= NEW.group_position) THEN
    RAISE EXCEPTION 'rota: a member has a place in a group that exists' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER jobs_enter_company AFTER INSERT ON rota_jobs FOR EACH ROW
WHEN (NEW.retry_of IS NOT NULL OR NEW.group_id IS NOT NULL)
EXECUTE FUNCTION rota_jobs_enter();

CREATE TRIGGER jobs_identity AFTER UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  run_at, plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of, trace
ON rota_jobs FOR EACH ROW
WHEN ((NEW.id, NEW.execution_id, NEW.retry_of, NEW.type, NEW.attempt, NEW.max_attempts, NEW.backoff, NEW.backoff_max,
    NEW.jitter, NEW.timeout, NEW.created_at, NEW.run_at, NEW.plan_time, NEW.scope_kind, NEW.scope_id, NEW.name,
    NEW.unique_key, NEW.unique_for, NEW.created_by, NEW.template, NEW.schedule, NEW.group_id, NEW.group_position,
    NEW.concurrency_key, NEW.counts_at, NEW.wait_from, NEW.wait_until, NEW.redrive_of, NEW.trace)
  IS DISTINCT FROM (OLD.id, OLD.execution_id, OLD.retry_of, OLD.type, OLD.attempt, OLD.max_attempts, OLD.backoff, OLD.backoff_max,
    OLD.jitter, OLD.timeout, OLD.created_at, OLD.run_at, OLD.plan_time, OLD.scope_kind, OLD.scope_id, OLD.name,
    OLD.unique_key, OLD.unique_for, OLD.created_by, OLD.template, OLD.schedule, OLD.group_id, OLD.group_position,
    OLD.concurrency_key, OLD.counts_at, OLD.wait_from, OLD.wait_until, OLD.redrive_of, OLD.trace))
EXECUTE FUNCTION rota_refuse('rota: what a job is never changes');

CREATE TRIGGER jobs_status AFTER UPDATE OF status ON rota_jobs FOR EACH ROW
WHEN (OLD.status <> 'QUEUED' AND NEW.status <> OLD.status)
EXECUTE FUNCTION rota_refuse('rota: a job that has left QUEUED keeps its status');

CREATE TRIGGER jobs_frozen AFTER UPDATE OF params, priority, position, hold, version ON rota_jobs FOR EACH ROW
WHEN (OLD.status <> 'QUEUED' AND (NEW.priority, NEW.position, NEW.hold, NEW.version, NEW.params)
  IS DISTINCT FROM (OLD.priority, OLD.position, OLD.hold, OLD.version, OLD.params))
EXECUTE FUNCTION rota_refuse('rota: params, priority and position are frozen once a job has left QUEUED');

CREATE TRIGGER jobs_once AFTER UPDATE OF queued_at, started_at, finished_at, sequel, run_id ON rota_jobs FOR EACH ROW
WHEN ((OLD.queued_at IS NOT NULL AND NEW.queued_at IS DISTINCT FROM OLD.queued_at)
  OR (OLD.started_at IS NOT NULL AND NEW.started_at IS DISTINCT FROM OLD.started_at)
  OR (OLD.finished_at IS NOT NULL AND NEW.finished_at IS DISTINCT FROM OLD.finished_at)
  OR (OLD.sequel IS NOT NULL AND NEW.sequel IS DISTINCT FROM OLD.sequel)
  OR (OLD.run_id IS NOT NULL AND NEW.run_id IS DISTINCT FROM OLD.run_id))
EXECUTE FUNCTION rota_refuse('rota: the times, the run and the sequel of a job are written once');

CREATE TRIGGER jobs_whose AFTER UPDATE OF token, runner, life, claim_id ON rota_jobs FOR EACH ROW
WHEN (OLD.runner IS NOT NULL
  AND (NEW.token, NEW.runner, NEW.life, NEW.claim_id) IS DISTINCT FROM (OLD.token, OLD.runner, OLD.life, OLD.claim_id))
EXECUTE FUNCTION rota_refuse('rota: whose a run is never changes');

CREATE TRIGGER jobs_closed AFTER UPDATE OF
  outcome, heartbeat_at, stale_after, error_code, rows_affected, cancel_at, cancel_by, cancel_reason, progress,
  log_path, result
ON rota_jobs FOR EACH ROW
WHEN (OLD.outcome IS NOT NULL
  AND (NEW.outcome, NEW.heartbeat_at, NEW.stale_after, NEW.error_code, NEW.rows_affected, NEW.cancel_at, NEW.cancel_by,
    NEW.cancel_reason, NEW.progress, NEW.log_path, NEW.result)
  IS DISTINCT FROM (OLD.outcome, OLD.heartbeat_at, OLD.stale_after, OLD.error_code, OLD.rows_affected, OLD.cancel_at, OLD.cancel_by,
    OLD.cancel_reason, OLD.progress, OLD.log_path, OLD.result))
EXECUTE FUNCTION rota_refuse('rota: the outcome of a run is written once');

CREATE TRIGGER jobs_noted AFTER UPDATE OF
  ended_at, exit_code, error, cancel_at, cancel_by, cancel_reason, log_path
ON rota_jobs FOR EACH ROW
WHEN ((OLD.ended_at IS NOT NULL AND NEW.ended_at IS DISTINCT FROM OLD.ended_at)
  OR (OLD.exit_code IS NOT NULL AND NEW.exit_code IS DISTINCT FROM OLD.exit_code)
  OR (OLD.error IS NOT NULL AND NEW.error IS DISTINCT FROM OLD.error)
  OR (OLD.cancel_at IS NOT NULL AND (NEW.cancel_at, NEW.cancel_by, NEW.cancel_reason)
    IS DISTINCT FROM (OLD.cancel_at, OLD.cancel_by, OLD.cancel_reason))
  OR (OLD.log_path IS NOT NULL AND NEW.log_path IS DISTINCT FROM OLD.log_path))
EXECUTE FUNCTION rota_refuse('rota: finish time, exit code, error, cancellation and log of a run are written once');

CREATE TRIGGER jobs_artifacts AFTER UPDATE OF artifacts ON rota_jobs FOR EACH ROW
WHEN (OLD.artifacts IS NOT NULL AND (NEW.artifacts IS NULL OR NOT starts_with(NEW.artifacts, OLD.artifacts)))
EXECUTE FUNCTION rota_refuse('rota: artifacts are only appended to');

-- Jobs leave from the end of their chain, when they have ended. What has a retry
-- is looked for when all rows of a statement are gone, so that one may remove a
-- whole chain.
CREATE TRIGGER jobs_leave AFTER DELETE ON rota_jobs FOR EACH ROW
WHEN (OLD.sequel IS NULL)
EXECUTE FUNCTION rota_refuse('rota: only an execution that has ended can be removed, last attempt first');

CREATE FUNCTION rota_jobs_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM rota_jobs j WHERE j.retry_of = OLD.id) THEN
    RAISE EXCEPTION 'rota: only an execution that has ended can be removed, last attempt first' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER jobs_leave_chain AFTER DELETE ON rota_jobs FOR EACH ROW
WHEN (OLD.outcome IN ('FAILED', 'CANCELLED')) -- no other is retried
EXECUTE FUNCTION rota_jobs_leave();

CREATE TRIGGER jobs_stay BEFORE TRUNCATE ON rota_jobs
EXECUTE FUNCTION rota_refuse('rota: only an execution that has ended can be removed, last attempt first');

-- The audit. Whoever reads it goes on behind the last number that he has seen, so
-- no line may appear before one that has appeared: numbers are given at the
-- commit, by one transaction at a time. Nothing else is waited for under that
-- lock, which is why it cannot be taken any earlier: a transaction that held it
-- and wanted another's lock, while that one has a line to write, would end one of
-- the two.

CREATE FUNCTION rota_audit_number() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_advisory_xact_lock(TG_RELID::integer, 99 << 16);
  UPDATE rota_audit SET seq = (SELECT coalesce(max(a.seq), 0) + 1 FROM rota_audit a)
  WHERE id = NEW.id AND seq IS NULL;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER audit_number AFTER INSERT ON rota_audit
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
EXECUTE FUNCTION rota_audit_number();

CREATE TRIGGER audit_enter BEFORE INSERT ON rota_audit FOR EACH ROW
WHEN (NEW.seq IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');

CREATE TRIGGER audit_keep AFTER UPDATE ON rota_audit FOR EACH ROW
WHEN (pg_trigger_depth() = 0 OR OLD.seq IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');

CREATE TRIGGER audit_stay BEFORE DELETE ON rota_audit FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');

CREATE TRIGGER audit_stay_all BEFORE TRUNCATE ON rota_audit
EXECUTE FUNCTION rota_refuse('rota: the audit is only appended to');

-- What has a name.

CREATE TRIGGER types_identity AFTER UPDATE OF name, created_by, created_at ON rota_types FOR EACH ROW
WHEN ((NEW.name, NEW.created_by, NEW.created_at) IS DISTINCT FROM (OLD.name, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: the name and the origin of a type never change');

CREATE TRIGGER templates_identity AFTER UPDATE OF name, created_by, created_at ON rota_templates FOR EACH ROW
WHEN ((NEW.name, NEW.created_by, NEW.created_at) IS DISTINCT FROM (OLD.name, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: the name and the origin of a template never change');

CREATE TRIGGER schedules_identity AFTER UPDATE OF name, created_by, created_at ON rota_schedules FOR EACH ROW
WHEN ((NEW.name, NEW.created_by, NEW.created_at) IS DISTINCT FROM (OLD.name, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: the name and the origin of a schedule never change');

CREATE TRIGGER edges_keep BEFORE UPDATE ON rota_edges FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: a dependency is made or removed, not changed');

CREATE TRIGGER groups_enter BEFORE INSERT ON rota_groups FOR EACH ROW
WHEN (NEW.ending IS NOT NULL OR NEW.pruned IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: a group enters without an end');

CREATE TRIGGER groups_identity AFTER UPDATE OF id, name, mode, on_failure, size, created_by, created_at ON rota_groups FOR EACH ROW
WHEN ((NEW.id, NEW.name, NEW.mode, NEW.on_failure, NEW.size, NEW.created_by, NEW.created_at)
  IS DISTINCT FROM (OLD.id, OLD.name, OLD.mode, OLD.on_failure, OLD.size, OLD.created_by, OLD.created_at))
EXECUTE FUNCTION rota_refuse('rota: what a group is never changes');

-- A group that was stopped can still be cancelled; nothing else is decided twice.
CREATE TRIGGER groups_ending AFTER UPDATE OF ending, ending_reason, ending_by ON rota_groups FOR EACH ROW
WHEN (OLD.ending IS NOT NULL
  AND (NEW.ending IS DISTINCT FROM 'cancel' OR OLD.ending = 'cancel')
  AND (NEW.ending, NEW.ending_reason, NEW.ending_by) IS DISTINCT FROM (OLD.ending, OLD.ending_reason, OLD.ending_by))
EXECUTE FUNCTION rota_refuse('rota: a group that was ended stays so');

CREATE FUNCTION rota_groups_leave() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM rota_jobs j WHERE j.group_id = OLD.id) THEN
    RAISE EXCEPTION 'rota: a group leaves after its members' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER groups_leave AFTER DELETE ON rota_groups FOR EACH ROW
EXECUTE FUNCTION rota_groups_leave();

CREATE TRIGGER reservations_enter BEFORE INSERT ON rota_reservations FOR EACH ROW
WHEN (NEW.status <> 'ACTIVE' OR NEW.job_id IS NOT NULL)
EXECUTE FUNCTION rota_refuse('rota: a reservation enters as ACTIVE');

CREATE TRIGGER reservations_identity AFTER UPDATE OF id, node, life, reserved_by, reserved_at ON rota_reservations FOR EACH ROW
WHEN ((NEW.id, NEW.node, NEW.life, NEW.reserved_by, NEW.reserved_at)
  IS DISTINCT FROM (OLD.id, OLD.node, OLD.life, OLD.reserved_by, OLD.reserved_at))
EXECUTE FUNCTION rota_refuse('rota: whose a reservation is never changes');

CREATE TRIGGER reservations_once AFTER UPDATE OF status, expires_at, ended_at, job_id ON rota_reservations FOR EACH ROW
WHEN ((OLD.status <> 'ACTIVE' AND (NEW.status, NEW.expires_at, NEW.ended_at, NEW.job_id)
    IS DISTINCT FROM (OLD.status, OLD.expires_at, OLD.ended_at, OLD.job_id))
  OR (OLD.job_id IS NOT NULL AND NEW.job_id IS DISTINCT FROM OLD.job_id))
EXECUTE FUNCTION rota_refuse('rota: a reservation ends once, and is for one run');

CREATE TRIGGER reservations_leave BEFORE DELETE ON rota_reservations FOR EACH ROW
WHEN (OLD.status = 'ACTIVE')
EXECUTE FUNCTION rota_refuse('rota: only a reservation that has ended can be removed');

CREATE TRIGGER requests_keep BEFORE UPDATE ON rota_requests FOR EACH ROW
EXECUTE FUNCTION rota_refuse('rota: a key is tied once, and not changed');
