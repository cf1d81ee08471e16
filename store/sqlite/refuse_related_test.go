package sqlite

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Texts of the refusals of related rows.
const (
	saysMember        = "a place in a group that exists"
	saysPlaceTaken    = "this place in the group is taken"
	saysTypeExists    = "this type exists"
	saysTypeIs        = "the name and the origin of a type never change"
	saysTemplateThere = "this template exists"
	saysTemplateIs    = "the name and the origin of a template never change"
	saysScheduleThere = "this schedule exists"
	saysScheduleIs    = "the name and the origin of a schedule never change"
	saysEdgeOf        = "what depends on something is a schedule"
	saysEdgeKept      = "a dependency is made or removed"
	saysGroupThere    = "this group exists"
	saysGroupEnters   = "a group enters without an end"
	saysGroupIs       = "what a group is never changes"
	saysGroupEnded    = "a group that was ended stays so"
	saysGroupLeave    = "a group leaves after its members"
	saysReserveEnters = "a reservation enters as ACTIVE"
	saysReserveThere  = "this reservation exists"
	saysReserveOne    = "at most one reservation is ACTIVE"
	saysReserveIs     = "whose a reservation is never changes"
	saysReserveOnce   = "a reservation ends once"
	saysReserveLeave  = "only a reservation that has ended"
	saysRequestTied   = "this key is tied already"
	saysRequestKept   = "a key is tied once"
	saysNamed         = "this definition has its name"
	saysNameKept      = "the name of a definition is kept"
	saysDroppedBefore = "this was dropped already"
	saysDropped       = "what was dropped stays so"
)

// relatedRows inserts one row of each kind with plain SQL, without the rules. The group has two
// members, another group was stopped, one was cancelled. One reservation has ended and one is
// active.
var relatedRows = []string{
	`INSERT INTO rota_types VALUES ('mail', 0, randomblob(16), 'ada', 7, 7, '{"policy":{}}')`,
	`INSERT INTO rota_templates VALUES ('digest', 'mail', 'ACTIVE', randomblob(16), 'ada', 7, 7, '{"type":"mail","policy":{}}', 0, 'ada', 7)`,
	`INSERT INTO rota_schedules (name, template, anchor, next_fire, version, created_by, created_at, updated_at, spec)
	 VALUES ('nightly', 'digest', 7, 9, randomblob(16), 'ada', 7, 7, '{"template":"digest"}')`,
	`INSERT INTO rota_schedules (name, template, state, anchor, next_fire, version, created_at, updated_at, spec)
	 VALUES ('weekly', 'digest', 'PAUSED', 7, 9, randomblob(16), 7, 7, '{"template":"digest"}')`,
	`INSERT INTO rota_schedules (name, template, state, reason, anchor, version, created_at, updated_at, spec)
	 VALUES ('once', 'digest', 'DISABLED', 'it has', 7, randomblob(16), 7, 7, '{"template":"digest"}')`,
	`INSERT INTO rota_edges VALUES ('weekly', 'nightly')`,
	`INSERT INTO rota_definitions VALUES (x'00112233445586778899aabbccddeeff', 'nightly')`,
	`INSERT INTO rota_throttle VALUES (1, randomblob(16), 'ada', 7, '{}')`,
	`INSERT INTO rota_webhooks VALUES (1, randomblob(16), 'ada', 7, '[]')`,
	`INSERT INTO rota_buckets VALUES ('mail', 7, '[1]')`,
	`INSERT INTO rota_intents VALUES ('key', 'k')`,
	`INSERT INTO rota_intents VALUES ('keys', '')`,
	`INSERT INTO rota_dropped VALUES ('nightly', 9, 8, 'ada')`,
	requestSQL("INSERT", "'ada'", "'order-7'", "randomblob(16)", hash64),
	`INSERT INTO rota_groups (id, mode, on_failure, size, created_at) VALUES (:group, 'parallel', 'stop', 3, 7)`,
	`INSERT INTO rota_groups (id, mode, on_failure, size, created_at) VALUES (:stopped, 'parallel', 'stop', 3, 7)`,
	`UPDATE rota_groups SET ending = 'stop', ending_reason = 'one died', ending_by = 'ada' WHERE id = :stopped`,
	`INSERT INTO rota_groups (id, mode, on_failure, size, created_at) VALUES (:called, 'parallel', 'stop', 3, 7)`,
	`UPDATE rota_groups SET ending = 'cancel', ending_reason = 'no', ending_by = 'ada' WHERE id = :called`,
	insertJobSQL("INSERT", map[string]string{"id": ":member", "group_id": ":group", "group_position": "1"}),
	insertJobSQL("INSERT", map[string]string{"id": ":second", "group_id": ":group", "group_position": "2", "hold": "2", "queued_at": "NULL"}),
	reserveSQL("INSERT", ":released", "'ACTIVE'", "NULL"),
	`UPDATE rota_reservations SET status = 'RELEASED', ended_at = 8 WHERE id = :released`,
	reserveSQL("INSERT", ":reserved", "'ACTIVE'", "NULL"),
	`UPDATE rota_reservations SET job_id = :running WHERE id = :reserved`,
}

