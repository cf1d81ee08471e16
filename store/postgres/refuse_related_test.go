package postgres

import (
	"maps"
	"slices"
)

// Messages with which the database refuses statements on groups, definitions, requests and
// reservations.
const (
	saysMember        = "a place in a group that exists"
	saysTypeIs        = "the name and the origin of a type never change"
	saysTemplateIs    = "the name and the origin of a template never change"
	saysScheduleIs    = "the name and the origin of a schedule never change"
	saysEdgeKept      = "a dependency is made or removed"
	saysGroupEnters   = "a group enters without an end"
	saysGroupIs       = "what a group is never changes"
	saysGroupEnded    = "a group that was ended stays so"
	saysGroupLeave    = "a group leaves after its members"
	saysReserveEnters = "a reservation enters as ACTIVE"
	saysReserveIs     = "whose a reservation is never changes"
	saysReserveOnce   = "a reservation ends once"
	saysReserveLeave  = "only a reservation that has ended"
	saysDropped       = "what was dropped stays so"
	saysRequestKept   = "a key is tied once"
	saysNameKept      = "the name of a definition is kept"
)

// relatedRows are one row of each kind. One group has two members and another was stopped. One
// reservation has ended and one is active.
var relatedRows = []string{
	`INSERT INTO rota_types (name, version, created_by, created_at, updated_at, spec) VALUES ('mail', gen_random_uuid(), 'ada', 7, 7, '{}')`,
	`INSERT INTO rota_templates (name, type, version, created_by, created_at, updated_at, spec) VALUES ('digest', 'mail', gen_random_uuid(), 'ada', 7, 7, '{}')`,
	`INSERT INTO rota_schedules (name, template, anchor, next_fire, version, created_by, created_at, updated_at, spec)
	 VALUES ('nightly', 'digest', 7, 9, gen_random_uuid(), 'ada', 7, 7, '{}')`,
	`INSERT INTO rota_schedules (name, template, state, anchor, next_fire, version, created_at, updated_at, spec)
	 VALUES ('weekly', 'digest', 'PAUSED', 7, 9, gen_random_uuid(), 7, 7, '{}')`,
	`INSERT INTO rota_schedules (name, template, state, reason, anchor, version, created_at, updated_at, spec)
	 VALUES ('once', 'digest', 'DISABLED', 'it has', 7, gen_random_uuid(), 7, 7, '{}')`,
	`INSERT INTO rota_edges VALUES ('weekly', 'nightly')`,
	`INSERT INTO rota_definitions VALUES ('00112233-4455-8677-8899-aabbccddeeff', 'nightly')`,
	`INSERT INTO rota_throttle VALUES (1, gen_random_uuid(), 'ada', 7, '{}')`,
	`INSERT INTO rota_webhooks VALUES (1, gen_random_uuid(), 'ada', 7, '[]')`,
	`INSERT INTO rota_buckets VALUES ('mail', 7, '[1]')`,
	`INSERT INTO rota_intents VALUES ('key', 'k')`,
	`INSERT INTO rota_intents VALUES ('keys', '')`,
	`INSERT INTO rota_dropped VALUES ('nightly', 9, 8, 'ada')`,
	requestSQL("'ada'", "'order-7'", hash64),
	groupSQL(":group", "'parallel'", "'stop'", "3", "NULL"),
	groupSQL(":stopped", "'parallel'", "'stop'", "3", "NULL"),
	`UPDATE rota_groups SET ending = 'stop', ending_reason = 'one died', ending_by = 'ada' WHERE id = :stopped`,
	groupSQL(":called", "'parallel'", "'stop'", "3", "NULL"),
	`UPDATE rota_groups SET ending = 'cancel', ending_reason = 'no', ending_by = 'ada' WHERE id = :called`,
	insertJobSQL(map[string]string{"id": ":member", "group_id": ":group", "group_position": "1"}),
	insertJobSQL(map[string]string{"id": ":second", "group_id": ":group", "group_position": "2", "hold": "2", "queued_at": "NULL"}),
	reserveSQL(":released", "'ACTIVE'", "NULL"),
	`UPDATE rota_reservations SET status = 'RELEASED', ended_at = 8 WHERE id = :released`,
	reserveSQL(":reserved", "'ACTIVE'", "NULL"),
	`UPDATE rota_reservations SET job_id = :running WHERE id = :reserved`,
}

