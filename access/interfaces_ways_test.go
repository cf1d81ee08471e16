package access_test

import (
	"github.com/rotajobs/rota"
)

// way is one thing that people do, through each interface that has it. Paths, bodies and statements have placeholders.
type way struct {
	name  string
	route string // method and path, as the OpenAPI document has them; empty: HTTP does not have it
	query string // behind the path
	body  string
	sql   string // empty: SQL does not have it

	shows   string // text in an answer that shows the thing: a list without it is NotFound
	sqlShow string // the same in rows, if it differs
	stream  bool   // the answer does not end
	refers  string // definition that a field of the body names; the status is 422 if the caller may not see it

	verb    rota.Verb // the command that it sends
	reads   []string  // the methods of the store that it calls
	require bool      // it is no command: the API requires a privilege on all jobs
	reading bool      // with require: a token of scope read is enough

	need    rota.Privilege      // the privilege, if it is not that of the table
	why     string              // why it is not
	on      string              // the definition; empty: the privilege on all jobs
	hides   bool                // without the privilege it is NotFound for everybody
	seenBy  rota.Privilege      // who lacks the privilege and this one does not see it: NotFound
	filters bool                // it is about what the caller sees only: without seenBy it is NotFound
	owner   bool                // the owner may, without the privilege
	public  bool                // everybody may, whose token has the scope
	any     bool                // everybody may
	target  string              // the {name} of the path; empty: on
	prepare func(d *interfaces) // before the first, and after each that was allowed
}

func (w *way) sqlShows() string {
	if w.sqlShow != "" {
		return w.sqlShow
	}
	return w.shows
}

// ways of the matrix. Each command, each read and each route has a row.
var ways = slicesOf(jobWays, runWays, definitionWays, serverWays, accessWays)

func slicesOf(parts ...[]way) (all []way) {
	for _, p := range parts {
		all = append(all, p...)
	}
	return all
}

var jobWays = []way{
	{name: "an ad-hoc job", route: "POST /jobs", body: `{"type": "mail"}`, verb: rota.VerbEnqueue},
	{
		name: "an ad-hoc command", route: "POST /jobs", body: `{"type": "exec", "params": {"command": "/bin/true"}, "delay": "1h"}`, verb: rota.VerbEnqueue,
		need: rota.Admin, why: "CREATE JOB and EXECUTE EXTERNAL JOB, which only administrators have both here",
	},
	{
		name: "a job from a template", route: "POST /jobs", body: `{"template": "{job}"}`, verb: rota.VerbEnqueue,
		need: rota.ExecuteJob, why: "it has a template", on: "nightly", refers: "nightly",
	},
	{
		name: "many jobs from a template", route: "POST /jobs/batch", body: `{"jobs": [{"template": "{job}"}, {"template": "{job}"}]}`, verb: rota.VerbEnqueue,
		need: rota.ExecuteJob, why: "they have a template", on: "nightly", refers: "nightly",
	},
	{name: "an ad-hoc group", route: "POST /groups", body: `{"jobs": [{"type": "mail"}]}`, verb: rota.VerbEnqueueGroup},
	{
		name: "a group from a template", route: "POST /groups", body: `{"jobs": [{"template": "{job}"}]}`, verb: rota.VerbEnqueueGroup,
		need: rota.ExecuteJob, why: "it has a template", on: "nightly", refers: "nightly",
	},
	{name: "a direct run", route: "POST /direct", body: `{"type": "noop"}`, verb: rota.VerbDirect},
	{
		name: "a direct run of a template", route: "POST /direct", body: `{"template": "{job}"}`, verb: rota.VerbDirect,
		need: rota.ExecuteJob, why: "it has a template", on: "quick", refers: "quick",
	},

	{name: "edit a job", route: "PATCH /jobs/{id}", body: `{"priority": 7}`, verb: rota.VerbEdit, on: "nightly", prepare: (*interfaces).queued},
	{name: "edit params", route: "PATCH /jobs/{id}", body: `{"params": {"a": 1}}`, verb: rota.VerbEdit, on: "nightly", prepare: (*interfaces).queued},
	{name: "merge params", route: "PATCH /jobs/{id}", body: `{"merge_params": {"a": 1}}`, verb: rota.VerbEdit, on: "nightly", prepare: (*interfaces).queued},
	{name: "move a job", route: "POST /jobs/{id}/move", body: `{"to": "top"}`, verb: rota.VerbMove, on: "nightly", prepare: (*interfaces).queued},
	{name: "cancel a job", route: "POST /jobs/{id}/cancel", sql: "CANCEL JOB RUN '{id}'", verb: rota.VerbCancel, on: "nightly", prepare: (*interfaces).queued},
	{name: "run a waiting job now", route: "POST /jobs/{id}/run-now", verb: rota.VerbEdit, on: "nightly", prepare: (*interfaces).delayed},
	{name: "retry a job", route: "POST /jobs/{id}/retry", verb: rota.VerbRedrive, on: "nightly", prepare: (*interfaces).cancelled},
	{name: "retry with params", route: "POST /jobs/{id}/retry", body: `{"params": {"a": 1}}`, verb: rota.VerbRedrive, on: "nightly", prepare: (*interfaces).cancelled},
	{
		name: "cancel many jobs", route: "POST /jobs/cancel", body: `{"execution": "{id}"}`, shows: `"changed":1`, verb: rota.VerbCancel, on: "nightly",
		seenBy: rota.ViewJobHistory, filters: true, prepare: (*interfaces).queued,
	},
	{
		name: "retry many jobs", route: "POST /jobs/retry", body: `{"execution": "{id}", "state": "cancelled"}`, shows: `"changed":1`, verb: rota.VerbRedrive, on: "nightly",
		seenBy: rota.ViewJobHistory, filters: true, prepare: (*interfaces).cancelled,
	},
	{
		name: "retry dead letters", route: "POST /dead/retry", body: `{"execution": "{id}", "state": "cancelled"}`, shows: `"changed":1`, verb: rota.VerbRedrive, on: "nightly",
		seenBy: rota.ViewJobHistory, filters: true, prepare: (*interfaces).cancelled,
	},
	{name: "run an ended job again", route: "POST /jobs/{id}/run-again", verb: rota.VerbRedrive, on: "nightly", prepare: (*interfaces).cancelled},
}