const hash64 = `'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'`

func requestSQL(verb, actor, key, command, hash string) string {
	return verb + ` INTO rota_requests (actor, key, at, command_id, hash)
VALUES (` + actor + `, ` + key + `, 7, ` + command + `, ` + hash + `)`
}

func reserveSQL(verb, id, status, ended string) string {
	return verb + ` INTO rota_reservations (id, node, status, reserved_by, reserved_at, expires_at, ended_at)
VALUES (` + id + `, 'node', ` + status + `, 'ada', 7, 9, ` + ended + `)`
}

func groupSQL(verb, id, mode, failure, size, ending string) string {
	return verb + ` INTO rota_groups (id, mode, on_failure, size, created_at, ending)
VALUES (` + id + `, ` + mode + `, ` + failure + `, ` + size + `, 7, ` + ending + `)`
}

// insertRelatedRows inserts relatedRows and adds their ids to jobs.
func insertRelatedRows(t testing.TB, path string, jobs map[string]rota.ID) {
	t.Helper()
	for _, name := range []string{"group", "stopped", "called", "member", "second", "released", "reserved"} {
		jobs[name] = rota.NewID()
	}
	conn := rawConn(t, path)
	defer conn.Close()
	for _, sql := range slices.Concat(relatedRows, accessRows, secretRows) {
		if err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, jobs)}); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// Other values for columns of definitions, groups and reservations.
var (
	otherOrigin = map[string]string{"name": "'other'", "created_by": "'eve'", "created_at": "8"}
	otherGroup  = map[string]string{
		"id": "randomblob(16)", "name": "'other'", "mode": "'sequential'", "on_failure": "'skip'", "size": "9",
		"created_by": "'eve'", "created_at": "8",
	}
	otherReservation = map[string]string{
		"id": "randomblob(16)", "node": "'other'", "life": "randomblob(16)", "reserved_by": "'eve'", "reserved_at": "8",
	}
)

// forbiddenRelated are the statements on related rows that the database refuses.
func forbiddenRelated() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	each := func(table, where, says string, columns map[string]string) {
		for c, value := range columns {
			add(table+": "+c, says, "UPDATE "+table+" SET "+c+" = "+value+" WHERE "+where)
		}
	}
	each("rota_types", "name = 'mail'", saysTypeIs, otherOrigin)
	each("rota_templates", "name = 'digest'", saysTemplateIs, otherOrigin)
	each("rota_schedules", "name = 'nightly'", saysScheduleIs, otherOrigin)
	each("rota_groups", "id = :group", saysGroupIs, otherGroup)
	each("rota_reservations", "id = :reserved", saysReserveIs, otherReservation)
	each("rota_reservations", "id = :released", saysReserveIs, otherReservation)
	for table, columns := range map[string][]string{
		"rota_types": {"paused", "version", "updated_at", "spec"}, "rota_templates": {"type", "state", "version", "updated_at", "spec", "webhooks", "since"},
		"rota_schedules": {"template", "state", "anchor", "version", "updated_at", "spec", "owner", "since"},
		"rota_throttle":  {"version", "updated_at", "spec"},
		"rota_webhooks":  {"version", "updated_at", "spec"},
		"rota_buckets":   {"type", "slot", "starts"}, "rota_intents": {"kind", "name"}, "rota_reservations": {"status", "expires_at"},
	} {
		where := "1"
		if table == "rota_reservations" {
			where = "id = :reserved"
		}
		for _, c := range columns {
			add(table+" without "+c, saysNull, "UPDATE "+table+" SET "+c+" = NULL WHERE "+where)
		}
	}
	all = append(all, forbiddenJobs()...)
	all = append(all, forbiddenDefinitions()...)
	all = append(all, forbiddenGroups()...)
	all = append(all, forbiddenRequests()...)
	all = append(all, forbiddenAccess()...)
	all = append(all, forbiddenSecrets()...)
	return append(all, forbiddenReservations()...)
}