const hash64 = `'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'`

func requestSQL(actor, key, hash string) string {
	return `INSERT INTO rota_requests (actor, key, at, command_id, hash)
VALUES (` + actor + `, ` + key + `, 7, gen_random_uuid(), ` + hash + `)`
}

func reserveSQL(id, status, ended string) string {
	return `INSERT INTO rota_reservations (id, node, status, reserved_by, reserved_at, expires_at, ended_at)
VALUES (` + id + `, 'node', ` + status + `, 'ada', 7, 9, ` + ended + `)`
}

func groupSQL(id, mode, failure, size, ending string) string {
	return `INSERT INTO rota_groups (id, mode, on_failure, size, created_at, ending)
VALUES (` + id + `, ` + mode + `, ` + failure + `, ` + size + `, 7, ` + ending + `)`
}

// Other values for the columns of named rows, groups and reservations.
var (
	otherOrigin = map[string]string{"name": "'other'", "created_by": "'eve'", "created_at": "8"}
	otherGroup  = map[string]string{
		"id": "gen_random_uuid()", "name": "'other'", "mode": "'sequential'", "on_failure": "'skip'", "size": "9",
		"created_by": "'eve'", "created_at": "8",
	}
	otherReservation = map[string]string{
		"id": "gen_random_uuid()", "node": "'other'", "life": "gen_random_uuid()", "reserved_by": "'eve'", "reserved_at": "8",
	}
	never = map[string][]string{ // columns that are never NULL
		"rota_types":     {"paused", "version", "updated_at", "spec"},
		"rota_templates": {"type", "state", "version", "updated_at", "spec", "webhooks", "since"},
		"rota_schedules": {"template", "state", "anchor", "version", "updated_at", "spec", "owner", "since"},
		"rota_throttle":  {"version", "updated_at", "spec"},
		"rota_webhooks":  {"version", "updated_at", "spec"},
		"rota_buckets":   {"type", "slot", "starts"}, "rota_intents": {"kind", "name"}, "rota_reservations": {"status", "expires_at"},
	}
)

