-- Company: what jobs have to do with others. Types, templates, schedules,
-- groups, limits, reservations, and what of them stands in a job.
--
-- A job without company pays one byte for each column, and stands in none of
-- the indexes.

-- What a job was made from and what it belongs to never changes.
ALTER TABLE rota_jobs ADD COLUMN template TEXT;
ALTER TABLE rota_jobs ADD COLUMN schedule TEXT;
ALTER TABLE rota_jobs ADD COLUMN group_id BLOB;
ALTER TABLE rota_jobs ADD COLUMN group_position INTEGER
  CHECK ((group_id IS NULL) = (group_position IS NULL))
  CHECK (group_position >= 1);
ALTER TABLE rota_jobs ADD COLUMN concurrency_key TEXT;
ALTER TABLE rota_jobs ADD COLUMN counts_at INTEGER
  CHECK ((schedule IS NULL) = (counts_at IS NULL));
ALTER TABLE rota_jobs ADD COLUMN wait_from INTEGER;
ALTER TABLE rota_jobs ADD COLUMN wait_until INTEGER
  CHECK ((wait_from IS NULL) = (wait_until IS NULL))
  CHECK (wait_until IS NULL OR schedule IS NOT NULL);
ALTER TABLE rota_jobs ADD COLUMN redrive_of BLOB
  CHECK (redrive_of IS NULL OR retry_of IS NULL)
  CHECK (hold < 2 OR ((hold & 2 = 0 OR group_id IS NOT NULL) AND (hold & 4 = 0 OR wait_until IS NOT NULL)
    AND (hold & 8 = 0 OR schedule IS NOT NULL) AND (hold & 16 = 0 OR concurrency_key IS NOT NULL)));

-- All jobs of a schedule, to be listed.
CREATE INDEX rota_jobs_schedule ON rota_jobs (schedule, id)
  WHERE schedule IS NOT NULL;

-- Those that live: QUEUED, or RUNNING and not settled.
CREATE INDEX rota_jobs_live ON rota_jobs (schedule, scope_kind, scope_id, id)
  WHERE schedule IS NOT NULL AND sequel IS NULL;

-- Executions of a schedule by when they count for those that depend on it.
CREATE INDEX rota_jobs_counts ON rota_jobs (schedule, scope_kind, scope_id, counts_at, id)
  WHERE schedule IS NOT NULL AND retry_of IS NULL;

-- The members of a group, and those of them that live.
CREATE INDEX rota_jobs_group ON rota_jobs (group_id, group_position, attempt)
  WHERE group_id IS NOT NULL;
CREATE INDEX rota_jobs_member ON rota_jobs (group_id, group_position, id)
  WHERE group_id IS NOT NULL AND sequel IS NULL;

-- What waits for dependencies, by how long it does.
CREATE INDEX rota_jobs_wait ON rota_jobs (wait_until, id)
  WHERE status = 'QUEUED' AND hold & 4;

-- The lane of a concurrency key: who runs, who is ready, who is held back. The
-- sequel stands in it so that counting reads the index alone.
CREATE INDEX rota_jobs_lane ON rota_jobs (
    concurrency_key, status, hold, type, priority DESC, position, created_at, id, sequel)
  WHERE concurrency_key IS NOT NULL AND sequel IS NULL;

-- What runs is counted by each claim of a type that is limited.
DROP INDEX rota_jobs_open;
CREATE INDEX rota_jobs_open ON rota_jobs (type, id, sequel)
  WHERE status = 'RUNNING' AND sequel IS NULL;

-- Dead letters, and what tries them anew.
CREATE INDEX rota_jobs_dead ON rota_jobs (id)
  WHERE sequel = 'dead';
CREATE INDEX rota_jobs_redrive ON rota_jobs (redrive_of, id)
  WHERE redrive_of IS NOT NULL;

ALTER TABLE rota_audit ADD COLUMN subject TEXT; -- what else it is about, such as 'schedule nightly'

-- A spec is JSON as rota.EncodeSpec writes it. What is asked for by itself
-- stands in a column beside it.

CREATE TABLE rota_types (
  name       TEXT NOT NULL PRIMARY KEY,
  paused     INTEGER NOT NULL DEFAULT 0,
  version    BLOB NOT NULL,        -- the last command that changed it
  created_by TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,

  CHECK (paused = 0 OR paused = 1)
) STRICT, WITHOUT ROWID;