// forbiddenJobs are jobs with inconsistent relations.
func forbiddenJobs() (all []attempt) {
	job := func(name, says string, values map[string]string) {
		all = append(all, attempt{name, insertJobSQL("INSERT", values), says})
	}
	job("a place without a group", saysCheck, map[string]string{"group_position": "1"})
	job("a group without a place", saysMember, map[string]string{"group_id": ":group"})
	job("place 0", saysCheck, map[string]string{"group_id": ":group", "group_position": "0"})
	job("a place beyond the last", saysMember, map[string]string{"group_id": ":group", "group_position": "4"})
	job("a member of nothing", saysMember, map[string]string{"group_id": "randomblob(16)", "group_position": "1"})
	job("a schedule that counts never", saysCheck, map[string]string{"schedule": "'nightly'"})
	job("what counts for no schedule", saysCheck, map[string]string{"counts_at": "7"})
	job("a wait without an end", saysCheck, map[string]string{"schedule": "'nightly'", "counts_at": "7", "wait_from": "7"})
	job("a wait without a beginning", saysCheck, map[string]string{"schedule": "'nightly'", "counts_at": "7", "wait_until": "7"})
	job("a wait without a schedule", saysCheck, map[string]string{"wait_from": "7", "wait_until": "7"})
	job("a retry that is also a redrive", saysCheck, map[string]string{
		"retry_of": ":dead", "execution_id": ":dead", "attempt": "2", "redrive_of": ":completed",
	})
	job("a turn in no group", saysCheck, map[string]string{"hold": "2"})
	job("a wait for no dependency", saysCheck, map[string]string{"hold": "4"})
	job("an overlap with no schedule", saysCheck, map[string]string{"hold": "8"})
	job("a limit of no key", saysCheck, map[string]string{"hold": "16"})
	job("a limit of no key, and a delay", saysCheck, map[string]string{"hold": "17", "run_at": "7"})
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE"} {
		all = append(all, attempt{
			or + " over a place", insertJobSQL(or, map[string]string{"group_id": ":group", "group_position": "1"}), saysPlaceTaken,
		})
	}
	return append(all,
		attempt{"a hold replaced by another", `UPDATE rota_jobs SET hold = 16 WHERE id = :second`, saysCheck},
		attempt{"a member removed", `DELETE FROM rota_jobs WHERE id = :member`, saysLeave},
	)
}