// forbiddenRelated returns the forbidden statements on these tables.
func forbiddenRelated() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	each := func(table, where, says string, columns map[string]string) {
		for _, c := range slices.Sorted(maps.Keys(columns)) {
			add(table+": "+c+" "+where, says, "UPDATE "+table+" SET "+c+" = "+columns[c]+" WHERE "+where)
		}
	}
	each("rota_types", "name = 'mail'", saysTypeIs, otherOrigin)
	each("rota_templates", "name = 'digest'", saysTemplateIs, otherOrigin)
	each("rota_schedules", "name = 'nightly'", saysScheduleIs, otherOrigin)
	each("rota_groups", "id = :stopped", saysGroupIs, otherGroup)
	each("rota_reservations", "id = :reserved", saysReserveIs, otherReservation)
	each("rota_reservations", "id = :released", saysReserveIs, otherReservation)
	for _, table := range slices.Sorted(maps.Keys(never)) {
		for _, c := range never[table] {
			add(table+" without "+c, saysNull, "UPDATE "+table+" SET "+c+" = NULL")
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
		all = append(all, attempt{name, insertJobSQL(values), says})
	}
	job("a place without a group", "jobs_member", map[string]string{"group_position": "1"})
	job("a group without a place", "jobs_member", map[string]string{"group_id": ":group"})
	job("place 0", "jobs_member", map[string]string{"group_id": ":group", "group_position": "0"})
	job("a place beyond the last", saysMember, map[string]string{"group_id": ":group", "group_position": "4"})
	job("a place that is taken", "jobs_group", map[string]string{"group_id": ":group", "group_position": "1"})
	job("a member of nothing", saysMember, map[string]string{"group_id": "gen_random_uuid()", "group_position": "1"})
	job("a schedule that counts never", "jobs_schedule", map[string]string{"schedule": "'nightly'"})
	job("what counts for no schedule", "jobs_schedule", map[string]string{"counts_at": "7"})
	job("a wait without an end", "jobs_schedule", map[string]string{"schedule": "'nightly'", "counts_at": "7", "wait_from": "7"})
	job("a wait without a beginning", "jobs_schedule", map[string]string{"schedule": "'nightly'", "counts_at": "7", "wait_until": "7"})
	job("a wait without a schedule", "jobs_schedule", map[string]string{"wait_from": "7", "wait_until": "7"})
	job("a retry that is a redrive", "jobs_redrive", map[string]string{
		"retry_of": ":dead", "execution_id": ":dead", "attempt": "2", "redrive_of": ":completed",
	})
	job("a turn in no group", saysHold, map[string]string{"hold": "2"})
	job("a wait for no dependency", saysHold, map[string]string{"hold": "4"})
	job("an overlap with no schedule", saysHold, map[string]string{"hold": "8"})
	job("a limit of no key", saysHold, map[string]string{"hold": "16"})
	job("a limit of no key, and a delay", saysHold, map[string]string{"hold": "17", "run_at": "7"})
	return append(all,
		attempt{"another hold of a held job", `UPDATE rota_jobs SET hold = 16 WHERE id = :second`, saysHold},
		attempt{"a member of another group", `UPDATE rota_jobs SET group_id = :called WHERE id = :member`, saysIdentity},
		attempt{"a member at another place", `UPDATE rota_jobs SET group_position = 3 WHERE id = :member`, saysIdentity},
		attempt{"a member removed", `DELETE FROM rota_jobs WHERE id = :member`, saysLeave},
	)
}

