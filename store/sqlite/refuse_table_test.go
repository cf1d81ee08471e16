package sqlite

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// attempt is a statement from a connection without the rules, on the rows of insertGuardedRows.
type attempt struct {
	name string
	sql  string
	says string // text of the refusal; empty if the statement passes
}

// Texts of the refusals.
const (
	saysIdentity    = "what a job is never changes"
	saysStatus      = "keeps its status"
	saysFrozen      = "frozen once a job has left QUEUED"
	saysOnce        = "of a job are written once"
	saysEnter       = "a job enters as QUEUED"
	saysExists      = "this job exists"
	saysOneRetry    = "at most one retry"
	saysChain       = "continues the chain"
	saysPlanned     = "planned already"
	saysLeave       = "only an execution that has ended"
	saysRunIdentity = "whose a run is never changes"
	saysOutcome     = "the outcome of a run is written once"
	saysRunOnce     = "of a run are written once"
	saysArtifacts   = "artifacts are only appended to"
	saysAudit       = "the audit is only appended to"
	saysAuditAnchor = "the anchor of the audit only moves forward"
	saysAuditChain  = "the chain of the audit only grows"
	saysCheck       = "CHECK constraint failed"
	saysType        = "cannot store"
	saysPlace       = "replaced where they stand"
	saysClose       = "ends with its run"
	saysParams      = "this job has its params"
	saysParamsLeave = "params leave with their job"
	saysFailed      = "only a run that failed is retried"
	saysNull        = "NOT NULL constraint failed"
)

// Other values for columns, of the right type.
var otherJob = map[string]string{
	"id": "randomblob(16)", "execution_id": "randomblob(16)", "retry_of": "randomblob(16)", "type": "'other'",
	"attempt": "2", "max_attempts": "9", "backoff": "7", "backoff_max": "7", "jitter": "0.5", "timeout": "7",
	"created_at": "7", "plan_time": "7", "scope_kind": "'shard'", "scope_id": "'7'", "name": "'other'",
	"unique_key": "'other'", "unique_for": "7", "created_by": "'eve'", "template": "'other'", "schedule": "'other'",
	"group_id": "randomblob(16)", "group_position": "7", "concurrency_key": "'other'", "counts_at": "7", "wait_from": "7",
	"wait_until": "7", "redrive_of": "randomblob(16)", "trace": "'other'", "owner": "'eve'",
}

var frozenJob = map[string]string{
	"params": `'{"n":2}'`, "priority": "priority + 1", "position": "position + 1", "hold": "hold + 1", "version": "randomblob(16)",
	"run_at": "7",
}

var onceJob = map[string]string{
	"queued_at": "queued_at + 1", "started_at": "started_at + 1", "finished_at": "finished_at + 1", "sequel": "'dead'",
	"run_id": "randomblob(16)",
}

var otherRun = map[string]string{
	"token": "randomblob(16)", "runner": "'eve'", "life": "randomblob(16)",
}

var closedRun = map[string]string{
	"outcome": "'FAILED'", "heartbeat_at": "7", "stale_after": "7", "error_code": "'E7'", "rows_affected": "7",
	"cancel_at": "7", "cancel_by": "'eve'", "cancel_reason": "'so'", "progress": "'7'", "log_path": "'other'", "result": "'7'",
}

// forbidden returns all statements that the database itself refuses.
func forbidden() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	each := func(table, where, says string, columns map[string]string) {
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			add(table+": "+c+" "+where, says, "UPDATE "+table+" SET "+c+" = "+columns[c]+" WHERE "+where)
		}
	}
	each("rota_jobs", "id = :queued", saysIdentity, otherJob)
	each("rota_jobs", "id = :completed", saysIdentity, otherJob)
	each("rota_jobs", "id = :running", saysFrozen, frozenJob)
	each("rota_jobs", "id = :cancelled", saysFrozen, frozenJob)
	each("rota_jobs", "id = :completed", saysOnce, onceJob)
	each("rota_jobs", "id = :running", saysRunIdentity, otherRun)
	each("rota_jobs", "id = :completed", saysRunIdentity, otherRun)
	each("rota_jobs", "id = :completed", saysOutcome, closedRun)
	for _, c := range slices.Sorted(maps.Keys(onceJob)) {
		says := saysOnce
		if c == "started_at" || c == "finished_at" {
			says = saysCheck // which SQLite checks first
		}
		add("a "+c+" taken back", says, "UPDATE rota_jobs SET "+c+" = NULL WHERE id = :completed")
	}
	all = append(all, forbiddenStates...)
	all = append(all, forbiddenInserts()...)
	all = append(all, forbiddenDeletes...)
	return append(all, forbiddenRelated()...)
}