CREATE TABLE rota_templates (
  name       TEXT NOT NULL PRIMARY KEY,
  type       TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT 'ACTIVE',
  version    BLOB NOT NULL,
  created_by TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,

  CHECK (state = 'ACTIVE' OR state = 'ARCHIVED')
) STRICT, WITHOUT ROWID;

-- Its times stand before the spec: a fire rewrites them and no more.
CREATE TABLE rota_schedules (
  name       TEXT NOT NULL PRIMARY KEY,
  template   TEXT NOT NULL,
  state      TEXT NOT NULL DEFAULT 'ENABLED',
  reason     TEXT,                 -- why Rota disabled it
  anchor     INTEGER NOT NULL,     -- what EVERY counts from
  next_fire  INTEGER,              -- the oldest time not fired; NULL: none is owed
  last_fire  INTEGER,              -- the newest time fired
  moved_at   INTEGER,              -- when next_fire was set; in the future by a clock that was set back since
  version    BLOB NOT NULL,
  created_by TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,

  CHECK (CASE state
    WHEN 'ENABLED' THEN reason IS NULL
    WHEN 'PAUSED' THEN reason IS NULL
    WHEN 'DISABLED' THEN next_fire IS NULL
    ELSE 0 END)
) STRICT, WITHOUT ROWID;

CREATE INDEX rota_schedules_due ON rota_schedules (next_fire, name)
  WHERE state = 'ENABLED' AND next_fire IS NOT NULL;
CREATE INDEX rota_schedules_template ON rota_schedules (template, name);

-- What depends on what, as it stands in the specs.
CREATE TABLE rota_edges (
  schedule   TEXT NOT NULL,
  depends_on TEXT NOT NULL,
  PRIMARY KEY (schedule, depends_on),
  CHECK (schedule <> depends_on)
) STRICT, WITHOUT ROWID;

CREATE INDEX rota_edges_back ON rota_edges (depends_on, schedule);

-- The limits in force: one row, or none.
CREATE TABLE rota_throttle (
  id         INTEGER NOT NULL PRIMARY KEY,
  version    BLOB NOT NULL,
  updated_by TEXT,
  updated_at INTEGER NOT NULL,
  spec       TEXT NOT NULL,

  CHECK (id = 1)
) STRICT;

-- The recent starts of types that have a rate.
CREATE TABLE rota_buckets (
  type   TEXT NOT NULL PRIMARY KEY,
  slot   INTEGER NOT NULL,
  starts TEXT NOT NULL             -- a JSON list, the newest slot first
) STRICT, WITHOUT ROWID;