func forbiddenDefinitions() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a type", saysTypeExists, or+` INTO rota_types VALUES ('mail', 1, randomblob(16), 'eve', 8, 8, '{}')`)
		add(or+" over a template", saysTemplateThere, or+` INTO rota_templates VALUES ('digest', 'web', 'ACTIVE', randomblob(16), 'eve', 8, 8, '{}', 0, 'eve', 8)`)
		add(or+" over a schedule", saysScheduleThere, or+` INTO rota_schedules (name, template, anchor, version, created_at, updated_at, spec)
		 VALUES ('nightly', 'digest', 8, randomblob(16), 8, 8, '{}')`)
		add(or+" over a name", saysNamed, or+` INTO rota_definitions VALUES (x'00112233445586778899aabbccddeeff', 'weekly')`)
	}
	add("a name of another definition", saysNameKept, `UPDATE rota_definitions SET id = randomblob(16)`)
	add("another name of a definition", saysNameKept, `UPDATE rota_definitions SET name = 'weekly'`)
	add("a name forgotten", saysNameKept, `DELETE FROM rota_definitions`)
	add("a name of a short id", saysCheck, `INSERT INTO rota_definitions VALUES (x'00', 'weekly')`)
	add("an active template of nobody", saysCheck, `UPDATE rota_templates SET owner = NULL`)
	add("a template of a user without a name", saysCheck, `UPDATE rota_templates SET state = 'ARCHIVED', owner = ''`)
	add("a schedule of a user without a name", saysCheck, `UPDATE rota_schedules SET owner = ''`)
	add("a type half paused", saysCheck, `UPDATE rota_types SET paused = 2`)
	add("a template in no known state", saysCheck, `UPDATE rota_templates SET state = 'GONE'`)
	add("a schedule in no known state", saysCheck, `UPDATE rota_schedules SET state = 'GONE' WHERE name = 'nightly'`)
	add("a reason to be enabled", saysCheck, `UPDATE rota_schedules SET reason = 'so' WHERE name = 'nightly'`)
	add("a reason to be paused", saysCheck, `UPDATE rota_schedules SET reason = 'so' WHERE name = 'weekly'`)
	add("a disabled schedule that owes a fire", saysCheck, `UPDATE rota_schedules SET next_fire = 7 WHERE name = 'once'`)
	add("a schedule disabled with a fire owed", saysCheck, `UPDATE rota_schedules SET state = 'DISABLED' WHERE name = 'nightly'`)
	add("a fire at no time", saysType, `UPDATE rota_schedules SET last_fire = 'soon'`)
	add("a calendar moved at no time", saysType, `UPDATE rota_schedules SET moved_at = 'soon'`)
	add("a schedule resumed at no time", saysType, `UPDATE rota_schedules SET resumed_at = 'soon'`)
	add("a schedule triggered at no time", saysType, `UPDATE rota_schedules SET triggered_at = 'soon'`)
	add("a schedule that depends on itself", saysCheck, `INSERT INTO rota_edges VALUES ('nightly', 'nightly')`)
	add("an edge of a missing schedule", saysEdgeOf, `INSERT INTO rota_edges VALUES ('nobody', 'nightly')`)
	add("an edge moved to another schedule", saysEdgeKept, `UPDATE rota_edges SET schedule = 'once'`)
	add("an edge to another schedule", saysEdgeKept, `UPDATE rota_edges SET depends_on = 'once'`)
	add("two sets of limits", saysCheck, `INSERT INTO rota_throttle VALUES (2, randomblob(16), 'eve', 7, '{}')`)
	add("limits that are not the ones", saysCheck, `UPDATE rota_throttle SET id = 2`)
	add("two lists of webhooks", saysCheck, `INSERT INTO rota_webhooks VALUES (2, randomblob(16), 'eve', 7, '[]')`)
	add("webhooks that are not the ones", saysCheck, `UPDATE rota_webhooks SET id = 2`)
	add("webhooks of a number", saysType, `UPDATE rota_webhooks SET updated_by = x'00'`)
	add("limits of a number", saysType, `UPDATE rota_throttle SET updated_by = x'00'`)
	for _, or := range []string{"INSERT", "INSERT OR REPLACE"} {
		add(or+" over what was dropped", saysDroppedBefore, or+` INTO rota_dropped VALUES ('nightly', 7, NULL, 'eve')`)
	}
	add("a drop of another", saysDropped, `UPDATE rota_dropped SET schedule = 'weekly'`)
	add("a drop that ends earlier", saysDropped, `UPDATE rota_dropped SET made_before = 8`)
	add("a drop that hides less", saysDropped, `UPDATE rota_dropped SET hidden_before = 7`)
	add("a drop that hides nothing any more", saysDropped, `UPDATE rota_dropped SET hidden_before = NULL`)
	add("a drop that hides what it does not end", saysCheck, `UPDATE rota_dropped SET hidden_before = 10`)
	add("a drop by a number", saysType, `UPDATE rota_dropped SET dropped_by = x'00'`)
	add("an intent of no known kind", saysCheck, `INSERT INTO rota_intents VALUES ('wish', 'k')`)
	return all
}