// elsewhere names the tests of routes that the matrix does not call, because they end the login of the caller or need none.
var elsewhere = map[string]string{
	"POST /login": "httpapi.TestLoginCreatesTokenThatLogoutRevokes", "POST /logout": "httpapi.TestLoginCreatesTokenThatLogoutRevokes",
}

// noInterface lists what the Guard checks and no route and no statement calls by itself.
var noInterface = map[string]string{
	"note": "workers send it with finish", "normalise": "rota verify repairs nothing over HTTP", "prune": "engines prune",
	"AccessState": "it has the version of the access data and nothing else", "Definition": "sys.job_runs names definitions by it",
	"Watch": "a Guard delivers no events",
}

var runWays = []way{
	{name: "show a job", route: "GET /jobs/{id}", sql: "SELECT * FROM sys.job_runs WHERE job_run_uuid = '{id}'", sqlShow: "{id}", reads: []string{"Job"}, on: "nightly", hides: true, prepare: (*interfaces).queued},
	{name: "list jobs", route: "GET /jobs", sql: "SELECT job_run_uuid FROM sys.job_runs ORDER BY created_at DESC LIMIT 20", shows: "{id}", reads: []string{"FindJobs", "Jobs"}, on: "nightly", hides: true, prepare: (*interfaces).queued},
	{name: "count runs", sql: "SELECT 'runs: ' || count(*) FROM sys.job_runs WHERE job_name = '{job}'", shows: "runs: 1", reads: []string{"CountJobs"}, on: "broken", hides: true},
	{name: "the queue", route: "GET /queue", query: "?limit=1000", shows: "{id}", reads: []string{"Queue"}, on: "nightly", hides: true, prepare: (*interfaces).queued},
	{name: "explain", route: "GET /jobs/{id}/explain", sql: "EXPLAIN JOB RUN '{id}'", reads: []string{"Explain"}, on: "nightly", hides: true, prepare: (*interfaces).queued},
	{name: "list executions", route: "GET /executions", query: "?schedule={job}", sql: "SELECT id FROM sys.executions WHERE job_name = '{job}'", shows: "{dead}", reads: []string{"FindJobs"}, on: "broken", hides: true},
	{name: "show an execution", route: "GET /executions/{id}", sql: "SELECT id FROM sys.executions WHERE id = '{dead}'", sqlShow: "{dead}", reads: []string{"Execution", "LastAttempt"}, on: "broken", hides: true, prepare: (*interfaces).dead},
	{name: "the log of a run", route: "GET /jobs/{id}/log", reads: []string{"Execution"}, on: "broken", hides: true, prepare: (*interfaces).dead},
	{name: "dead letters", route: "GET /dead", shows: "{dead}", reads: []string{"FindJobs"}, on: "broken", hides: true},
	{name: "list groups", route: "GET /groups", sql: "SELECT group_uuid FROM sys.groups", shows: "{group}", reads: []string{"Groups"}, hides: true},
	{name: "show a group", route: "GET /groups/{id}", sql: "SELECT group_uuid FROM sys.groups WHERE group_uuid = '{group}'", sqlShow: "{group}", reads: []string{"Group"}, hides: true, prepare: (*interfaces).group},
	{name: "cancel a group", route: "POST /groups/{id}/cancel", verb: rota.VerbCancelGroup, seenBy: rota.ViewJobHistory, prepare: (*interfaces).group},
	{name: "list reservations", route: "GET /reservations", query: "?limit=1000", sql: "SELECT reservation_uuid FROM sys.reservations", shows: "{reservation}", reads: []string{"Reservations"}, hides: true},
	{name: "stats", route: "GET /stats", sql: "SELECT * FROM sys.performance", reads: []string{"Stats"}},
	{name: "limits", route: "GET /limits", reads: []string{"Throttle"}},
	{name: "the audit of a job", route: "GET /audit", query: "?schedule={job}", sql: "SELECT 'broken' FROM sys.audit WHERE job_name = '{job}'", shows: "broken", reads: []string{"Audit"}, on: "broken", hides: true},
	{name: "follow events", route: "GET /events", stream: true, reads: []string{"Jobs"}, public: true},
}