CREATE TABLE rota_groups (
  id            BLOB NOT NULL PRIMARY KEY,
  name          TEXT,
  mode          TEXT NOT NULL,
  on_failure    TEXT NOT NULL,
  size          INTEGER NOT NULL,
  ending        TEXT,              -- what was decided about those that have not started
  ending_reason TEXT,
  ending_by     TEXT,
  created_by    TEXT,
  created_at    INTEGER NOT NULL,
  pruned        TEXT,              -- a JSON object that counts the members that are gone; NULL: none is

  CHECK (mode = 'parallel' OR mode = 'sequential'),
  CHECK (on_failure = 'continue' OR on_failure = 'stop' OR on_failure = 'skip'),
  CHECK (size >= 1),
  CHECK (ending = 'cancel' OR ending = 'stop' OR ending = 'skip'),
  CHECK (ending IS NOT NULL OR (ending_reason IS NULL AND ending_by IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE rota_reservations (
  id          BLOB NOT NULL PRIMARY KEY,
  node        TEXT NOT NULL,
  life        BLOB,
  status      TEXT NOT NULL,
  reserved_by TEXT,
  reserved_at INTEGER NOT NULL,
  expires_at  INTEGER NOT NULL,
  ended_at    INTEGER,
  job_id      BLOB,                -- the direct run, once it has started

  CHECK (CASE status
    WHEN 'ACTIVE' THEN ended_at IS NULL
    WHEN 'RELEASED' THEN ended_at IS NOT NULL
    WHEN 'EXPIRED' THEN ended_at IS NOT NULL
    ELSE 0 END)
) STRICT, WITHOUT ROWID;

-- At most one is ACTIVE.
CREATE UNIQUE INDEX rota_reservations_active ON rota_reservations (status)
  WHERE status = 'ACTIVE';

-- What was decided for more rows than a command may touch.
CREATE TABLE rota_intents (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (kind, name),
  CHECK (kind = 'group' OR kind = 'key' OR kind = 'template')
) STRICT, WITHOUT ROWID;

DROP TRIGGER rota_jobs_identity;

CREATE TRIGGER rota_jobs_identity BEFORE UPDATE OF
  id, execution_id, retry_of, type, attempt, max_attempts, backoff, backoff_max, jitter, timeout, created_at,
  run_at, plan_time, scope_kind, scope_id, name, unique_key, unique_for, created_by,
  template, schedule, group_id, group_position, concurrency_key, counts_at, wait_from, wait_until, redrive_of
ON rota_jobs
WHEN NEW.id IS NOT OLD.id OR NEW.execution_id IS NOT OLD.execution_id OR NEW.retry_of IS NOT OLD.retry_of
  OR NEW.type IS NOT OLD.type OR NEW.attempt IS NOT OLD.attempt OR NEW.max_attempts IS NOT OLD.max_attempts
  OR NEW.backoff IS NOT OLD.backoff OR NEW.backoff_max IS NOT OLD.backoff_max OR NEW.jitter IS NOT OLD.jitter
  OR NEW.timeout IS NOT OLD.timeout OR NEW.created_at IS NOT OLD.created_at OR NEW.run_at IS NOT OLD.run_at
  OR NEW.plan_time IS NOT OLD.plan_time OR NEW.scope_kind IS NOT OLD.scope_kind OR NEW.scope_id IS NOT OLD.scope_id
  OR NEW.name IS NOT OLD.name OR NEW.unique_key IS NOT OLD.unique_key OR NEW.unique_for IS NOT OLD.unique_for
  OR NEW.created_by IS NOT OLD.created_by OR NEW.template IS NOT OLD.template OR NEW.schedule IS NOT OLD.schedule
  OR NEW.group_id IS NOT OLD.group_id OR NEW.group_position IS NOT OLD.group_position
  OR NEW.concurrency_key IS NOT OLD.concurrency_key OR NEW.counts_at IS NOT OLD.counts_at
  OR NEW.wait_from IS NOT OLD.wait_from OR NEW.wait_until IS NOT OLD.wait_until OR NEW.redrive_of IS NOT OLD.redrive_of
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a job is never changes');
END;

CREATE TRIGGER rota_jobs_enter_group BEFORE INSERT ON rota_jobs WHEN NEW.group_id IS NOT NULL BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a member has a place in a group that exists')
    WHERE NOT EXISTS (SELECT 1 FROM rota_groups WHERE id = NEW.group_id AND size >= NEW.group_position);
  SELECT RAISE(ROLLBACK, 'rota: this place in the group is taken')
    WHERE EXISTS (SELECT 1 FROM rota_jobs
      WHERE group_id = NEW.group_id AND group_position = NEW.group_position AND attempt = NEW.attempt);
END;

CREATE TRIGGER rota_types_enter BEFORE INSERT ON rota_types
WHEN EXISTS (SELECT 1 FROM rota_types WHERE name = NEW.name)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this type exists');
END;

CREATE TRIGGER rota_types_identity BEFORE UPDATE OF name, created_by, created_at ON rota_types
WHEN NEW.name IS NOT OLD.name OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name and the origin of a type never change');
END;

CREATE TRIGGER rota_templates_enter BEFORE INSERT ON rota_templates
WHEN EXISTS (SELECT 1 FROM rota_templates WHERE name = NEW.name)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this template exists');
END;

CREATE TRIGGER rota_templates_identity BEFORE UPDATE OF name, created_by, created_at ON rota_templates
WHEN NEW.name IS NOT OLD.name OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name and the origin of a template never change');
END;

CREATE TRIGGER rota_schedules_enter BEFORE INSERT ON rota_schedules
WHEN EXISTS (SELECT 1 FROM rota_schedules WHERE name = NEW.name)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this schedule exists');
END;

CREATE TRIGGER rota_schedules_identity BEFORE UPDATE OF name, created_by, created_at ON rota_schedules
WHEN NEW.name IS NOT OLD.name OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: the name and the origin of a schedule never change');
END;

CREATE TRIGGER rota_schedules_left AFTER DELETE ON rota_schedules BEGIN
  DELETE FROM rota_edges WHERE schedule = OLD.name;
END;

CREATE TRIGGER rota_edges_enter BEFORE INSERT ON rota_edges
WHEN NOT EXISTS (SELECT 1 FROM rota_schedules WHERE name = NEW.schedule)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what depends on something is a schedule');
END;

CREATE TRIGGER rota_edges_keep BEFORE UPDATE ON rota_edges BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a dependency is made or removed, not changed');
END;

CREATE TRIGGER rota_groups_enter BEFORE INSERT ON rota_groups BEGIN
  SELECT RAISE(ROLLBACK, 'rota: this group exists')
    WHERE EXISTS (SELECT 1 FROM rota_groups WHERE id = NEW.id);
  SELECT RAISE(ROLLBACK, 'rota: a group enters without an end')
    WHERE NEW.ending IS NOT NULL OR NEW.pruned IS NOT NULL;
END;

CREATE TRIGGER rota_groups_identity BEFORE UPDATE OF id, name, mode, on_failure, size, created_by, created_at ON rota_groups
WHEN NEW.id IS NOT OLD.id OR NEW.name IS NOT OLD.name OR NEW.mode IS NOT OLD.mode OR NEW.on_failure IS NOT OLD.on_failure
  OR NEW.size IS NOT OLD.size OR NEW.created_by IS NOT OLD.created_by OR NEW.created_at IS NOT OLD.created_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: what a group is never changes');
END;

-- A group that was stopped can still be cancelled; nothing else is decided twice.
CREATE TRIGGER rota_groups_ending BEFORE UPDATE OF ending, ending_reason, ending_by ON rota_groups
WHEN OLD.ending IS NOT NULL
  AND (NEW.ending IS NOT 'cancel' OR OLD.ending = 'cancel')
  AND (NEW.ending IS NOT OLD.ending OR NEW.ending_reason IS NOT OLD.ending_reason OR NEW.ending_by IS NOT OLD.ending_by)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a group that was ended stays so');
END;

CREATE TRIGGER rota_groups_leave BEFORE DELETE ON rota_groups
WHEN EXISTS (SELECT 1 FROM rota_jobs WHERE group_id = OLD.id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a group leaves after its members');
END;

CREATE TRIGGER rota_reservations_enter BEFORE INSERT ON rota_reservations BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a reservation enters as ACTIVE')
    WHERE NEW.status <> 'ACTIVE' OR NEW.job_id IS NOT NULL;
  SELECT RAISE(ROLLBACK, 'rota: this reservation exists')
    WHERE EXISTS (SELECT 1 FROM rota_reservations WHERE id = NEW.id);
  SELECT RAISE(ROLLBACK, 'rota: at most one reservation is ACTIVE')
    WHERE EXISTS (SELECT 1 FROM rota_reservations WHERE status = 'ACTIVE');
END;

CREATE TRIGGER rota_reservations_identity BEFORE UPDATE OF id, node, life, reserved_by, reserved_at ON rota_reservations
WHEN NEW.id IS NOT OLD.id OR NEW.node IS NOT OLD.node OR NEW.life IS NOT OLD.life
  OR NEW.reserved_by IS NOT OLD.reserved_by OR NEW.reserved_at IS NOT OLD.reserved_at
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: whose a reservation is never changes');
END;

CREATE TRIGGER rota_reservations_once BEFORE UPDATE OF status, expires_at, ended_at, job_id ON rota_reservations
WHEN (OLD.status <> 'ACTIVE' AND (NEW.status IS NOT OLD.status OR NEW.expires_at IS NOT OLD.expires_at
    OR NEW.ended_at IS NOT OLD.ended_at OR NEW.job_id IS NOT OLD.job_id))
  OR (OLD.job_id IS NOT NULL AND NEW.job_id IS NOT OLD.job_id)
BEGIN
  SELECT RAISE(ROLLBACK, 'rota: a reservation ends once, and is for one run');
END;

CREATE TRIGGER rota_reservations_leave BEFORE DELETE ON rota_reservations WHEN OLD.status = 'ACTIVE' BEGIN
  SELECT RAISE(ROLLBACK, 'rota: only a reservation that has ended can be removed');
END;