func forbiddenGroups() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a group", saysGroupThere, groupSQL(or, ":stopped", "'parallel'", "'stop'", "3", "NULL"))
	}
	add("a group that enters ended", saysGroupEnters, groupSQL("INSERT", "randomblob(16)", "'parallel'", "'stop'", "3", "'stop'"))
	add("a group that enters pruned", saysGroupEnters, `INSERT INTO rota_groups (id, mode, on_failure, size, created_at, pruned)
	 VALUES (randomblob(16), 'parallel', 'stop', 3, 7, '{}')`)
	add("an unknown mode", saysCheck, groupSQL("INSERT", "randomblob(16)", "'odd'", "'stop'", "3", "NULL"))
	add("an unknown policy", saysCheck, groupSQL("INSERT", "randomblob(16)", "'parallel'", "'odd'", "3", "NULL"))
	add("a group without members", saysCheck, groupSQL("INSERT", "randomblob(16)", "'parallel'", "'stop'", "0", "NULL"))
	add("an unknown ending", saysCheck, `UPDATE rota_groups SET ending = 'odd' WHERE id = :group`)
	add("a reason to end without an end", saysCheck, `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :group`)
	add("an actor of an end without an end", saysCheck, `UPDATE rota_groups SET ending_by = 'eve' WHERE id = :group`)
	add("an ending taken back", saysGroupEnded, `UPDATE rota_groups SET ending = NULL, ending_reason = NULL, ending_by = NULL WHERE id = :stopped`)
	add("another ending", saysGroupEnded, `UPDATE rota_groups SET ending = 'skip' WHERE id = :stopped`)
	add("another reason of the end", saysGroupEnded, `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :stopped`)
	add("another actor of the end", saysGroupEnded, `UPDATE rota_groups SET ending_by = 'eve' WHERE id = :stopped`)
	add("a cancelled group stopped", saysGroupEnded, `UPDATE rota_groups SET ending = 'stop' WHERE id = :called`)
	add("another reason to cancel", saysGroupEnded, `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :called`)
	add("pruned members that are no text", saysType, `UPDATE rota_groups SET pruned = x'00' WHERE id = :group`)
	add("a group removed before its members", saysGroupLeave, `DELETE FROM rota_groups WHERE id = :group`)
	return all
}

func forbiddenRequests() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a key", saysRequestTied, requestSQL(or, "'ada'", "'order-7'", "randomblob(16)", hash64))
	}
	for column, value := range map[string]string{
		"actor": "'eve'", "key": "'other'", "at": "8", "command_id": "randomblob(16)", "hash": "upper(hash)",
	} {
		add("a key with another "+column, saysRequestKept, `UPDATE rota_requests SET `+column+` = `+value)
		add("a key without "+column, saysRequestKept, `UPDATE rota_requests SET `+column+` = NULL`)
	}
	add("a key of nothing", saysCheck, requestSQL("INSERT", "'ada'", "''", "randomblob(16)", hash64))
	add("a key without an actor", saysNull, requestSQL("INSERT", "NULL", "'k'", "randomblob(16)", hash64))
	add("a key tied to no command", saysCheck, requestSQL("INSERT", "'ada'", "'k'", "randomblob(15)", hash64))
	add("a key tied to no request", saysCheck, requestSQL("INSERT", "'ada'", "'k'", "randomblob(16)", "'0123'"))
	return all
}

func forbiddenReservations() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	for _, or := range []string{"INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"} {
		add(or+" over a reservation", saysReserveThere, reserveSQL(or, ":released", "'ACTIVE'", "NULL"))
		add(or+" beside the active reservation", saysReserveOne, reserveSQL(or, "randomblob(16)", "'ACTIVE'", "NULL"))
	}
	add("a reservation that enters ended", saysReserveEnters, reserveSQL("INSERT", "randomblob(16)", "'RELEASED'", "8"))
	add("a reservation in no known state", saysCheck, `UPDATE rota_reservations SET status = 'GONE' WHERE id = :reserved`)
	add("an active reservation that ended", saysCheck, `UPDATE rota_reservations SET ended_at = 8 WHERE id = :reserved`)
	add("a release without an end", saysCheck, `UPDATE rota_reservations SET status = 'RELEASED' WHERE id = :reserved`)
	add("an expiry without an end", saysCheck, `UPDATE rota_reservations SET status = 'EXPIRED' WHERE id = :reserved`)
	add("a reservation active again", saysReserveOnce, `UPDATE rota_reservations SET status = 'ACTIVE', ended_at = NULL WHERE id = :released`)
	add("an update over the active reservation", saysReserveOnce, `UPDATE OR REPLACE rota_reservations SET status = 'ACTIVE', ended_at = NULL WHERE id = :released`)
	add("a second end of a reservation", saysReserveOnce, `UPDATE rota_reservations SET ended_at = 9 WHERE id = :released`)
	add("another end of a reservation", saysReserveOnce, `UPDATE rota_reservations SET status = 'EXPIRED' WHERE id = :released`)
	add("a longer reservation that ended", saysReserveOnce, `UPDATE rota_reservations SET expires_at = 99 WHERE id = :released`)
	add("a run of a reservation that ended", saysReserveOnce, `UPDATE rota_reservations SET job_id = :running WHERE id = :released`)
	add("a second run of a reservation", saysReserveOnce, `UPDATE rota_reservations SET job_id = :queued WHERE id = :reserved`)
	add("the active reservation removed", saysReserveLeave, `DELETE FROM rota_reservations WHERE id = :reserved`)
	return all
}