var forbiddenStates = []attempt{
	{"RUNNING back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :running`, saysCheck},
	{"RUNNING back to QUEUED as if it had never run", `UPDATE rota_jobs SET status = 'QUEUED', started_at = NULL, run_id = NULL WHERE id = :running`, saysCheck},
	{"RUNNING sideways to CANCELLED", `UPDATE rota_jobs SET status = 'CANCELLED' WHERE id = :running`, saysCheck},
	{"ended back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :completed`, saysCheck},
	{"CANCELLED back to QUEUED", `UPDATE rota_jobs SET status = 'QUEUED' WHERE id = :cancelled`, saysCheck},
	{"CANCELLED sideways to RUNNING", `UPDATE rota_jobs SET status = 'RUNNING' WHERE id = :cancelled`, saysCheck},
	{"CANCELLED sideways to RUNNING, started now", `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7 WHERE id = :cancelled`, saysStatus},
	{"an unknown status", `UPDATE rota_jobs SET status = 'SLEEPING' WHERE id = :queued`, saysCheck},
	{"a status in small letters", `UPDATE rota_jobs SET status = 'queued' WHERE id = :queued`, saysCheck},
	{"a ready job without a time of queueing", `UPDATE rota_jobs SET queued_at = NULL WHERE id = :queued`, saysOnce},
	{"a delayed job with another time of queueing", `UPDATE rota_jobs SET hold = 1, run_at = 9, queued_at = queued_at + 1 WHERE id = :queued`, saysOnce},
	{"an unknown sequel", `UPDATE rota_jobs SET finished_at = 7, sequel = 'later' WHERE id = :longrun`, saysCheck},
	{"RUNNING without a start", `UPDATE rota_jobs SET status = 'RUNNING' WHERE id = :queued`, saysCheck},
	{"QUEUED with a run", `UPDATE rota_jobs SET run_id = randomblob(16) WHERE id = :queued`, saysCheck},
	{"QUEUED and ended", `UPDATE rota_jobs SET finished_at = 7 WHERE id = :queued`, saysCheck},
	{"CANCELLED without an end", `UPDATE rota_jobs SET status = 'CANCELLED' WHERE id = :queued`, saysCheck},
	{"CANCELLED without a sequel", `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7 WHERE id = :queued`, saysCheck},
	{"QUEUED with a sequel", `UPDATE rota_jobs SET sequel = 'none' WHERE id = :queued`, saysCheck},
	{"CANCELLED and started", `UPDATE rota_jobs SET status = 'CANCELLED', started_at = 7, finished_at = 7, sequel = 'none' WHERE id = :queued`, saysCheck},
	{"CANCELLED with a run", `UPDATE rota_jobs SET status = 'CANCELLED', run_id = randomblob(16), finished_at = 7, sequel = 'none' WHERE id = :queued`, saysCheck},
	{"CANCELLED with a sequel but no end", `UPDATE rota_jobs SET status = 'CANCELLED', sequel = 'none' WHERE id = :queued`, saysCheck},
	{"CANCELLED and dead", `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7, sequel = 'dead' WHERE id = :queued`, saysCheck},
	{"a sequel before the end", `UPDATE rota_jobs SET sequel = 'none' WHERE id = :running`, saysCheck},
	{"an unknown outcome", `UPDATE rota_jobs SET outcome = 'MAYBE' WHERE id = :running`, saysCheck},
	{"an end without an outcome", `UPDATE rota_jobs SET ended_at = 7 WHERE id = :running`, saysCheck},
	{"an outcome taken back", `UPDATE rota_jobs SET outcome = NULL, ended_at = NULL WHERE id = :completed`, saysOutcome},
	{"a second end", `UPDATE rota_jobs SET ended_at = ended_at + 1 WHERE id = :completed`, saysRunOnce},
	{"an end taken back", `UPDATE rota_jobs SET ended_at = NULL WHERE id = :completed`, saysRunOnce},
	{"a second exit code", `UPDATE rota_jobs SET exit_code = 1 WHERE id = :kept`, saysRunOnce},
	{"a second error", `UPDATE rota_jobs SET error = 'other' WHERE id = :kept`, saysRunOnce},
	{"a second log while open", `UPDATE rota_jobs SET log_path = 'other' WHERE id = :asked`, saysRunOnce},
	{"a second cancel request while open", `UPDATE rota_jobs SET cancel_at = cancel_at + 1 WHERE id = :asked`, saysRunOnce},
	{"a cancel request taken back", `UPDATE rota_jobs SET cancel_at = NULL WHERE id = :asked`, saysRunOnce},
	{"another actor of the cancel request", `UPDATE rota_jobs SET cancel_by = 'eve' WHERE id = :asked`, saysRunOnce},
	{"another reason to stop", `UPDATE rota_jobs SET cancel_reason = 'so' WHERE id = :asked`, saysRunOnce},
	{"artifacts rewritten", `UPDATE rota_jobs SET artifacts = '"z.txt"' || char(10) WHERE id = :kept`, saysArtifacts},
	{"artifacts shortened", `UPDATE rota_jobs SET artifacts = substr(artifacts, 1, length(artifacts) - 1) WHERE id = :kept`, saysArtifacts},
	{"artifacts put in front", `UPDATE rota_jobs SET artifacts = '"z.txt"' || char(10) || artifacts WHERE id = :kept`, saysArtifacts},
	{"artifacts taken away", `UPDATE rota_jobs SET artifacts = NULL WHERE id = :kept`, saysArtifacts},
	{"artifacts emptied", `UPDATE rota_jobs SET artifacts = '' WHERE id = :kept`, saysArtifacts},
	{"a key that has half ended", `UPDATE rota_keys SET ended = 2`, saysCheck},
	{"an audit entry rewritten", `UPDATE rota_audit SET actor = 'eve'`, saysAudit},
	{"an audit entry replaced by another", `UPDATE OR REPLACE rota_audit SET id = randomblob(16)`, saysAudit},
	{"a job replaced by update", `UPDATE OR REPLACE rota_jobs SET id = :completed WHERE id = :dead`, saysIdentity},
	{"a retry replaced by update", `UPDATE OR REPLACE rota_jobs SET retry_of = :failed WHERE id = :queued`, saysIdentity},
	{"a plan replaced by update", `UPDATE OR REPLACE rota_jobs SET plan_time = (SELECT plan_time FROM rota_jobs WHERE id = :planned), name = 'nightly' WHERE id = :queued`, saysIdentity},
	{"a run given to a queued job", `UPDATE rota_jobs SET runner = 'eve', token = randomblob(16), heartbeat_at = 7, stale_after = 7 WHERE id = :queued`, saysCheck},
	{"a run given to a cancelled job", `UPDATE rota_jobs SET runner = 'eve', token = randomblob(16), heartbeat_at = 7, stale_after = 7 WHERE id = :cancelled`, saysCheck},
	{"a run without a token", `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7, runner = 'eve', heartbeat_at = 7, stale_after = 7 WHERE id = :queued`, saysCheck},
	{"a lease that never ends", `UPDATE rota_jobs SET stale_after = NULL WHERE id = :running`, saysCheck},
	{"a run that never beat", `UPDATE rota_jobs SET heartbeat_at = NULL WHERE id = :running`, saysCheck},
	{"an outcome without a run", `UPDATE rota_jobs SET outcome = 'FAILED' WHERE id = :queued`, saysCheck},
	{"part of a run", `UPDATE rota_jobs SET error = 'e' WHERE id = :queued`, saysCheck},
	{"a constraint passed over by update", `UPDATE OR IGNORE rota_jobs SET priority = 7 WHERE id = :running`, saysFrozen},
	{"text for a number", `UPDATE rota_jobs SET priority = 'high' WHERE id = :queued`, saysType},
	{"a number for an id", `UPDATE rota_jobs SET progress = x'00' WHERE id = :running`, saysType},
	{"no params", `UPDATE rota_jobs SET params = NULL WHERE id = :queued`, saysPlace},
	{"params in two places", `UPDATE rota_jobs SET params = '{}' WHERE id = :long`, saysPlace},
	{"long params of a running job", `UPDATE rota_params SET params = '{}' WHERE job_id = :longrun`, saysFrozen},
	{"long params given to another", `UPDATE rota_params SET job_id = :queued WHERE job_id = :long`, saysFrozen},
	{"a job that ends before its run", `UPDATE rota_jobs SET finished_at = 7, sequel = 'none' WHERE id = :running`, saysClose},
}

// forbiddenDeletes are deletions that would break references.
var forbiddenDeletes = []attempt{
	{"a queued job removed", `DELETE FROM rota_jobs WHERE id = :queued`, saysLeave},
	{"a delayed job removed", `DELETE FROM rota_jobs WHERE id = :delayed`, saysLeave},
	{"a running job removed", `DELETE FROM rota_jobs WHERE id = :running`, saysLeave},
	{"a job with a retry removed", `DELETE FROM rota_jobs WHERE id = :failed`, saysLeave},
	{"a queued retry removed", `DELETE FROM rota_jobs WHERE id = :retry`, saysLeave},
	{"everything removed", `DELETE FROM rota_jobs`, saysLeave},
	{"long params removed", `DELETE FROM rota_params WHERE job_id = :long`, saysParamsLeave},
	{"an open run removed", sqlitetest.WithoutRun(":running"), saysRunIdentity},
	{"a closed run removed", sqlitetest.WithoutRun(":completed"), saysRunIdentity},
	{"an audit entry removed", `DELETE FROM rota_audit`, saysAudit},
	{"the anchor of the audit moved back", `UPDATE rota_audit_anchor SET removed_before = removed_before - 1`, saysAuditAnchor},
	{"the anchor of the audit removed", `DELETE FROM rota_audit_anchor`, saysAuditAnchor},
	{"a second anchor of the audit", `INSERT INTO rota_audit_anchor (id, removed_before) VALUES (2, 7)`, saysAuditAnchor},
	{"the hash of the anchor changed", `UPDATE rota_audit_anchor SET hash = randomblob(32)`, saysAuditAnchor},
	{"a seal changed", `UPDATE rota_audit_seals SET hashes = randomblob(32)`, saysAuditChain},
	{"a seal removed", `DELETE FROM rota_audit_seals`, saysAuditChain},
	{"a seal with too few ids", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) SELECT max(seq) + 1, max(seq) + 1, x'00', zeroblob(32) FROM rota_audit_seals`, saysCheck},
	{"a seal with too few hashes", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) SELECT max(seq) + 1, max(seq) + 1, zeroblob(16), x'00' FROM rota_audit_seals`, saysCheck},
	{"a short hash of the anchor", `UPDATE rota_audit_anchor SET seq = 1, hash = x'00'`, saysCheck},
	{"a seal after a gap", `INSERT INTO rota_audit_seals (seq, first, ids, hashes) SELECT max(seq) + 2, max(seq) + 2, zeroblob(16), zeroblob(32) FROM rota_audit_seals`, saysAuditChain},
	{"the anchor of the audit replaced", `INSERT OR REPLACE INTO rota_audit_anchor (id, removed_before) VALUES (1, 7)`, saysAuditAnchor},
}

// forbiddenInserts are rows that are invalid, or that replace existing rows.
func forbiddenInserts() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	job := func(name, says string, values map[string]string) { add(name, says, insertJobSQL("INSERT", values)) }
	retry := func(of, execution, number string) map[string]string {
		return map[string]string{"retry_of": of, "execution_id": execution, "attempt": number}
	}
	job("a job that enters RUNNING", saysEnter, map[string]string{"status": "'RUNNING'", "started_at": "7"})
	job("a job that enters CANCELLED", saysEnter, map[string]string{"status": "'CANCELLED'", "finished_at": "7", "sequel": "'none'"})
	job("a job that enters with a run", saysEnter, map[string]string{"run_id": "randomblob(16)"})
	job("a job that enters with a runner", saysCheck, map[string]string{"runner": "'eve'", "token": "randomblob(16)"})
	job("a job that enters with a sequel", saysEnter, map[string]string{"sequel": "'none'"})
	job("a job that enters started", saysCheck, map[string]string{"started_at": "7"})
	job("a job that enters ended", saysCheck, map[string]string{"finished_at": "7"})
	job("no attempt allowed", saysCheck, map[string]string{"max_attempts": "0"})
	job("attempt 0", saysCheck, map[string]string{"attempt": "0"})
	job("a second attempt of nothing", saysCheck, map[string]string{"attempt": "2"})
	job("an execution of its own name", saysCheck, map[string]string{"execution_id": ":queued"})
	job("half a scope", saysCheck, map[string]string{"scope_kind": "'shard'"})
	job("a hold below all", saysCheck, map[string]string{"hold": "-1"})
	job("a hold beyond all", saysCheck, map[string]string{"hold": "256"})
	job("a job without a type", saysNull, map[string]string{"type": "NULL"})
	job("text for an id", saysType, map[string]string{"id": "'seven'"})
	job("an id for text", saysType, map[string]string{"params": "x'7b7d'"})
	job("a second retry", saysOneRetry, retry(":failed", ":failed", "2"))
	job("a retry of nothing", saysChain, retry("randomblob(16)", ":running", "2"))
	job("a retry of another execution", saysChain, retry(":running", ":failed", "2"))
	job("an attempt left out", saysChain, retry(":running", ":running", "3"))
	job("an attempt left out of a chain that goes on", saysChain, retry(":dead", ":dead", "3"))
	job("a retry that is a first attempt", saysChain, retry(":running", ":running", "1"))
	job("an attempt beyond the last", saysCheck, map[string]string{"retry_of": ":dead", "execution_id": ":dead", "attempt": "2", "max_attempts": "1"})
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "INSERT OR FAIL", "REPLACE"} {
		for _, over := range []string{":queued", ":running", ":completed"} {
			add(or+" over job "+over, saysExists, insertJobSQL(or, map[string]string{"id": over}))
		}
		add(or+" over a retry", saysOneRetry, insertJobSQL(or, retry(":failed", ":failed", "2")))
		add(or+" over a plan", saysPlanned, insertJobSQL(or, planned()))
		add(or+" over params", saysParams, or+` INTO rota_params VALUES (:long, '{}')`)
		add(or+" over the audit", saysAudit, or+` INTO rota_audit (id, at, actor, act) SELECT id, at, 'eve', act FROM rota_audit`)
	}
	upsert := ` ON CONFLICT DO UPDATE SET `
	add("an upsert over a job", saysExists, insertJobSQL("INSERT", map[string]string{"id": ":completed"})+upsert+`priority = 7`)
	add("an upsert over a plan", saysPlanned, insertJobSQL("INSERT", planned())+upsert+`priority = 7`)
	add("an upsert over a retry", saysOneRetry, insertJobSQL("INSERT", retry(":failed", ":failed", "2"))+upsert+`priority = 7`)
	add("params beside a job's own", saysParams, `INSERT INTO rota_params VALUES (:queued, '{}')`)
	add("params of nothing", saysParams, `INSERT INTO rota_params VALUES (randomblob(16), '{}')`)
	job("a retry of a job that runs", saysFailed, retry(":running", ":running", "2"))
	job("a retry of a job that completed", saysFailed, retry(":completed", ":completed", "2"))
	return all
}