var definitionWays = []way{
	{name: "list templates", route: "GET /templates", shows: `"name":"nightly"`, sql: "SELECT template_name FROM sys.templates", sqlShow: "nightly|", reads: []string{"Templates"}, on: "nightly"},
	{name: "show a template", route: "GET /templates/{name}", sql: "SELECT template_name FROM sys.templates WHERE template_name = '{job}'", sqlShow: "nightly", reads: []string{"Template"}, on: "nightly"},
	{name: "create a template", route: "POST /templates", body: `{"name": "{new}", "type": "mail"}`, verb: rota.VerbPutTemplate, need: rota.CreateJob, why: "a new one"},
	{name: "change a template", route: "PATCH /templates/{name}", body: `{"description": "{new}"}`, verb: rota.VerbPutTemplate, on: "nightly"},
	{name: "archive a template", route: "POST /templates/{name}/archive", verb: rota.VerbArchive, on: "nightly", prepare: func(d *interfaces) { d.archive(false) }},
	{name: "unarchive a template", route: "POST /templates/{name}/unarchive", verb: rota.VerbUnarchive, on: "nightly", prepare: func(d *interfaces) { d.archive(true) }},

	{name: "list schedules", route: "GET /schedules", shows: `"name":"nightly"`, sql: "SHOW JOBS", sqlShow: "nightly|", reads: []string{"Schedules"}, on: "nightly", prepare: func(d *interfaces) { d.archive(false) }},
	{name: "show a schedule", route: "GET /schedules/{name}", sql: "SHOW CREATE JOB {job}", reads: []string{"Schedule"}, on: "nightly"},
	{name: "the next times", route: "GET /schedules/{name}/upcoming", sql: "SELECT 'next of ' || job_name, next_run_time FROM sys.jobs", sqlShow: "next of nightly|", reads: []string{"Schedule"}, on: "nightly"},
	{
		name: "create a schedule", route: "POST /schedules", body: `{"name": "{new}", "template": "shared", "every": "1h", "state": "paused"}`,
		verb: rota.VerbPutSchedule, need: rota.CreateJob, why: "a new one", refers: "shared",
	},
	{
		name: "create a job", sql: "CREATE JOB {new} SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()", verb: rota.VerbPutSchedule, need: rota.CreateJob, why: "a new one",
	},
	{
		name: "create or alter a job", sql: "CREATE OR ALTER JOB {new} SCHEDULE EVERY 1 HOUR DISABLED AS CALL noop()", verb: rota.VerbAll,
		need: rota.CreateJob, why: "a new template and schedule",
	},
	{name: "change a schedule", route: "PATCH /schedules/{name}", body: `{"priority": 5}`, sql: "ALTER JOB {job} SET PRIORITY = 5", verb: rota.VerbPutSchedule, on: "nightly"},
	{name: "pause a schedule", route: "POST /schedules/{name}/pause", sql: "ALTER JOB {job} SET STATE = DISABLED", verb: rota.VerbSwitchSchedule, on: "nightly"},
	{name: "resume a schedule", route: "POST /schedules/{name}/resume", sql: "ALTER JOB {job} SET STATE = ENABLED", verb: rota.VerbSwitchSchedule, on: "nightly", prepare: (*interfaces).pause},
	{name: "trigger a schedule", route: "POST /schedules/{name}/trigger", sql: "EXECUTE JOB {job}", verb: rota.VerbTrigger, on: "nightly"},
	{name: "backfill a schedule", route: "POST /schedules/{name}/backfill", body: `{"from": "{yesterday}", "to": "{today}"}`, verb: rota.VerbBackfill, on: "nightly"},
	{name: "delete a schedule", route: "DELETE /schedules/{name}", sql: "DROP JOB {job}", verb: rota.VerbDeleteSchedule, on: "nightly", prepare: (*interfaces).redefine},
	{name: "drop a job", sql: "DROP JOB {job} KEEP HISTORY", verb: rota.VerbDrop, on: "nightly", prepare: (*interfaces).redefine},
	{name: "set a secret", route: "PUT /secrets/{template}/{key}", body: `{"value": "swordfish"}`, sql: "ALTER JOB {job} SET SECRET 'API_KEY' = 'swordfish'", verb: rota.VerbPutSecret, on: "nightly"},
	{name: "delete a secret", route: "DELETE /secrets/{template}/{key}", sql: "ALTER JOB {job} DROP SECRET 'API_KEY'", verb: rota.VerbDeleteSecret, on: "nightly", prepare: (*interfaces).secret},
	{name: "list secrets", route: "GET /secrets", shows: `"template":"nightly"`, sql: "SELECT template FROM sys.secrets", sqlShow: "nightly|", reads: []string{"Secrets", "Secret"}, on: "nightly", prepare: (*interfaces).secret},
	{name: "rotate the master key", route: "POST /secrets/rotate", reads: []string{"SecretState"}, require: true, need: rota.Admin, prepare: (*interfaces).secret},
	{name: "the owner of a job", sql: "ALTER JOB {job} OWNER TO \"owner\"", verb: rota.VerbSetOwner, target: "nightly"},

	{name: "list types", route: "GET /types", shows: "mail", reads: []string{"Types"}, public: true},
	{name: "show a type", route: "GET /types/{name}", reads: []string{"Type"}, public: true, target: "mail"},
	{name: "declare a type", route: "PUT /types/{name}", body: `{}`, verb: rota.VerbPutType, target: "mail"},
	{name: "pause a type", route: "POST /types/{name}/pause", verb: rota.VerbSwitchType, target: "mail"},
	{name: "resume a type", route: "POST /types/{name}/resume", verb: rota.VerbSwitchType, target: "mail"},
}

