package postgres

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// Messages or constraint names with which the database refuses statements on jobs.
const (
	saysIdentity    = "what a job is never changes"
	saysStatus      = "keeps its status"
	saysFrozen      = "frozen once a job has left QUEUED"
	saysOnce        = "of a job are written once"
	saysEnter       = "a job enters as QUEUED, or as RUNNING with a run that has just begun"
	saysExists      = "jobs_pkey"
	saysOneRetry    = "jobs_retry"
	saysChain       = "continues the chain"
	saysFailed      = "only a run that failed is retried"
	saysPlanned     = "jobs_plan"
	saysLeave       = "only an execution that has ended"
	saysRunIdentity = "whose a run is never changes"
	saysOutcome     = "the outcome of a run is written once"
	saysRunOnce     = "of a run are written once"
	saysArtifacts   = "artifacts are only appended to"
	saysAudit       = "the audit is only appended to"
	saysAuditAnchor = "the anchor of the audit only moves forward"
	saysAuditChain  = "the chain of the audit only grows"
	saysState       = "jobs_state"
	saysRun         = "jobs_run"
	saysClose       = "jobs_close"
	saysAttempt     = "jobs_attempt"
	saysScope       = "jobs_scope"
	saysHold        = "jobs_hold"
	saysNull        = "not-null constraint"
	saysSyntax      = "invalid input syntax"
)

// jobRows are one job in each state, with values in the protected columns.
var jobRows = []string{
	insertJobSQL(map[string]string{"id": ":queued"}),
	insertJobSQL(map[string]string{"id": ":delayed", "run_at": "9", "hold": "1", "queued_at": "NULL"}),
	insertJobSQL(map[string]string{"id": ":planned", "name": "'nightly'", "plan_time": "5", "scope_kind": "'shard'", "scope_id": "'7'"}),
	runningSQL(":running"), runningSQL(":asked"), runningSQL(":unsettled"), runningSQL(":completed"), runningSQL(":kept"),
	runningSQL(":failed"), runningSQL(":dead"),
	`UPDATE rota_jobs SET cancel_at = 8, cancel_by = 'ada', cancel_reason = 'no', log_path = 'log' WHERE id = :asked`,
	`UPDATE rota_jobs SET outcome = 'FAILED', ended_at = 9 WHERE id = :unsettled`,
	`UPDATE rota_jobs SET outcome = 'COMPLETED', ended_at = 9, finished_at = 9, sequel = 'none' WHERE id IN (:completed, :kept)`,
	`UPDATE rota_jobs SET exit_code = 3, error = 'e', artifacts = E'"a.txt"\n"b.txt"\n' WHERE id = :kept`,
	`UPDATE rota_jobs SET outcome = 'FAILED', ended_at = 9, finished_at = 9, sequel = 'retry' WHERE id = :failed`,
	`UPDATE rota_jobs SET outcome = 'FAILED', ended_at = 9, finished_at = 9, sequel = 'dead' WHERE id = :dead`,
	insertJobSQL(map[string]string{
		"id": ":retry", "retry_of": ":failed", "execution_id": ":failed", "attempt": "2", "scope_kind": "'shard'", "scope_id": "'7'",
		"schedule": "'nightly'", "counts_at": "5", "wait_from": "4", "wait_until": "9",
	}),
	insertJobSQL(map[string]string{"id": ":cancelled"}),
	`UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = :cancelled`,
	`INSERT INTO rota_keys (type, key, execution_id) VALUES ('web', 'k', :queued)`,
	`INSERT INTO rota_audit (id, at, actor, act, job_id) VALUES (:line, 9, 'ada', 'JOB_CANCELLED', :cancelled)`,
}

// insertGuardedRows inserts the rows that the statements refer to, and returns their ids by name.
func insertGuardedRows(t testing.TB, s *Store) map[string]rota.ID {
	t.Helper()
	ids := map[string]rota.ID{}
	p := newRawConn(t, s, ids)
	for _, sql := range slices.Concat(jobRows, relatedRows, accessRows, secretRows) {
		for _, name := range placeholder.FindAllString(sql, -1) {
			if _, known := ids[name[1:]]; !known {
				ids[name[1:]] = rota.NewID()
			}
		}
		p.must(sql)
	}
	return ids
}

