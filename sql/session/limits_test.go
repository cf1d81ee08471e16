package session_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/session"
)

// TestQueryOverLimitIsAnError checks that a result over a limit is never cut silently.
func TestQueryOverLimitIsAnError(t *testing.T) {
	b := newFixture(t)
	narrow := session.New(session.Config{Clock: b.clock.Now, SelectRows: 3, SelectTime: 2 * time.Second})
	defer narrow.Close()
	for text, state := range map[string]string{
		"VALUES (1), (2), (3)":      "",
		"VALUES (1), (2), (3), (4)": "54000",
		"WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n":                        "57014",
		"WITH RECURSIVE n (s) AS (VALUES ('x') UNION ALL SELECT s || s FROM n) SELECT count(*) FROM n WHERE length(s) < 0": "54000",
		"SELECT replace(repeat('x', 1000000), 'x', 'xxxxxxxxxxxxxxxxxxxx')":                                                "54000",
	} {
		answers, err := narrow.Session(b.store, "admin").Answers(context.Background(), text)
		var e *session.Error
		switch {
		case state == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case state != "" && (!errors.As(err, &e) || e.State != state || e.Message == "" || len(answers) > 0):
			t.Errorf("%s: %v, want %s", text, err, state)
		}
	}
}

func TestCancelledContextEndsQuery(t *testing.T) {
	b := newFixture(t)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	_, err := b.session.Answers(ctx, "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
	var e *session.Error
	if !errors.As(err, &e) || e.State != "57014" {
		t.Errorf("got %v", err)
	}
	b.has("SELECT 1", "SELECT 1")
}

func TestQueryArgumentsReplaceParameters(t *testing.T) {
	b := newFixture(t)
	b.run("CREATE JOB a SCHEDULE = EVERY 1 HOUR AS CALL noop()")
	for _, test := range []struct {
		text string
		args []any
		want string
	}{
		{"SELECT job_name FROM sys.jobs WHERE job_name = $1", []any{"a"}, "a\n"},
		{"SELECT $2, $1", []any{1.0, "x"}, "x | 1\n"},
		{"SELECT ? + ?", []any{1, 2.5}, "3.5\n"},
		{"SELECT $1 IS NULL, $2", []any{nil, true}, "true | true\n"},
		{"SELECT $1", []any{}, "(08P01)"},
		{"DROP JOB a", []any{1}, "(08P01)"},
		{"SELECT 1; SELECT 2", []any{1}, "(08P01)"},
	} {
		if got := b.run(test.text, test.args...); !strings.Contains(got, test.want) {
			t.Errorf("%s with %v: %s, want %s", test.text, test.args, got, test.want)
		}
	}
}

// TestQueryWithManyConditionsIsPlanned checks that many conditions do not reduce the row estimate to zero.
func TestQueryWithManyConditionsIsPlanned(t *testing.T) {
	b := newFixture(t)
	b.has("SELECT count(*) FROM sys.jobs WHERE state = 'A'"+strings.Repeat(" AND state = 'A'", 60), "\n0\n")
	b.has("SELECT count(*) FROM sys.jobs"+strings.Repeat(" NATURAL JOIN sys.jobs", 20), "ERROR")
}

func TestAggregateOverSizeLimitIsAnError(t *testing.T) {
	b := newFixture(t)
	b.has("SELECT json_agg(repeat('x', 1000000)) FROM generate_series(1, 1000)", "(54000)")
	b.has("SELECT array_length(ARRAY(SELECT repeat('x', 1000000) FROM generate_series(1, 1000)), 1)", "(54000)")
	b.has("SELECT array_agg(x) FROM generate_series(1, 3) x", "[1,2,3]")
}

// TestNumericsAreRounded checks that a numeric has the same digits as a value and as a text.
func TestNumericsAreRounded(t *testing.T) {
	b := newFixture(t)
	for text, want := range map[string]any{
		"0.1 + 0.2": 0.3, "1.1 * 1.1 * 1.1": 1.331, "1234567890123456.5::numeric": 1234567890123456.5,
		"extract(epoch FROM timestamptz '2026-11-17 19:04:00.376249+00')": 1794942240.376249,
	} {
		answers, err := b.session.Answers(context.Background(), "SELECT "+text+", ("+text+")::text")
		if err != nil {
			t.Fatal(err)
		}
		if row := answers[0].Rows[0]; row[0] != want || row[1] != strconv.FormatFloat(want.(float64), 'f', -1, 64) {
			t.Errorf("%s is %v, want %v", text, row, want)
		}
	}
}

// TestManyArguments checks that the limits of SQLite are reported as limits, at the place of the call.
func TestManyArguments(t *testing.T) {
	b := newFixture(t)
	list := func(n int) string { return strings.TrimSuffix(strings.Repeat("'a',", n), ",") }
	for text, position := range map[string]int{
		"SELECT 1, concat(" + list(101) + ")":   11,
		"SELECT 1, coalesce(" + list(101) + ")": 11,
		"SELECT 1, ROW(" + list(51) + ")":       11,
		"SELECT 1, ARRAY[" + list(200) + "]":    0,
	} {
		_, err := b.session.Answers(context.Background(), text)
		var e *session.Error
		if !errors.As(err, &e) || e.State != "54000" || e.Hint == "" || e.Position != position {
			t.Errorf("%.40s: %+v", text, err)
		}
	}
	b.has("SELECT length(concat("+list(100)+"))", "\n100\n")
	b.has("SELECT 'a' = ANY(ARRAY["+list(200)+"])", "true")
}

// TestRefusedFunctions checks that a function of PostgreSQL that Rota does not have is refused with a reason, at the
// place of the call.
func TestRefusedFunctions(t *testing.T) {
	b := newFixture(t)
	for _, test := range []struct {
		text, message string
		position      int
	}{
		{"SELECT 1, pg_notify('a', 'b')", "NOTIFY is not supported", 11},
		{"SELECT 1, pg_advisory_lock(1, 2)", "advisory locks are not supported", 11},
		{"SELECT 1, pg_advisory_unlock_all()", "advisory locks are not supported", 11},
		{"SELECT 1, pg_catalog.pg_sleep(1.0)", "a query cannot sleep", 11},
		{"SELECT *\nFROM   pg_terminate_backend(1)", "a session cannot cancel", 17},
		{"SELECT 1, txid_current()", "function txid_current is not supported", 11},
		{"SELECT 1, ifnull(1, 2)", "function ifnull is not supported", 11},
	} {
		_, err := b.session.Answers(context.Background(), test.text)
		var e *session.Error
		if !errors.As(err, &e) || e.State != "0A000" || !strings.HasPrefix(e.Message, test.message) || e.Hint == "" || e.Position != test.position {
			t.Errorf("%s: %+v", test.text, err)
		}
	}
}

// forbiddenQueries read internal tables, secrets, files or call functions that are not allowed.
var forbiddenQueries = []string{
	"SELECT * FROM rota_jobs", "SELECT * FROM main.rota_jobs", "SELECT * FROM rota_job_runs", "SELECT * FROM sqlite_schema", "SELECT * FROM sqlite_master", "SELECT * FROM sys.sqlite_master",
	"SELECT * FROM temp.sqlite_master", "SELECT * FROM pragma_database_list", "SELECT * FROM pragma_function_list", "SELECT * FROM pragma_module_list()", "SELECT * FROM dbstat",
	"SELECT * FROM sqlite_dbpage", "SELECT * FROM sqlite_stmt", "SELECT * FROM bytecode('SELECT 1')", "SELECT * FROM fsdir('/')", "SELECT load_extension('x')", "SELECT readfile('/etc/passwd')",
	"SELECT writefile('x', 'y')", "SELECT edit('x')", "SELECT fts3_tokenizer('simple')", "SELECT sqlite_compileoption_get(1)", "SELECT sqlite_source_id()", "SELECT randomblob(5)",
	"SELECT zeroblob(1000000000)", "SELECT last_insert_rowid()", "WITH x AS (SELECT * FROM rota_jobs) SELECT * FROM x", "SELECT (SELECT count(*) FROM sqlite_master)",
	"SELECT 1 WHERE EXISTS (SELECT 1 FROM rota_audit)", "VALUES ((SELECT sql FROM sqlite_master))", "TABLE rota_jobs", "TABLE sqlite_master",
	"WITH x AS (SELECT 1) DELETE FROM sys.jobs", "WITH x AS (SELECT 1) INSERT INTO sys.jobs DEFAULT VALUES", "WITH x AS (SELECT 1) UPDATE sys.jobs SET state = 'x'",
	"SELECT 1; PRAGMA query_only = 0", "SELECT * FROM sys.jobs; ATTACH 'x' AS y", "SELECT * FROM sys.job_secrets", "SELECT value FROM sys.secrets", "SELECT sealed FROM sys.secrets", "SELECT hash FROM sys.tokens", "SELECT verifier FROM sys.tokens", "SELECT verifier FROM sys.users", "SELECT password FROM sys.users", "SELECT * FROM sys.webhooks", "SELECT token FROM sys.job_runs", "SELECT lease_token FROM sys.job_runs", "SELECT rowid, * FROM rota_jobs", "SELECT * FROM \"rota_jobs\"", "SELECT * FROM [sqlite_master]",
	"SELECT (WITH rota_audit AS (SELECT 1) SELECT 1), (SELECT count(*) FROM rota_audit)", "SELECT 1 /* /* */ ; ATTACH 'x' AS y --",
}

func TestQueriesCannotReadSecretsOrInternalTables(t *testing.T) {
	b := newFixture(t)
	hook := []rota.Webhook{{URL: "https://example.org/hook", Secret: "hush-hush-hush-hush"}}
	do[*rota.WebhooksPut](b, &rota.PutWebhooks{Meta: rota.NewMeta("ada"), Spec: hook})
	b.template("hooked", rota.TemplateSpec{Type: "noop", Webhooks: hook})
	b.declare("hooked", rota.ScheduleSpec{Template: "hooked", Every: time.Hour})
	b.run("EXECUTE JOB hooked")
	claimed := do[*rota.Claimed](b, &rota.Claim{Meta: rota.NewMeta(""), Worker: "w", Types: []string{"noop"}, Limit: 1, Lease: time.Minute, Seed: rota.NewToken()})
	b.has("CREATE USER ada PASSWORD 'hush hush hush'", "CREATE USER")
	hash := strings.Repeat("ab", 32)
	do[*rota.TokenPut](b, &rota.PutToken{Meta: rota.NewMeta("admin"), TokenID: "token1234", User: "ada", Scope: rota.ScopeRead, Hash: hash})
	secrets := []string{"hush", claimed.Jobs[0].Run.Token.Reveal(), hash, "SCRAM"}
	for _, table := range []string{
		"jobs", "job_runs", "job_dependencies", "executions", "templates", "schedules", "groups", "reservations", "nodes", "performance", "audit",
		"users", "roles", "role_members", "grants", "tokens", "secrets",
	} {
		got := b.run("SELECT * FROM sys." + table)
		if strings.Contains(got, "ERROR") {
			t.Errorf("%s: %s", table, got)
		}
		for _, secret := range secrets {
			if strings.Contains(got, secret) {
				t.Errorf("sys.%s shows a secret:\n%s", table, got)
			}
		}
	}
	b.has("SELECT count(*) FROM sys.job_runs WHERE type LIKE 'rota.%'", "\n0\n")
	b.has("SELECT count(*) FROM sys.executions WHERE type = 'rota.webhook'", "\n0\n")
	b.has("SELECT lease_token FROM sys.executions WHERE type = 'noop'", "lease_token\n\nSELECT 1")
	for _, text := range forbiddenQueries {
		got := b.run(text)
		if !strings.Contains(got, "ERROR") {
			t.Errorf("%s is answered: %s", text, got)
		}
		if strings.Contains(got, "XX000") {
			t.Errorf("%s is an internal error: %s", text, got)
		}
	}
	for _, text := range []string{
		"SELECT count(*) FROM (SELECT job_name FROM sys.jobs)", "WITH x AS (SELECT 1) SELECT count(*) FROM x", "SELECT count(*) FROM jobs", "SELECT count(*) FROM sys.jobs AS j, json_each('{\"a\": 1}')",
		"SELECT count(*) FROM (VALUES (1))", "WITH RECURSIVE x (i) AS (VALUES (1) UNION SELECT i + 1 FROM x WHERE i < 3) SELECT count(*) FROM x a, x b",
	} {
		if got := b.run(text); strings.Contains(got, "ERROR") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

// TestLongParamsFitIntoWideQueries checks that columns that a query only shows do not lower the limit of one value.
func TestLongParamsFitIntoWideQueries(t *testing.T) {
	b := newFixture(t)
	b.template("wide", rota.TemplateSpec{Type: "noop", Params: []byte(`{"text": "` + strings.Repeat("x", 900_000) + `"}`)})
	b.declare("wide", rota.ScheduleSpec{Template: "wide", Every: time.Hour})
	b.run("EXECUTE JOB wide")
	for _, text := range []string{
		"SELECT r.*, e.*, a.* FROM sys.job_runs r LEFT JOIN sys.executions e ON e.id = r.job_run_uuid LEFT JOIN sys.audit a ON a.job_run_uuid = r.job_run_uuid ORDER BY r.created_at",
		"SELECT j.*, t.*, r.* FROM sys.jobs j JOIN sys.templates t ON t.template_name = j.template JOIN sys.job_runs r ON r.job_uuid = j.job_uuid",
		"SELECT count(*) FROM sys.templates a, sys.templates b, sys.templates c WHERE a.params = b.params",
	} {
		if got := b.run(text); strings.Contains(got, "ERROR") {
			t.Errorf("%s: %.300s", text, got)
		}
	}
}

// TestTransactionsKeepBoundedMemory checks that a transaction with long params is refused before it uses much memory, and
// that ROLLBACK releases the memory.
func TestTransactionsKeepBoundedMemory(t *testing.T) {
	b := newFixture(t)
	long := strings.Repeat("x", 900_000)
	for range 2 {
		b.run("BEGIN")
		refused := ""
		for i := 0; i < 100 && refused == ""; i++ {
			if got := b.run("CREATE JOB j" + strconv.Itoa(i) + " SCHEDULE = EVERY 1 HOUR AS 'SELECT ''" + long + "'''"); strings.Contains(got, "ERROR") {
				refused = got
			}
		}
		if !strings.Contains(refused, "(54000)") {
			t.Errorf("refused with %.200q", refused)
		}
		b.run("ROLLBACK")
	}
}