// allowedRelated are statements that are similar to forbidden ones and pass.
var allowedRelated = []attempt{
	{name: "a type paused", sql: `UPDATE rota_types SET paused = 1, version = randomblob(16), updated_at = 8, spec = '{}'`},
	{name: "a template archived", sql: `UPDATE rota_templates SET state = 'ARCHIVED', type = 'web', spec = '{}'`},
	{name: "a fire", sql: `UPDATE rota_schedules SET next_fire = 10, last_fire = 9, moved_at = 9 WHERE name = 'nightly'`},
	{name: "a schedule disabled", sql: `UPDATE rota_schedules SET state = 'DISABLED', next_fire = NULL, reason = 'so' WHERE name = 'nightly'`},
	{name: "a schedule enabled", sql: `UPDATE rota_schedules SET state = 'ENABLED', next_fire = 10, reason = NULL WHERE name = 'once'`},
	{name: "a schedule removed", sql: `DELETE FROM rota_schedules WHERE name = 'weekly'`},
	{name: "another definition", sql: `INSERT INTO rota_definitions VALUES (randomblob(16), 'weekly')`},
	{name: "a dependency removed", sql: `DELETE FROM rota_edges`},
	{name: "a dependency", sql: `INSERT INTO rota_edges VALUES ('once', 'nightly')`},
	{name: "a starting type", sql: `UPDATE rota_buckets SET slot = 8, starts = '[2]'`},
	{name: "a group stopped", sql: `UPDATE rota_groups SET ending = 'stop', ending_reason = 'one died', ending_by = 'ada' WHERE id = :group`},
	{name: "a stopped group cancelled", sql: `UPDATE rota_groups SET ending = 'cancel', ending_reason = 'no', ending_by = 'eve' WHERE id = :stopped`},
	{name: "a member pruned", sql: `UPDATE rota_groups SET pruned = '{"dead":1}' WHERE id = :called`},
	{name: "a group without members removed", sql: `DELETE FROM rota_groups WHERE id = :stopped`},
	{name: "another member", sql: insertJobSQL("INSERT", map[string]string{"group_id": ":group", "group_position": "3"})},
	{name: "a job that waits", sql: insertJobSQL("INSERT", map[string]string{
		"schedule": "'nightly'", "counts_at": "7", "wait_from": "6", "wait_until": "9", "hold": "12", "queued_at": "NULL",
	})},
	{name: "a job that its key holds back", sql: insertJobSQL("INSERT", map[string]string{"concurrency_key": "'k'", "hold": "16"})},
	{name: "a redrive", sql: insertJobSQL("INSERT", map[string]string{"redrive_of": ":dead"})},
	{name: "a member whose turn it is", sql: `UPDATE rota_jobs SET hold = 0, queued_at = 7 WHERE id = :second`},
	{name: "a reservation extended", sql: `UPDATE rota_reservations SET expires_at = 99 WHERE id = :reserved`},
	{name: "a reservation expired", sql: `UPDATE rota_reservations SET status = 'EXPIRED', ended_at = 9 WHERE id = :reserved`},
	{name: "an ended reservation removed", sql: `DELETE FROM rota_reservations WHERE id = :released`},
	{name: "an audit entry about a schedule", sql: `INSERT INTO rota_audit (id, at, act, subject) VALUES (randomblob(16), 7, 'X', 'schedule nightly')`},
}