var serverWays = []way{
	{name: "set limits", route: "PUT /limits", body: `{}`, verb: rota.VerbPutThrottle},
	{name: "show webhooks", route: "GET /webhooks", reads: []string{"Webhooks"}},
	{name: "set webhooks", route: "PUT /webhooks", body: `{"webhooks": []}`, verb: rota.VerbPutWebhooks},
	{name: "test a webhook", route: "POST /webhooks/test", body: `{"url": "http://127.0.0.1:1/", "secret": "a text that nobody guesses"}`, require: true, need: rota.Admin},
	{name: "claim", route: "POST /claim", body: `{"worker": "w", "types": ["fax"]}`, verb: rota.VerbClaim},
	{name: "extend", route: "POST /extend", body: `{"items": [{"run_id": "{unknown}", "job_id": "{unknown}", "lease_token": "{lease}"}]}`, verb: rota.VerbExtend},
	{name: "finish", route: "POST /finish", body: `{"items": [{"run_id": "{unknown}", "job_id": "{unknown}", "lease_token": "{lease}", "outcome": "completed"}]}`, verb: rota.VerbFinish},
	{name: "verify the store", route: "GET /verify", require: true, reading: true, need: rota.Admin, reads: []string{"Verify"}},
	{name: "verify the audit", route: "GET /audit/verify", require: true, reading: true, need: rota.Admin},
	{name: "export the audit", route: "GET /audit/export", require: true, reading: true, need: rota.Admin},
	{name: "back up", route: "GET /backup", require: true, need: rota.Admin},
	{name: "export definitions", route: "GET /definitions", require: true, reading: true, need: rota.Admin},
	{name: "import definitions", route: "PUT /definitions", body: `{"types": {"mail": {}}}`, require: true, need: rota.Admin},
	{name: "a query", route: "POST /sql", body: `{"statement": "SELECT 1"}`, sql: "SELECT 1", reads: []string{"View"}, public: true}, // of no row of the store
}