func forbiddenDefinitions() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a type", "types_pkey", `INSERT INTO rota_types SELECT * FROM rota_types`)
	add("over a template", "templates_pkey", `INSERT INTO rota_templates SELECT * FROM rota_templates`)
	add("over a schedule", "schedules_pkey", `INSERT INTO rota_schedules SELECT * FROM rota_schedules`)
	add("over a name", "definitions_pkey", `INSERT INTO rota_definitions SELECT * FROM rota_definitions`)
	add("a name of another definition", saysNameKept, `UPDATE rota_definitions SET id = gen_random_uuid()`)
	add("another name of a definition", saysNameKept, `UPDATE rota_definitions SET name = 'weekly'`)
	add("a name forgotten", saysNameKept, `DELETE FROM rota_definitions`)
	add("all names forgotten", saysNameKept, `TRUNCATE rota_definitions`)
	add("a template in no known state", "templates_state", `UPDATE rota_templates SET state = 'GONE'`)
	add("a schedule in no known state", "schedules_state", `UPDATE rota_schedules SET state = 'GONE' WHERE name = 'nightly'`)
	add("a reason to be enabled", "schedules_state", `UPDATE rota_schedules SET reason = 'so' WHERE name = 'nightly'`)
	add("a reason to be paused", "schedules_state", `UPDATE rota_schedules SET reason = 'so' WHERE name = 'weekly'`)
	add("a disabled schedule that owes a fire", "schedules_state", `UPDATE rota_schedules SET next_fire = 7 WHERE name = 'once'`)
	add("a schedule disabled with a fire owed", "schedules_state", `UPDATE rota_schedules SET state = 'DISABLED' WHERE name = 'nightly'`)
	add("an active template of nobody", "templates_owner", `UPDATE rota_templates SET owner = NULL`)
	add("a template of a user without a name", "templates_owner", `UPDATE rota_templates SET state = 'ARCHIVED', owner = ''`)
	add("a schedule of a user without a name", "schedules_owner", `UPDATE rota_schedules SET owner = ''`)
	add("a fire at no time", saysSyntax, `UPDATE rota_schedules SET last_fire = 'soon'`)
	add("a calendar moved at no time", saysSyntax, `UPDATE rota_schedules SET moved_at = 'soon'`)
	add("a schedule resumed at no time", saysSyntax, `UPDATE rota_schedules SET resumed_at = 'soon'`)
	add("a schedule triggered at no time", saysSyntax, `UPDATE rota_schedules SET triggered_at = 'soon'`)
	add("a schedule that depends on itself", "edges_self", `INSERT INTO rota_edges VALUES ('nightly', 'nightly')`)
	add("an edge of no schedule", "edges_schedule_fkey", `INSERT INTO rota_edges VALUES ('missing', 'nightly')`)
	add("an edge of another schedule", saysEdgeKept, `UPDATE rota_edges SET schedule = 'once'`)
	add("an edge to another dependency", saysEdgeKept, `UPDATE rota_edges SET depends_on = 'once'`)
	add("two sets of limits", "throttle_one", `INSERT INTO rota_throttle VALUES (2, gen_random_uuid(), 'eve', 7, '{}')`)
	add("limits that are not the ones", "throttle_one", `UPDATE rota_throttle SET id = 2`)
	add("limits set by no text", "invalid byte sequence", `UPDATE rota_throttle SET updated_by = E'\xff'`)
	add("two lists of webhooks", "webhooks_one", `INSERT INTO rota_webhooks VALUES (2, gen_random_uuid(), 'eve', 7, '[]')`)
	add("webhooks that are not the ones", "webhooks_one", `UPDATE rota_webhooks SET id = 2`)
	add("webhooks set by no text", "invalid byte sequence", `UPDATE rota_webhooks SET updated_by = E'\xff'`)
	add("a log chunk before its log", "log_chunks_span", `INSERT INTO rota_log_chunks VALUES (gen_random_uuid(), -1, 1, false, 7, 'a')`)
	add("a log chunk without text", "log_chunks_span", `INSERT INTO rota_log_chunks VALUES (gen_random_uuid(), 0, 0, false, 7, '')`)
	add("two leaders", "leader_one", `INSERT INTO rota_leader VALUES (2, 'eve', gen_random_uuid(), 7, 7)`)
	add("over what was dropped", "dropped_pkey", `INSERT INTO rota_dropped VALUES ('nightly', 7, NULL, 'eve')`)
	add("a drop of another", saysDropped, `UPDATE rota_dropped SET schedule = 'weekly'`)
	add("a drop that ends earlier", saysDropped, `UPDATE rota_dropped SET made_before = 8`)
	add("a drop that hides less", saysDropped, `UPDATE rota_dropped SET hidden_before = 7`)
	add("a drop that hides nothing any more", saysDropped, `UPDATE rota_dropped SET hidden_before = NULL`)
	add("a drop that hides what it does not end", "dropped_hidden", `UPDATE rota_dropped SET hidden_before = 10`)
	add("a drop by no text", "invalid byte sequence", `UPDATE rota_dropped SET dropped_by = E'\xff'`)
	add("a drop that never was", saysNull, `UPDATE rota_dropped SET made_before = NULL`)
	add("an intent of no known kind", "intents_kind", `INSERT INTO rota_intents VALUES ('wish', 'k')`)
	return all
}