func planned() map[string]string {
	return map[string]string{"name": "'nightly'", "plan_time": "(SELECT plan_time FROM rota_jobs WHERE id = :planned)"}
}

// insertJobSQL returns an insert of a valid job with some values changed.
func insertJobSQL(verb string, values map[string]string) string {
	row := map[string]string{
		"id": "randomblob(16)", "type": "'web'", "priority": "0", "position": "900", "max_attempts": "4", "backoff": "0",
		"timeout": "0", "created_at": "7", "queued_at": "7", "params": "'{}'",
	}
	maps.Copy(row, values)
	columns := slices.Sorted(maps.Keys(row))
	var list []string
	for _, c := range columns {
		list = append(list, row[c])
	}
	return fmt.Sprintf("%s INTO rota_jobs (%s) VALUES (%s)", verb, strings.Join(columns, ", "), strings.Join(list, ", "))
}

// allowed are statements that are similar to forbidden ones and pass, because the rules write them.
var allowed = []attempt{
	{name: "params, priority and position of a queued job", sql: `UPDATE rota_jobs SET params = '{"n":2}', priority = 7, position = 7, version = randomblob(16) WHERE id = :queued`},
	{name: "another time of a delayed job", sql: `UPDATE rota_jobs SET run_at = 11 WHERE id = :delayed`},
	{name: "a ready job delayed again", sql: `UPDATE rota_jobs SET hold = 1, run_at = 11, queued_at = NULL WHERE id = :queued`},
	{name: "a delayed job made ready", sql: `UPDATE rota_jobs SET hold = 0, queued_at = 7 WHERE id = :delayed`},
	{name: "QUEUED to RUNNING", sql: `UPDATE rota_jobs SET status = 'RUNNING', started_at = 7, run_id = randomblob(16), token = randomblob(16), runner = 'eve', heartbeat_at = 7, stale_after = 7 WHERE id = :queued`},
	{name: "QUEUED to CANCELLED", sql: `UPDATE rota_jobs SET status = 'CANCELLED', finished_at = 7, sequel = 'none' WHERE id = :queued`},
	{name: "RUNNING ended and settled, when its run has ended", sql: `UPDATE rota_jobs SET finished_at = 7, sequel = 'none' WHERE id = :longrun`},
	{name: "long params of a queued job", sql: `UPDATE rota_params SET params = '{}' WHERE job_id = :long`},
	{name: "an outcome", sql: `UPDATE rota_jobs SET outcome = 'COMPLETED', ended_at = 7, exit_code = 0, error = 'e', result = '1' WHERE id = :running`},
	{name: "a heartbeat", sql: `UPDATE rota_jobs SET heartbeat_at = 7, stale_after = 7, progress = '1' WHERE id = :running`},
	{name: "a cancel request", sql: `UPDATE rota_jobs SET cancel_at = 7, cancel_by = 'ada', cancel_reason = 'so' WHERE id = :running`},
	{name: "a first exit code after the end", sql: `UPDATE rota_jobs SET exit_code = 1 WHERE id = :completed`},
	{name: "a first error after the end", sql: `UPDATE rota_jobs SET error = 'e' WHERE id = :completed`},
	{name: "a first log", sql: `UPDATE rota_jobs SET log_path = 'log' WHERE id = :running`},
	{name: "first artifacts after the end", sql: `UPDATE rota_jobs SET artifacts = '"z.txt"' || char(10) WHERE id = :completed`},
	{name: "artifacts appended", sql: `UPDATE rota_jobs SET artifacts = artifacts || '"z.txt"' || char(10) WHERE id = :kept`},
	{name: "a job", sql: insertJobSQL("INSERT", nil)},
	{name: "a job, or replace", sql: insertJobSQL("INSERT OR REPLACE", nil)},
	{name: "a planned job", sql: insertJobSQL("INSERT", map[string]string{"name": "'nightly'", "plan_time": "7"})},
	{name: "a scope", sql: insertJobSQL("INSERT", map[string]string{"scope_kind": "'shard'", "scope_id": "'7'"})},
	{name: "a first retry", sql: insertJobSQL("INSERT", map[string]string{"retry_of": ":dead", "execution_id": ":dead", "attempt": "2"})},
	{name: "an ended job removed", sql: `DELETE FROM rota_jobs WHERE id = :completed`},
	{name: "a dead job removed", sql: `DELETE FROM rota_jobs WHERE id = :dead`},
	{name: "the anchor of the audit moved forward", sql: `UPDATE rota_audit_anchor SET removed_before = 10`},
	{name: "an audit entry", sql: `INSERT INTO rota_audit (id, at, act) VALUES (randomblob(16), 7, 'X')`},
	{name: "a key freed", sql: `DELETE FROM rota_keys`},
}