var accessWays = []way{
	{name: "list users", route: "GET /users", query: "?limit=1000", sql: "SHOW USERS", shows: "bystander", reads: []string{"Principals"}, need: rota.Admin, hides: true},
	{name: "show a user", route: "GET /users/{name}", sql: "SELECT name FROM sys.users WHERE name = 'bystander'", sqlShow: "bystander", reads: []string{"Principal"}, need: rota.Admin, hides: true, target: "bystander"},
	{name: "create a user", route: "POST /users", body: `{"name": "{new}"}`, sql: "CREATE USER {new}", verb: rota.VerbPutPrincipal},
	{name: "change a user", route: "PATCH /users/{name}", body: `{"certificate": "{new}"}`, sql: "ALTER USER bystander CERTIFICATE '{new}'", verb: rota.VerbPutPrincipal, target: "bystander"},
	{name: "delete a user", route: "DELETE /users/{name}", sql: "DROP USER leaver", verb: rota.VerbDropPrincipal, target: "leaver", prepare: (*interfaces).leaver},
	{name: "list roles", route: "GET /roles", query: "?limit=1000", sql: "SHOW ROLES", shows: "crew", reads: []string{"Principals"}, need: rota.Admin, hides: true},
	{name: "show a role", route: "GET /roles/{name}", sql: "SELECT name FROM sys.roles WHERE name = 'crew'", sqlShow: "crew", reads: []string{"Principal"}, need: rota.Admin, hides: true, target: "crew"},
	{name: "create a role", route: "POST /roles", body: `{"name": "{new}"}`, sql: "CREATE ROLE {new}", verb: rota.VerbPutPrincipal},
	{name: "delete a role", route: "DELETE /roles/{name}", sql: "DROP ROLE leaving", verb: rota.VerbDropPrincipal, target: "leaving", prepare: (*interfaces).leavingRole},
	{name: "list grants", route: "GET /grants", query: "?limit=1000", sql: "SHOW GRANTS", shows: "crew", reads: []string{"Principals"}, need: rota.Admin, hides: true},
	{name: "grants of a user", route: "GET /grants", query: "?user=bystander", sql: "SHOW GRANTS FOR bystander", reads: []string{"Principal"}, need: rota.Admin, hides: true},
	{
		name: "grant on all jobs", route: "POST /grants", body: `{"privileges": ["EXECUTE JOB"], "to": ["bystander"]}`,
		sql: "GRANT EXECUTE JOB TO bystander", verb: rota.VerbGrantPrivileges,
	},
	{
		name: "revoke on all jobs", route: "DELETE /grants", query: "?privilege=EXECUTE+JOB&from=bystander",
		sql: "REVOKE EXECUTE JOB FROM bystander", verb: rota.VerbGrantPrivileges,
	},
	{
		name: "grant on a job", route: "POST /grants", body: `{"privileges": ["EXECUTE JOB"], "job": "{job}", "to": ["bystander"]}`,
		sql: "GRANT EXECUTE JOB ON JOB {job} TO bystander", verb: rota.VerbGrantPrivileges, on: "nightly", owner: true,
	},
	{
		name: "revoke on a job", route: "DELETE /grants", query: "?privilege=EXECUTE+JOB&job={job}&from=bystander",
		sql: "REVOKE EXECUTE JOB ON JOB {job} FROM bystander", verb: rota.VerbGrantPrivileges, on: "nightly", owner: true,
	},
	{name: "who I am", route: "GET /me", reads: []string{"Principal"}, any: true},
	{name: "my name", sql: "SELECT current_user", reads: []string{"View"}, public: true},
	{name: "grant a role", route: "POST /grants", body: `{"role": "crew", "to": ["bystander"]}`, sql: "GRANT crew TO bystander", verb: rota.VerbGrantPrivileges},
	{name: "list tokens", route: "GET /tokens", query: "?limit=1000", sql: "SELECT id FROM sys.tokens", shows: "{token_id}", reads: []string{"AccessTokens"}, need: rota.Admin, hides: true, prepare: (*interfaces).tokenOfBystander},
	{name: "show a token", route: "GET /tokens/{token_id}", sql: "SELECT id FROM sys.tokens WHERE id = '{token_id}'", sqlShow: "{token_id}", reads: []string{"AccessToken"}, need: rota.Admin, hides: true, prepare: (*interfaces).tokenOfBystander},
	{name: "create a token", route: "POST /tokens", body: `{"user": "bystander", "scope": "read", "expires": "1h"}`, verb: rota.VerbPutToken},
	{name: "revoke a token", route: "DELETE /tokens/{token_id}", verb: rota.VerbRevokeToken, prepare: (*interfaces).tokenOfBystander, hides: true},
}