func forbiddenGroups() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a group", "groups_pkey", groupSQL(":stopped", "'parallel'", "'stop'", "3", "NULL"))
	add("a group that enters ended", saysGroupEnters, groupSQL("gen_random_uuid()", "'parallel'", "'stop'", "3", "'stop'"))
	add("a group that enters pruned", saysGroupEnters, `INSERT INTO rota_groups (id, mode, on_failure, size, created_at, pruned)
	 VALUES (gen_random_uuid(), 'parallel', 'stop', 3, 7, '{}')`)
	add("an unknown mode", "groups_mode", groupSQL("gen_random_uuid()", "'unknown'", "'stop'", "3", "NULL"))
	add("an unknown policy", "groups_on_failure", groupSQL("gen_random_uuid()", "'parallel'", "'unknown'", "3", "NULL"))
	add("a group without members", "groups_size", groupSQL("gen_random_uuid()", "'parallel'", "'stop'", "0", "NULL"))
	add("an unknown ending", "groups_end", `UPDATE rota_groups SET ending = 'unknown' WHERE id = :group`)
	add("a reason to end without an end", "groups_end", `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :group`)
	add("an actor without an ending", "groups_end", `UPDATE rota_groups SET ending_by = 'eve' WHERE id = :group`)
	add("an ending taken back", saysGroupEnded, `UPDATE rota_groups SET ending = NULL, ending_reason = NULL, ending_by = NULL WHERE id = :stopped`)
	add("another ending", saysGroupEnded, `UPDATE rota_groups SET ending = 'skip' WHERE id = :stopped`)
	add("another reason of the end", saysGroupEnded, `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :stopped`)
	add("another actor of the ending", saysGroupEnded, `UPDATE rota_groups SET ending_by = 'eve' WHERE id = :stopped`)
	add("a cancelled group stopped", saysGroupEnded, `UPDATE rota_groups SET ending = 'stop' WHERE id = :called`)
	add("another reason to cancel", saysGroupEnded, `UPDATE rota_groups SET ending_reason = 'so' WHERE id = :called`)
	add("pruned members that are no text", "invalid byte sequence", `UPDATE rota_groups SET pruned = E'\xff' WHERE id = :group`)
	add("a group removed before its members", saysGroupLeave, `DELETE FROM rota_groups WHERE id = :group`)
	return all
}

func forbiddenRequests() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a key", "requests_pkey", requestSQL("'ada'", "'order-7'", hash64))
	for column, value := range map[string]string{
		"actor": "'eve'", "key": "'other'", "at": "8", "command_id": "gen_random_uuid()", "hash": "upper(hash)",
	} {
		add("a key with another "+column, saysRequestKept, `UPDATE rota_requests SET `+column+` = `+value)
		add("a key without "+column, saysRequestKept, `UPDATE rota_requests SET `+column+` = NULL`)
	}
	add("a key of nothing", "requests_key", requestSQL("'ada'", "''", hash64))
	add("a key without an actor", saysNull, requestSQL("NULL", "'k'", hash64))
	add("a key tied to no request", "requests_hash", requestSQL("'ada'", "'k'", "'0123'"))
	return all
}

func forbiddenReservations() (all []attempt) {
	add := func(name, says, sql string) { all = append(all, attempt{name, sql, says}) }
	add("over a reservation", "reservations_pkey", reserveSQL(":released", "'ACTIVE'", "NULL"))
	add("beside the active reservation", "reservations_active", reserveSQL("gen_random_uuid()", "'ACTIVE'", "NULL"))
	add("a reservation that enters ended", saysReserveEnters, reserveSQL("gen_random_uuid()", "'RELEASED'", "8"))
	add("a reservation in no known state", "reservations_state", `UPDATE rota_reservations SET status = 'GONE' WHERE id = :reserved`)
	add("an active reservation that ended", "reservations_state", `UPDATE rota_reservations SET ended_at = 8 WHERE id = :reserved`)
	add("a release without an end", "reservations_state", `UPDATE rota_reservations SET status = 'RELEASED' WHERE id = :reserved`)
	add("an expiry without an end", "reservations_state", `UPDATE rota_reservations SET status = 'EXPIRED' WHERE id = :reserved`)
	add("a reservation active again", "reservations_active", `UPDATE rota_reservations SET status = 'ACTIVE', ended_at = NULL WHERE id = :released`)
	add("a second end of a reservation", saysReserveOnce, `UPDATE rota_reservations SET ended_at = 9 WHERE id = :released`)
	add("another end of a reservation", saysReserveOnce, `UPDATE rota_reservations SET status = 'EXPIRED' WHERE id = :released`)
	add("a longer reservation that ended", saysReserveOnce, `UPDATE rota_reservations SET expires_at = 99 WHERE id = :released`)
	add("a run of a reservation that ended", saysReserveOnce, `UPDATE rota_reservations SET job_id = :running WHERE id = :released`)
	add("a second run of a reservation", saysReserveOnce, `UPDATE rota_reservations SET job_id = :queued WHERE id = :reserved`)
	add("the active reservation removed", saysReserveLeave, `DELETE FROM rota_reservations WHERE id = :reserved`)
	return all
}