// insertJobSQL inserts a valid job with some values replaced.
func insertJobSQL(values map[string]string) string {
	row := map[string]string{
		"id": "gen_random_uuid()", "type": "'web'", "priority": "0", "position": "900", "max_attempts": "4", "backoff": "0",
		"timeout": "0", "created_at": "7", "queued_at": "7", "params": "'{}'",
	}
	maps.Copy(row, values)
	columns := slices.Sorted(maps.Keys(row))
	var list []string
	for _, c := range columns {
		list = append(list, row[c])
	}
	return fmt.Sprintf("INSERT INTO rota_jobs (%s) VALUES (%s)", strings.Join(columns, ", "), strings.Join(list, ", "))
}

func runningSQL(id string) string {
	return insertJobSQL(map[string]string{"id": id}) + `;
UPDATE rota_jobs SET status = 'RUNNING', started_at = 8, run_id = gen_random_uuid(), token = gen_random_uuid(), runner = 'node',
  heartbeat_at = 8, stale_after = 9 WHERE id = ` + id
}

// Other values that no CHECK refuses: for a waiting retry, a running job and an ended one.
var (
	otherRetry = map[string]string{
		"id": "gen_random_uuid()", "execution_id": "gen_random_uuid()", "retry_of": "gen_random_uuid()", "type": "'other'",
		"attempt": "3", "max_attempts": "9", "backoff": "7", "backoff_max": "7", "jitter": "0.5", "timeout": "7",
		"created_at": "8", "plan_time": "7", "scope_kind": "'other'", "scope_id": "'8'", "name": "'other'",
		"unique_key": "'other'", "unique_for": "7", "created_by": "'eve'", "template": "'other'", "schedule": "'other'",
		"concurrency_key": "'other'", "counts_at": "7", "wait_from": "7", "wait_until": "7", "trace": "'other'", "owner": "'eve'",
	}
	frozenJob = map[string]string{
		"params": `'{"n":2}'`, "priority": "priority + 1", "position": "position + 1", "hold": "1", "version": "gen_random_uuid()",
		"run_at": "7",
	}
	onceJob = map[string]string{
		"queued_at": "queued_at + 1", "started_at": "started_at + 1", "finished_at": "finished_at + 1", "sequel": "'dead'",
		"run_id": "gen_random_uuid()",
	}
	otherRun  = map[string]string{"token": "gen_random_uuid()", "runner": "'eve'", "life": "gen_random_uuid()", "claim_id": "gen_random_uuid()"}
	closedRun = map[string]string{
		"outcome": "'FAILED'", "heartbeat_at": "7", "stale_after": "7", "error_code": "'E7'", "rows_affected": "7",
		"cancel_at": "7", "cancel_by": "'eve'", "cancel_reason": "'so'", "progress": "'7'", "log_path": "'other'", "result": "'7'",
	}
)

// forbidden returns every statement that the database refuses by itself.
func forbidden() (all []attempt) {
	each := func(table, where, says string, columns map[string]string) {
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			all = append(all, attempt{table + ": " + c + " " + where, "UPDATE " + table + " SET " + c + " = " + columns[c] + " WHERE " + where, says})
		}
	}
	each("rota_jobs", "id = :retry", saysIdentity, otherRetry)
	each("rota_jobs", "id = :running", saysFrozen, frozenJob)
	each("rota_jobs", "id = :cancelled", saysFrozen, frozenJob)
	each("rota_jobs", "id = :completed", saysOnce, onceJob)
	each("rota_jobs", "id = :running", saysRunIdentity, otherRun)
	each("rota_jobs", "id = :completed", saysRunIdentity, otherRun)
	each("rota_jobs", "id = :completed", saysOutcome, closedRun)
	all = append(all, forbiddenStates...)
	all = append(all, forbiddenRuns...)
	all = append(all, forbiddenInserts()...)
	all = append(all, forbiddenDeletes...)
	return append(all, forbiddenRelated()...)
}

var forbiddenStates = []attempt{
	{"a job made a redrive", `UPDATE rota_jobs SET redrive_of = :dead WHERE id = :queued`, saysIdentity},
	{"an ended job of another type", `UPDATE rota_jobs SET type = 'other' WHERE id = :completed`, saysIdentity},
	{"RUNNING back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :running`, saysRun},
	{"RUNNING back to QUEUED as if it had never run", `UPDATE rota_jobs SET status = 'QUEUED', started_at = NULL, run_id = NULL WHERE id = :running`, saysRun},
	{"RUNNING sideways to CANCELLED", `UPDATE rota_jobs SET status = 'CANCELLED' WHERE id = :running`, saysRun},
	{"ended back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :completed`, saysRun},
	{"CANCELLED back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :cancelled`, saysState},
	{"CANCELLED back to QUEUED as if it had not ended", `UPDATE rota_jobs SET status = 'QUEUED', finished_at = NULL, sequel = NULL WHERE id = :cancelled`, saysOnce},
	{"CANCELLED sideways to RUNNING", `UPDATE rota_jobs SET status = 'RUNNING' WHERE id = :cancelled`, saysClose},
	{"CANCELLED sideways to RUNNING, with a run", `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7, token = id, runner = 'eve', heartbeat_at = 7, stale_after = 7, outcome = 'FAILED' WHERE id = :cancelled`, saysStatus},
	{"an unknown status", `UPDATE rota_jobs SET status = 'SLEEPING' WHERE id = :queued`, saysState},
	{"a status in small letters", `UPDATE rota_jobs SET status = 'queued' WHERE id = :queued`, saysState},
	{"a ready job without a time of queueing", `UPDATE rota_jobs SET queued_at = NULL WHERE id = :queued`, saysOnce},
	{"a delayed job with another time of queueing", `UPDATE rota_jobs SET hold = 1, run_at = 9, queued_at = queued_at + 1 WHERE id = :queued`, saysOnce},
	{"an unknown sequel", `UPDATE rota_jobs SET finished_at = 7, sequel = 'later' WHERE id = :unsettled`, saysState},
	{"RUNNING without a start", `UPDATE rota_jobs SET status = 'RUNNING' WHERE id = :queued`, saysState},
	{"QUEUED and started", `UPDATE rota_jobs SET started_at = 7 WHERE id = :queued`, saysState},
	{"QUEUED with a run", `UPDATE rota_jobs SET run_id = gen_random_uuid() WHERE id = :queued`, saysState},
	{"QUEUED and ended", `UPDATE rota_jobs SET finished_at = 7 WHERE id = :queued`, saysState},
	{"QUEUED with a sequel", `UPDATE rota_jobs SET sequel = 'none' WHERE id = :queued`, saysState},
	{"CANCELLED without an end", `UPDATE rota_jobs SET status = 'CANCELLED' WHERE id = :queued`, saysState},
	{"CANCELLED without a sequel", `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7 WHERE id = :queued`, saysState},
	{"CANCELLED and started", `UPDATE rota_jobs SET status = 'CANCELLED', started_at = 7, finished_at = 7, sequel = 'none' WHERE id = :queued`, saysState},
	{"CANCELLED with a run", `UPDATE rota_jobs SET status = 'CANCELLED', run_id = gen_random_uuid(), finished_at = 7, sequel = 'none' WHERE id = :queued`, saysState},
	{"CANCELLED with a sequel but no end", `UPDATE rota_jobs SET status = 'CANCELLED', sequel = 'none' WHERE id = :queued`, saysState},
	{"CANCELLED and dead", `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7, sequel = 'dead' WHERE id = :queued`, saysState},
	{"a sequel before the end", `UPDATE rota_jobs SET sequel = 'none' WHERE id = :unsettled`, saysState},
	{"a start taken back", `UPDATE rota_jobs SET started_at = NULL WHERE id = :completed`, saysState},
	{"an end taken back", `UPDATE rota_jobs SET finished_at = NULL WHERE id = :completed`, saysState},
	{"a time of queueing taken back", `UPDATE rota_jobs SET queued_at = NULL WHERE id = :completed`, saysOnce},
	{"a run's id taken back", `UPDATE rota_jobs SET run_id = NULL WHERE id = :completed`, saysOnce},
	{"a sequel taken back", `UPDATE rota_jobs SET sequel = NULL WHERE id = :completed`, saysOnce},
	{"a job that ends before its run", `UPDATE rota_jobs SET finished_at = 7, sequel = 'none' WHERE id = :running`, saysClose},
	{"no params", `UPDATE rota_jobs SET params = NULL WHERE id = :queued`, saysNull},
	{"text for a number", `UPDATE rota_jobs SET priority = 'high' WHERE id = :queued`, saysSyntax},
	{"an audit entry rewritten", `UPDATE rota_audit SET actor = 'eve'`, saysAudit},
	{"an audit entry rewritten as it is written", `INSERT INTO rota_audit (id, at, act) VALUES (gen_random_uuid(), 7, 'X'); UPDATE rota_audit SET at = 8 WHERE at = 7`, saysAudit},
}

var forbiddenRuns = []attempt{
	{"an unknown outcome", `UPDATE rota_jobs SET outcome = 'MAYBE' WHERE id = :running`, "jobs_outcome"},
	{"an end without an outcome", `UPDATE rota_jobs SET ended_at = 7 WHERE id = :running`, saysClose},
	{"an outcome taken back", `UPDATE rota_jobs SET outcome = NULL WHERE id = :unsettled`, saysClose},
	{"an outcome taken back with its time", `UPDATE rota_jobs SET outcome = NULL, ended_at = NULL WHERE id = :unsettled`, saysOutcome},
	{"a second end", `UPDATE rota_jobs SET ended_at = ended_at + 1 WHERE id = :completed`, saysRunOnce},
	{"a run's end taken back", `UPDATE rota_jobs SET ended_at = NULL WHERE id = :completed`, saysRunOnce},
	{"a second exit code", `UPDATE rota_jobs SET exit_code = 1 WHERE id = :kept`, saysRunOnce},
	{"a second error", `UPDATE rota_jobs SET error = 'other' WHERE id = :kept`, saysRunOnce},
	{"a second log while open", `UPDATE rota_jobs SET log_path = 'other' WHERE id = :asked`, saysRunOnce},
	{"a second request to stop while open", `UPDATE rota_jobs SET cancel_at = cancel_at + 1 WHERE id = :asked`, saysRunOnce},
	{"a request to stop taken back", `UPDATE rota_jobs SET cancel_at = NULL WHERE id = :asked`, saysRunOnce},
	{"another actor of the request to stop", `UPDATE rota_jobs SET cancel_by = 'eve' WHERE id = :asked`, saysRunOnce},
	{"another reason to stop", `UPDATE rota_jobs SET cancel_reason = 'so' WHERE id = :asked`, saysRunOnce},
	{"artifacts rewritten", `UPDATE rota_jobs SET artifacts = E'"z.txt"\n' WHERE id = :kept`, saysArtifacts},
	{"artifacts shortened", `UPDATE rota_jobs SET artifacts = left(artifacts, -1) WHERE id = :kept`, saysArtifacts},
	{"artifacts put in front", `UPDATE rota_jobs SET artifacts = E'"z.txt"\n' || artifacts WHERE id = :kept`, saysArtifacts},
	{"artifacts taken away", `UPDATE rota_jobs SET artifacts = NULL WHERE id = :kept`, saysArtifacts},
	{"artifacts emptied", `UPDATE rota_jobs SET artifacts = '' WHERE id = :kept`, saysArtifacts},
	{"a run given to a queued job", `UPDATE rota_jobs SET runner = 'eve', token = id, heartbeat_at = 7, stale_after = 7 WHERE id = :queued`, saysRun},
	{"a run given to a cancelled job", `UPDATE rota_jobs SET runner = 'eve', token = id, heartbeat_at = 7, stale_after = 7 WHERE id = :cancelled`, saysRun},
	{"a run without a token", `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7, runner = 'eve', heartbeat_at = 7, stale_after = 7 WHERE id = :queued`, saysRun},
	{"a lease that never ends", `UPDATE rota_jobs SET stale_after = NULL WHERE id = :running`, saysRun},
	{"a run without a heartbeat", `UPDATE rota_jobs SET heartbeat_at = NULL WHERE id = :running`, saysRun},
	{"an outcome without a run", `UPDATE rota_jobs SET outcome = 'FAILED' WHERE id = :queued`, saysRun},
	{"part of a run", `UPDATE rota_jobs SET error = 'e' WHERE id = :queued`, saysRun},
}

// forbiddenDeletes are deletes that would break a chain or lose a live job.
var forbiddenDeletes = []attempt{
	{"a queued job removed", `DELETE FROM rota_jobs WHERE id = :queued`, saysLeave},
	{"a delayed job removed", `DELETE FROM rota_jobs WHERE id = :delayed`, saysLeave},
	{"a running job removed", `DELETE FROM rota_jobs WHERE id = :running`, saysLeave},
	{"a job with a retry removed", `DELETE FROM rota_jobs WHERE id = :failed`, saysLeave},
	{"a queued retry removed", `DELETE FROM rota_jobs WHERE id = :retry`, saysLeave},
	{"everything removed", `DELETE FROM rota_jobs`, saysLeave},
	{"everything removed at once", `TRUNCATE rota_jobs`, saysLeave},
	{"an open run removed", withoutRun(":running"), saysRunIdentity},
	{"a closed run removed", withoutRun(":unsettled"), saysOutcome},
	{"an audit entry removed", `DELETE FROM rota_audit`, saysAudit},
	{"an audit entry at the bound removed", `UPDATE rota_audit_anchor SET removed_before = 9; DELETE FROM rota_audit WHERE at = 9`, saysAudit},
	{"the anchor of the audit moved back", `UPDATE rota_audit_anchor SET removed_before = 9; UPDATE rota_audit_anchor SET removed_before = 8`, saysAuditAnchor},
	{"the anchor of the audit removed", `DELETE FROM rota_audit_anchor`, saysAuditAnchor},
	{"the anchor of the audit truncated", `TRUNCATE rota_audit_anchor`, saysAuditAnchor},
	{"a second anchor of the audit", `INSERT INTO rota_audit_anchor (id, removed_before) VALUES (2, 7)`, "audit_anchor_one"},
	{"the hash of the anchor changed", `UPDATE rota_audit_anchor SET hash = sha256('x')`, saysAuditAnchor},
	{"a seal changed", sealSQL + `; UPDATE rota_audit_seals SET hashes = sha256('x')`, saysAuditChain},
	{"a seal removed", sealSQL + `; DELETE FROM rota_audit_seals`, saysAuditChain},
	{"seals truncated", `TRUNCATE rota_audit_seals`, saysAuditChain},
	{"a seal with too few ids", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (1, 1, '', sha256('x'))`, "audit_seals_size"},
	{"a seal with too few hashes", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (1, 1, uuid_send(gen_random_uuid()), '')`, "audit_seals_size"},
	{"a short hash of the anchor", `UPDATE rota_audit_anchor SET seq = 1, hash = ''`, "audit_anchor_hash"},
	{"a seal after a gap", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (9, 9, uuid_send(gen_random_uuid()), sha256('x'))`, saysAuditChain},
	{"the audit removed", `TRUNCATE rota_audit`, saysAudit},
}

// forbiddenInserts insert invalid rows or replace existing ones.
func forbiddenInserts() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	job := func(name, says string, values map[string]string) { add(name, says, insertJobSQL(values)) }
	retry := func(of, execution, number string) map[string]string {
		return map[string]string{"retry_of": of, "execution_id": execution, "attempt": number}
	}
	job("a job that enters RUNNING", saysEnter, map[string]string{"status": "'RUNNING'", "started_at": "7"})
	for name, other := range map[string]map[string]string{
		"on hold": {"hold": "1"}, "before it was ready": {"queued_at": "NULL"}, "without an id": {"run_id": "NULL"},
		"with an error": {"error": "'e'"}, "with an exit code": {"exit_code": "0"}, "with an outcome": {"outcome": "'COMPLETED'", "ended_at": "7"},
		"asked to stop": {"cancel_at": "7"}, "settled": {"outcome": "'COMPLETED'", "ended_at": "7", "finished_at": "7", "sequel": "'none'"},
	} {
		job("a job that enters with a run "+name, saysEnter, startedJob(other))
	}
	job("a job that enters CANCELLED", saysEnter, map[string]string{"status": "'CANCELLED'", "finished_at": "7", "sequel": "'none'"})
	job("a job that enters with a run", saysState, map[string]string{"run_id": "gen_random_uuid()"})
	job("a job that enters with a runner", saysRun, map[string]string{"runner": "'eve'", "token": "gen_random_uuid()"})
	job("a job that enters with a sequel", saysState, map[string]string{"sequel": "'none'"})
	job("a job that enters started", saysState, map[string]string{"started_at": "7"})
	job("a job that enters ended", saysState, map[string]string{"finished_at": "7"})
	job("no attempt allowed", saysAttempt, map[string]string{"max_attempts": "0"})
	job("attempt 0", saysAttempt, map[string]string{"attempt": "0"})
	job("a second attempt of nothing", saysAttempt, map[string]string{"attempt": "2"})
	job("an execution of its own name", saysAttempt, map[string]string{"execution_id": ":queued"})
	job("an attempt beyond the last", saysAttempt, map[string]string{"retry_of": ":dead", "execution_id": ":dead", "attempt": "2", "max_attempts": "1"})
	job("half a scope", saysScope, map[string]string{"scope_kind": "'shard'"})
	job("the other half of a scope", saysScope, map[string]string{"scope_id": "'7'"})
	job("a scope of an empty kind", saysScope, map[string]string{"scope_kind": "''", "scope_id": "'7'"})
	job("a scope of an empty id", saysScope, map[string]string{"scope_kind": "'shard'", "scope_id": "''"})
	job("the global scope by name", saysScope, map[string]string{"scope_kind": "'global'", "scope_id": "'global'"})
	job("a hold below all", saysHold, map[string]string{"hold": "-1"})
	job("a hold beyond all", saysHold, map[string]string{"hold": "256"})
	job("a job without a type", saysNull, map[string]string{"type": "NULL"})
	job("a job without params", saysNull, map[string]string{"params": "NULL"})
	job("text for an id", saysSyntax, map[string]string{"id": "'seven'"})
	job("a second retry", saysOneRetry, retry(":failed", ":failed", "2"))
	job("a retry of nothing", saysChain, retry("gen_random_uuid()", ":running", "2"))
	job("a retry of another execution", saysChain, retry(":dead", ":failed", "2"))
	job("a retry of no execution", saysChain, retry(":dead", "NULL", "2"))
	job("an attempt left out", saysChain, retry(":dead", ":dead", "3"))
	job("a retry that is a first attempt", saysChain, retry(":dead", ":dead", "1"))
	job("a retry of a job that runs", saysFailed, retry(":running", ":running", "2"))
	job("a retry of a job that completed", saysFailed, retry(":completed", ":completed", "2"))
	for _, over := range []string{":queued", ":running", ":completed"} {
		job("over the job "+over, saysExists, map[string]string{"id": over})
	}
	plan := map[string]string{"name": "'nightly'", "plan_time": "5", "scope_kind": "'shard'", "scope_id": "'7'"}
	job("over a plan", saysPlanned, plan)
	add("over the audit", "audit_pkey", `INSERT INTO rota_audit (id, at, actor, act) SELECT id, at, 'eve', act FROM rota_audit`)
	add("an upsert over a job", saysFrozen, insertJobSQL(map[string]string{"id": ":completed"})+` ON CONFLICT (id) DO UPDATE SET priority = 7`)
	add("a merge over a job", saysFrozen, `MERGE INTO rota_jobs j USING (SELECT id FROM rota_jobs WHERE id = :completed) m ON j.id = m.id WHEN MATCHED THEN UPDATE SET priority = 7`)
	return all
}

// startedJob returns the values of a job that is inserted with its run.
func startedJob(others map[string]string) map[string]string {
	values := map[string]string{
		"status": "'RUNNING'", "queued_at": "7", "started_at": "7", "run_id": "gen_random_uuid()", "runner": "'eve'", "token": "gen_random_uuid()",
		"heartbeat_at": "7", "stale_after": "7",
	}
	maps.Copy(values, others)
	return values
}

// allowed are statements that resemble the forbidden ones and that the rules themselves send.
var allowed = []attempt{
	{name: "params, priority and position of a queued job", sql: `UPDATE rota_jobs SET params = '{"n":2}', priority = 7, position = 7, version = gen_random_uuid() WHERE id = :queued`},
	{name: "another time of a delayed job", sql: `UPDATE rota_jobs SET run_at = 11 WHERE id = :delayed`},
	{name: "a ready job delayed again", sql: `UPDATE rota_jobs SET hold = 1, run_at = 11, queued_at = NULL WHERE id = :queued`},
	{name: "a delayed job made ready", sql: `UPDATE rota_jobs SET hold = 0, queued_at = 7 WHERE id = :delayed`},
	{name: "QUEUED to RUNNING", sql: `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7, run_id = gen_random_uuid(), token = gen_random_uuid(), runner = 'eve', heartbeat_at = 7, stale_after = 7 WHERE id = :queued`},
	{name: "QUEUED to CANCELLED", sql: `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7, sequel = 'none' WHERE id = :queued`},
	{name: "RUNNING ended and settled, when its run has ended", sql: `UPDATE rota_jobs SET finished_at = 7, sequel = 'none' WHERE id = :unsettled`},
	{name: "an outcome", sql: `UPDATE rota_jobs SET outcome = 'COMPLETED', ended_at = 7, exit_code = 0, error = 'e', result = '1' WHERE id = :running`},
	{name: "a heartbeat", sql: `UPDATE rota_jobs SET heartbeat_at = 7, stale_after = 7, progress = '1' WHERE id = :running`},
	{name: "a request to stop", sql: `UPDATE rota_jobs SET cancel_at = 7, cancel_by = 'ada', cancel_reason = 'so' WHERE id = :running`},
	{name: "a first exit code after the end", sql: `UPDATE rota_jobs SET exit_code = 1 WHERE id = :completed`},
	{name: "a first error after the end", sql: `UPDATE rota_jobs SET error = 'e' WHERE id = :completed`},
	{name: "a first log", sql: `UPDATE rota_jobs SET log_path = 'log' WHERE id = :running`},
	{name: "first artifacts after the end", sql: `UPDATE rota_jobs SET artifacts = E'"z.txt"\n' WHERE id = :completed`},
	{name: "artifacts appended", sql: `UPDATE rota_jobs SET artifacts = artifacts || E'"z.txt"\n' WHERE id = :kept`},
	{name: "a job", sql: insertJobSQL(nil)},
	{name: "a job with its run", sql: insertJobSQL(startedJob(nil))},
	{name: "a planned job", sql: insertJobSQL(map[string]string{"name": "'nightly'", "plan_time": "5"})},
	{name: "a scope", sql: insertJobSQL(map[string]string{"scope_kind": "'global'", "scope_id": "'7'"})},
	{name: "a first retry", sql: insertJobSQL(map[string]string{"retry_of": ":dead", "execution_id": ":dead", "attempt": "2"})},
	{name: "an ended job removed", sql: `DELETE FROM rota_jobs WHERE id = :completed`},
	{name: "a dead job removed", sql: `DELETE FROM rota_jobs WHERE id = :dead`},
	{name: "a chain removed at once", sql: `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 9, sequel = 'none' WHERE id = :retry; DELETE FROM rota_jobs WHERE id IN (:failed, :retry)`},
	{name: "an audit entry before the bound removed", sql: `UPDATE rota_audit_anchor SET removed_before = 10; DELETE FROM rota_audit WHERE at < 10`},
	{name: "an audit entry", sql: `INSERT INTO rota_audit (id, at, act) VALUES (gen_random_uuid(), 7, 'X')`},
	{name: "an audit entry that is there", sql: `INSERT INTO rota_audit (id, at, act) VALUES (:line, 7, 'X') ON CONFLICT (id) DO NOTHING; SELECT 1`},
	{name: "a key freed", sql: `DELETE FROM rota_keys`},
}

// sealSQL adds a seal to the chain of the audit.
const sealSQL = `INSERT INTO rota_audit_seals (seq, first, ids, hashes) VALUES (1, 1, uuid_send(gen_random_uuid()), sha256('x'))`