// allowedRelated are allowed statements that resemble the forbidden ones.
var allowedRelated = []attempt{
	{name: "a type paused", sql: `UPDATE rota_types SET paused = true, version = gen_random_uuid(), updated_at = 8, spec = '{}'`},
	{name: "a template archived", sql: `UPDATE rota_templates SET state = 'ARCHIVED', type = 'web', spec = '{}'`},
	{name: "a fire", sql: `UPDATE rota_schedules SET next_fire = 10, last_fire = 9, moved_at = 9 WHERE name = 'nightly'`},
	{name: "a schedule disabled", sql: `UPDATE rota_schedules SET state = 'DISABLED', next_fire = NULL, reason = 'so' WHERE name = 'nightly'`},
	{name: "a schedule enabled", sql: `UPDATE rota_schedules SET state = 'ENABLED', next_fire = 10, reason = NULL WHERE name = 'once'`},
	{name: "a schedule removed", sql: `DELETE FROM rota_schedules WHERE name = 'weekly'`},
	{name: "another definition", sql: `INSERT INTO rota_definitions VALUES (gen_random_uuid(), 'weekly')`},
	{name: "a dependency removed", sql: `DELETE FROM rota_edges`},
	{name: "a dependency", sql: `INSERT INTO rota_edges VALUES ('once', 'nightly')`},
	{name: "a starting type", sql: `UPDATE rota_buckets SET slot = 8, starts = '[2]'`},
	{name: "a group stopped", sql: `UPDATE rota_groups SET ending = 'stop', ending_reason = 'one died', ending_by = 'ada' WHERE id = :group`},
	{name: "a stopped group cancelled", sql: `UPDATE rota_groups SET ending = 'cancel', ending_reason = 'no', ending_by = 'eve' WHERE id = :stopped`},
	{name: "a member pruned", sql: `UPDATE rota_groups SET pruned = '{"dead":1}' WHERE id = :called`},
	{name: "a group without members removed", sql: `DELETE FROM rota_groups WHERE id = :stopped`},
	{name: "another member", sql: insertJobSQL(map[string]string{"group_id": ":group", "group_position": "3"})},
	{name: "a job that waits", sql: insertJobSQL(map[string]string{
		"schedule": "'nightly'", "counts_at": "7", "wait_from": "6", "wait_until": "9", "hold": "12", "queued_at": "NULL",
	})},
	{name: "a job that its key holds back", sql: insertJobSQL(map[string]string{"concurrency_key": "'k'", "hold": "16"})},
	{name: "a redrive", sql: insertJobSQL(map[string]string{"redrive_of": ":dead"})},
	{name: "a member whose turn it is", sql: `UPDATE rota_jobs SET hold = 0, queued_at = 7 WHERE id = :second`},
	{name: "a reservation extended", sql: `UPDATE rota_reservations SET expires_at = 99 WHERE id = :reserved`},
	{name: "a reservation expired", sql: `UPDATE rota_reservations SET status = 'EXPIRED', ended_at = 9 WHERE id = :reserved`},
	{name: "an ended reservation removed", sql: `DELETE FROM rota_reservations WHERE id = :released`},
	{name: "an audit entry about a schedule", sql: `INSERT INTO rota_audit (id, at, act, subject) VALUES (gen_random_uuid(), 7, 'X', 'schedule nightly')`},
}
