package ddl

import (
	"reflect"
	"testing"
)

// validStatements are statements as people type them, and as they are printed.
var validStatements = []struct{ text, want string }{
	// Words, names, strings and comments.
	{"show jobs", "SHOW JOBS"},
	{"  ShOw\n\tJoBs ; ", "SHOW JOBS"},
	{"SHOW JOBS;;", "SHOW JOBS"},
	{"\uFEFFSHOW JOBS", "SHOW JOBS"},
	{"/* a /* nested */ comment */ SHOW -- and another\nJOBS -- at the end", "SHOW JOBS"},
	{"EXECUTE JOB Nightly", "EXECUTE JOB nightly"},
	{`EXECUTE JOB "Nightly"`, `EXECUTE JOB "Nightly"`},
	{`EXECUTE JOB "nightly"`, `EXECUTE JOB nightly`},
	{`EXECUTE JOB "a ""b"" c"`, `EXECUTE JOB "a ""b"" c"`},
	{"EXECUTE JOB Größe", `EXECUTE JOB "größe"`},
	{"EXECUTE JOB a$1", `EXECUTE JOB "a$1"`},
	{"EXECUTE JOB _2", "EXECUTE JOB _2"},
	{"EXECUTE JOB job", "EXECUTE JOB job"},
	{`EXECUTE JOB "5"`, `EXECUTE JOB "5"`},
	{`EXECUTE JOB "5a"`, `EXECUTE JOB "5a"`},
	{"EXECUTE JOB if", `EXECUTE JOB "if"`},

	// Keywords as names.
	{"CREATE JOB schedule SCHEDULE = CRON 'x' AS 'y'", "CREATE JOB schedule\n  SCHEDULE = CRON 'x'\n  AS 'y'"},
	{"CREATE JOB if SCHEDULE = CRON 'x' AS 'y'", "CREATE JOB \"if\"\n  SCHEDULE = CRON 'x'\n  AS 'y'"},
	{"DROP JOB if", `DROP JOB "if"`},
	{"DROP JOB keep KEEP HISTORY", "DROP JOB keep KEEP HISTORY"},
	{"ALTER JOB set SET RUN AS as SET ON TARGET on", "ALTER JOB set\n  SET RUN AS as\n  SET ON TARGET on"},
	{`ALTER JOB a SET RUN AS "none"`, "ALTER JOB a\n  SET RUN AS \"none\""},
	{"GRANT job TO to", "GRANT job TO to"},

	// Jobs.
	{"CREATE JOB IF NOT EXISTS a SCHEDULE = CRON 'x' AS 'y'", "CREATE JOB IF NOT EXISTS a\n  SCHEDULE = CRON 'x'\n  AS 'y'"},
	{"CREATE OR ALTER JOB a SCHEDULE CRON 'x' AS EXEC 'y'", "CREATE OR ALTER JOB a\n  SCHEDULE = CRON 'x'\n  AS EXEC 'y'"},
	{"RECREATE JOB a AS 'y' SCHEDULE CRON 'x'", "RECREATE JOB a\n  SCHEDULE = CRON 'x'\n  AS 'y'"},
	{
		`create job "Full" as call db.public."Sum up"(1, -2.50, +007, 1e-5, 'it''s', null, true, False) paused with params '{"a": 1}' on target main
		 priority -5 description 'all of it' run as ops on completion drop timeout 0 retry_backoff '90s' max_retries 0 depends on a, b, "none"
		 overlap skip catch_up all time zone 'Europe/Berlin' schedule at '2026-11-15 09:00' partition by all_shards class leader_only;`,
		`CREATE JOB "Full"
  CLASS = LEADER_ONLY
  PARTITION BY ALL_SHARDS
  SCHEDULE = AT '2026-11-15 09:00'
  TIME ZONE 'Europe/Berlin'
  CATCH_UP = ALL
  OVERLAP = SKIP
  DEPENDS ON a, b, "none"
  MAX_RETRIES = 0
  RETRY_BACKOFF = 90 SECONDS
  TIMEOUT = 0 SECONDS
  ON COMPLETION DROP
  RUN AS ops
  DESCRIPTION = 'all of it'
  PRIORITY = -5
  ON TARGET main
  WITH PARAMS '{"a": 1}'
  PAUSED
  AS CALL db.public."Sum up"(1, -2.50, 7, 1e-5, 'it''s', NULL, TRUE, FALSE)`,
	},
	{"CREATE JOB a STATE = DISABLED SCHEDULE CRON 'x' AS 'y'", "CREATE JOB a\n  SCHEDULE = CRON 'x'\n  DISABLED\n  AS 'y'"},
	{"CREATE JOB a SCHEDULE CRON 'x' AS $$it's$$", "CREATE JOB a\n  SCHEDULE = CRON 'x'\n  AS 'it''s'"},
	{"CREATE JOB a SCHEDULE CRON 'x' AS $q$a $$ b; $q$", "CREATE JOB a\n  SCHEDULE = CRON 'x'\n  AS 'a $$ b; '"},
	{"CREATE JOB a SCHEDULE CRON 'x' DEPENDS ON NONE AS 'y'", "CREATE JOB a\n  SCHEDULE = CRON 'x'\n  DEPENDS ON NONE\n  AS 'y'"},
	{"CREATE JOB a SCHEDULE CRON 'x' ON COMPLETION PRESERVE AS 'y'", "CREATE JOB a\n  SCHEDULE = CRON 'x'\n  ON COMPLETION PRESERVE\n  AS 'y'"},
	{
		"CREATE JOB a SCHEDULE EVERY 1 DAY ENDS '2027-01-01T00:00:00.5+01:00' STARTS '2026-01-01 00:00:00.123456' TIME ZONE 'UTC' AS 'y'",
		"CREATE JOB a\n  SCHEDULE = EVERY 1 DAY STARTS '2026-01-01 00:00:00.123456' ENDS '2027-01-01T00:00:00.5+01:00'\n  TIME ZONE 'UTC'\n  AS 'y'",
	},
	{"CREATE JOB a SCHEDULE CRON 'x' STARTS '2026-01-01 00:00' AS 'y'", "CREATE JOB a\n  SCHEDULE = CRON 'x' STARTS '2026-01-01 00:00'\n  AS 'y'"},

	// Lengths of time.
	{"ALTER JOB a SET SCHEDULE EVERY 30 SECONDS", "ALTER JOB a\n  SET SCHEDULE = EVERY 30 SECONDS"},
	{"ALTER JOB a SET SCHEDULE EVERY 60 second", "ALTER JOB a\n  SET SCHEDULE = EVERY 1 MINUTE"},
	{"ALTER JOB a SET SCHEDULE EVERY 1 HOUR 30 MINUTES", "ALTER JOB a\n  SET SCHEDULE = EVERY 90 MINUTES"},
	{"ALTER JOB a SET SCHEDULE EVERY 14 DAYS", "ALTER JOB a\n  SET SCHEDULE = EVERY 2 WEEKS"},
	{"ALTER JOB a SET SCHEDULE EVERY '1h30m'", "ALTER JOB a\n  SET SCHEDULE = EVERY 90 MINUTES"},
	{"ALTER JOB a SET SCHEDULE EVERY INTERVAL '5' MINUTE", "ALTER JOB a\n  SET SCHEDULE = EVERY 5 MINUTES"},
	{"ALTER JOB a SET SCHEDULE EVERY INTERVAL '2' HOURS STARTS '2026-11-15'", "ALTER JOB a\n  SET SCHEDULE = EVERY 2 HOURS STARTS '2026-11-15'"},
	{"ALTER JOB a SET TIMEOUT = INTERVAL '90' SECOND", "ALTER JOB a\n  SET TIMEOUT = 90 SECONDS"},
	{"ALTER JOB a SET SCHEDULE AT '2026-11-15 09:00 +02'", "ALTER JOB a\n  SET SCHEDULE = AT '2026-11-15 09:00 +02'"},
	{
		"ALTER JOB a SET SCHEDULE EVERY 1 DAY STARTS '2026-11-15 09:00 +02' ENDS '2026-12-15 09:00:00 -03:30'",
		"ALTER JOB a\n  SET SCHEDULE = EVERY 1 DAY STARTS '2026-11-15 09:00 +02' ENDS '2026-12-15 09:00:00 -03:30'",
	},
	{"ALTER JOB a SET SCHEDULE AT '2026-11-15 09:00+02'", "ALTER JOB a\n  SET SCHEDULE = AT '2026-11-15 09:00+02'"},
	{"ALTER JOB a SET SCHEDULE EVERY INTERVAL '5 minutes'", "ALTER JOB a\n  SET SCHEDULE = EVERY 5 MINUTES"},
	{"ALTER JOB a SET SCHEDULE EVERY INTERVAL '1 day 12 hours'", "ALTER JOB a\n  SET SCHEDULE = EVERY 36 HOURS"},
	{"ALTER JOB a SET SCHEDULE EVERY 3000 MILLISECONDS", "ALTER JOB a\n  SET SCHEDULE = EVERY 3 SECONDS"},
	{"ALTER JOB a SET TIMEOUT = 30", "ALTER JOB a\n  SET TIMEOUT = 30 SECONDS"},
	{"ALTER JOB a SET TIMEOUT 30 SET STATE PAUSED", "ALTER JOB a\n  SET TIMEOUT = 30 SECONDS\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET RETRY_BACKOFF = 2 MINUTES", "ALTER JOB a\n  SET RETRY_BACKOFF = 2 MINUTES"},
	{"ALTER JOB a SET RETRY_BACKOFF = 2147483647", "ALTER JOB a\n  SET RETRY_BACKOFF = 2147483647 SECONDS"},

	// Shards.
	{
		"ALTER JOB a SET PARTITION BY SINGLE_SHARD 3F2504E0-4f89-11d3-9a0c-0305e82c3301",
		"ALTER JOB a\n  SET PARTITION BY SINGLE_SHARD '3f2504e0-4f89-11d3-9a0c-0305e82c3301'",
	},
	{
		"ALTER JOB a SET PARTITION BY SHARD_SET(00000001-0000-0000-0000-000000000000,000012e5-4567-4567-4567-0123456789ab,'FEDCBA98-0000-0000-0000-000000000000')",
		"ALTER JOB a\n  SET PARTITION BY SHARD_SET ('00000001-0000-0000-0000-000000000000', '000012e5-4567-4567-4567-0123456789ab', 'fedcba98-0000-0000-0000-000000000000')",
	},
	{"ALTER JOB a SET PARTITION BY DYNAMIC 'region = ''eu'''", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'region = ''eu'''"},
	{"ALTER JOB a SET PARTITION BY DYNAMIC tenant_id % 4 = 0", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'tenant_id % 4 = 0'"},
	{"ALTER JOB a SET PARTITION BY DYNAMIC f(a, b) > 1, STATE = PAUSED", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'f(a, b) > 1'\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET PARTITION BY DYNAMIC (a + b) % 2 SET STATE PAUSED", "ALTER JOB a\n  SET PARTITION BY DYNAMIC '(a + b) % 2'\n  SET STATE = PAUSED"},
	{
		"CREATE JOB a PARTITION BY DYNAMIC priority PRIORITY = 3 SCHEDULE = CRON 'x' AS 'y'",
		"CREATE JOB a\n  PARTITION BY DYNAMIC 'priority'\n  SCHEDULE = CRON 'x'\n  PRIORITY = 3\n  AS 'y'",
	},
	{
		"CREATE JOB a PARTITION BY DYNAMIC priority % 4 SCHEDULE = CRON 'x' AS 'y'",
		"CREATE JOB a\n  PARTITION BY DYNAMIC 'priority % 4'\n  SCHEDULE = CRON 'x'\n  AS 'y'",
	},
	{"ALTER JOB a SET PARTITION BY DYNAMIC state IN (1, 2), STATE = PAUSED", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'state IN (1, 2)'\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET PARTITION BY DYNAMIC time", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'time'"},
	{"ALTER JOB a SET PARTITION BY DYNAMIC 'eu' = region", "ALTER JOB a\n  SET PARTITION BY DYNAMIC '''eu'' = region'"},
	{
		"CREATE JOB a PARTITION BY DYNAMIC extract(dow FROM now() AT TIME ZONE 'UTC') = 1 SCHEDULE = CRON 'x' AS 'y'",
		"CREATE JOB a\n  PARTITION BY DYNAMIC 'extract(dow FROM now() AT TIME ZONE ''UTC'') = 1'\n  SCHEDULE = CRON 'x'\n  AS 'y'",
	},
	{
		"CREATE JOB a PARTITION BY DYNAMIC ts AT TIME ZONE 'UTC' TIME ZONE 'Europe/Berlin' SCHEDULE = CRON 'x' AS 'y'",
		"CREATE JOB a\n  PARTITION BY DYNAMIC 'ts AT TIME ZONE ''UTC'''\n  SCHEDULE = CRON 'x'\n  TIME ZONE 'Europe/Berlin'\n  AS 'y'",
	},
	{"ALTER JOB a SET PARTITION BY DYNAMIC ( f(x, ')') > \"(\" ) SET STATE PAUSED", "ALTER JOB a\n  SET PARTITION BY DYNAMIC 'f(x, '')'') > \"(\"'\n  SET STATE = PAUSED"},

	// SET in its three ways, and the meaning of a comma after DEPENDS ON.
	{"ALTER JOB a SET MAX_RETRIES = 1, SET PRIORITY = 2", "ALTER JOB a\n  SET MAX_RETRIES = 1\n  SET PRIORITY = 2"},
	{"ALTER JOB a SET MAX_RETRIES = 1 SET PRIORITY = 2", "ALTER JOB a\n  SET MAX_RETRIES = 1\n  SET PRIORITY = 2"},
	{"ALTER JOB a SET MAX_RETRIES = 1, PRIORITY = 2", "ALTER JOB a\n  SET MAX_RETRIES = 1\n  SET PRIORITY = 2"},
	{"ALTER JOB IF EXISTS a SET STATE = PAUSED", "ALTER JOB IF EXISTS a\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET DEPENDS ON b, c, STATE = PAUSED", "ALTER JOB a\n  SET DEPENDS ON b, c\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET DEPENDS ON b, RUN AS ops", "ALTER JOB a\n  SET DEPENDS ON b\n  SET RUN AS ops"},
	{"ALTER JOB a SET DEPENDS ON b, state, SET STATE = PAUSED", "ALTER JOB a\n  SET DEPENDS ON b, state\n  SET STATE = PAUSED"},
	{"ALTER JOB a SET DEPENDS ON b, set", "ALTER JOB a\n  SET DEPENDS ON b, set"},
	{"ALTER JOB a SET DEPENDS ON b, c DROP SECRET 'k'", "ALTER JOB a\n  SET DEPENDS ON b, c\n  DROP SECRET 'k'"},
	{"ALTER JOB a SET DEPENDS ON b, DROP SECRET 'k'", "ALTER JOB a\n  SET DEPENDS ON b\n  DROP SECRET 'k'"},
	{"ALTER JOB a SET RUN AS NONE", "ALTER JOB a\n  SET RUN AS NONE"},
	{"ALTER JOB a SET TIME ZONE 'Asia/Tokyo'", "ALTER JOB a\n  SET TIME ZONE 'Asia/Tokyo'"},
	{"ALTER JOB a SET SECRET 'k' = 'hush', SECRET 'l' = '' DROP SECRET 'm'", "ALTER JOB a\n  SET SECRET 'k' = '***'\n  SET SECRET 'l' = '***'\n  DROP SECRET 'm'"},

	// The other statements about jobs and runs.
	{"DROP JOB IF EXISTS a KEEP HISTORY", "DROP JOB IF EXISTS a KEEP HISTORY"},
	{"CANCEL JOB RUN 01926A5E-7c3b-7f3a-8d2e-1b2c3d4e5f60;", "CANCEL JOB RUN '01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60'"},
	{"EXPLAIN JOB RUN '01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60'", "EXPLAIN JOB RUN '01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60'"},
	{"SHOW CREATE JOB a", "SHOW CREATE JOB a"},

	// Sessions.
	{"SHOW TIME ZONE", "SHOW time zone"},
	{"SHOW server_version", "SHOW server_version"},
	{"SHOW Transaction ISOLATION level;", "SHOW transaction isolation level"},
	{"SHOW JOBS soon", "SHOW jobs soon"},
	{"SHOW rota.mode", "SHOW rota.mode"},
	{"SET client_encoding TO utf8", "SET client_encoding = 'utf8'"},
	{"set Application_Name = 'a''b'", "SET application_name = 'a''b'"},
	{"SET SESSION search_path = \"$user\", public", "SET search_path = '$user', 'public'"},
	{"SET LOCAL statement_timeout = 500", "SET LOCAL statement_timeout = '500'"},
	{"SET extra_float_digits = -3", "SET extra_float_digits = '-3'"},
	{"SET my.thing = on", "SET my.thing = 'on'"},
	{"SET TIME ZONE 'Europe/Berlin'", "SET timezone = 'Europe/Berlin'"},
	{"SET TIME ZONE LOCAL", "SET timezone = DEFAULT"},
	{"SET NAMES 'utf-8'", "SET client_encoding = 'utf-8'"},
	{"SET datestyle TO DEFAULT", "SET datestyle = DEFAULT"},
	{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ ONLY"},
	{"SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY", "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY"},
	{"RESET ALL", "RESET ALL"},
	{"RESET TIME ZONE", "RESET timezone"},
	{"RESET search_path", "RESET search_path"},
	{"DISCARD ALL", "DISCARD ALL"},
	{"DISCARD TEMPORARY", "DISCARD TEMP"},
	{"DEALLOCATE ALL", "DEALLOCATE ALL"},
	{"DEALLOCATE PREPARE a", "DEALLOCATE PREPARE \"a\""},
	{"CLOSE ALL", "CLOSE ALL"},
	{"UNLISTEN *", "UNLISTEN *"},
	{"SAVEPOINT a", "SAVEPOINT a"},
	{"RELEASE a", "RELEASE SAVEPOINT a"},
	{"RELEASE SAVEPOINT savepoint", "RELEASE SAVEPOINT savepoint"},
	{"ROLLBACK TO a", "ROLLBACK TO SAVEPOINT a"},
	{"ROLLBACK WORK TO SAVEPOINT a", "ROLLBACK TO SAVEPOINT a"},
	{"(SELECT 1)", "(SELECT 1)"},
	{"BEGIN", "BEGIN"},
	{"BEGIN WORK", "BEGIN"},
	{"BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"},
	{"START TRANSACTION READ ONLY, ISOLATION LEVEL REPEATABLE READ NOT DEFERRABLE", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"},
	{"BEGIN ISOLATION LEVEL SERIALIZABLE", "BEGIN ISOLATION LEVEL SERIALIZABLE"},
	{"COMMIT", "COMMIT"},
	{"END TRANSACTION", "COMMIT"},
	{"COMMIT AND NO CHAIN", "COMMIT"},
	{"ROLLBACK WORK", "ROLLBACK"},
	{"ABORT", "ROLLBACK"},

	// Queries.
	{" SELECT  a FROM b -- c\n ; -- d", "SELECT  a FROM b"},
	{"select ';', \"(\" /* ; */ from x where y = $1 and z::text ~ 'a' ;", `select ';', "(" /* ; */ from x where y = $1 and z::text ~ 'a'`},
	{"WITH x AS (SELECT 1) SELECT * FROM x", "WITH x AS (SELECT 1) SELECT * FROM x"},
	{"VALUES (1), (2)", "VALUES (1), (2)"},
	{"TABLE sys.jobs", "TABLE sys.jobs"},
	{"EXPLAIN SELECT 1;", "EXPLAIN SELECT 1"},

	// Users, roles and rights.
	{"CREATE USER bob", "CREATE USER bob"},
	{"CREATE USER bob PASSWORD 'hush'", "CREATE USER bob PASSWORD '***'"},
	{"CREATE USER bob WITH PASSWORD 'hush'", "CREATE USER bob PASSWORD '***'"},
	{"ALTER USER bob PASSWORD 'hush'", "ALTER USER bob PASSWORD '***'"},
	{"CREATE USER IF NOT EXISTS bob WITH CERTIFICATE 'bob''s' PASSWORD 'hush';", "CREATE USER IF NOT EXISTS bob PASSWORD '***' CERTIFICATE 'bob''s'"},
	{"alter user if exists bob with certificate null password null", "ALTER USER IF EXISTS bob PASSWORD NULL CERTIFICATE NULL"},
	{`ALTER USER "bob" PASSWORD 'SCRAM-SHA-256$4096:c2FsdA==$c3RvcmVk:c2VydmVy'`, "ALTER USER bob PASSWORD '***'"},
	{"ALTER ROLE bob PASSWORD 'hush'", "ALTER ROLE bob PASSWORD '***'"},
	{"CREATE USER password PASSWORD 'hush'", "CREATE USER password PASSWORD '***'"},
	{"CREATE ROLE IF NOT EXISTS ops", "CREATE ROLE IF NOT EXISTS ops"},
	{"alter job if exists a owner to bob", "ALTER JOB IF EXISTS a OWNER TO bob"},
	{"ALTER JOB owner OWNER TO owner", "ALTER JOB owner OWNER TO owner"},
	{"ALTER JOB a OWNER TO session_user", "ALTER JOB a OWNER TO CURRENT_USER"},
	{`ALTER JOB a OWNER TO "current_user"`, `ALTER JOB a OWNER TO "current_user"`},
	{"show grants", "SHOW GRANTS"},
	{"SHOW GRANTS FOR current_user", "SHOW GRANTS FOR CURRENT_USER"},
	{"SHOW GRANTS FOR \"Al\"", "SHOW GRANTS FOR \"Al\""},
	{"SHOW USERS", "SHOW USERS"},
	{"SHOW ROLES", "SHOW ROLES"},
	{"DROP USER IF EXISTS bob", "DROP USER IF EXISTS bob"},
	{"CREATE ROLE ops", "CREATE ROLE ops"},
	{"DROP ROLE ops", "DROP ROLE ops"},
	{
		"GRANT CREATE JOB, alter job, DROP JOB, EXECUTE JOB, VIEW JOB HISTORY, EXECUTE EXTERNAL JOB, ADMIN TO bob, \"Al\"",
		"GRANT CREATE JOB, ALTER JOB, DROP JOB, EXECUTE JOB, VIEW JOB HISTORY, EXECUTE EXTERNAL JOB, ADMIN TO bob, \"Al\"",
	},
	{"GRANT ALL ON JOB a TO bob", "GRANT ALL PRIVILEGES ON JOB a TO bob"},
	{"REVOKE EXECUTE JOB ON JOB a FROM bob", "REVOKE EXECUTE JOB ON JOB a FROM bob"},
	{"GRANT ops TO bob", "GRANT ops TO bob"},
	{`GRANT "admin" TO bob`, `GRANT "admin" TO bob`},
	{"REVOKE ALL PRIVILEGES FROM bob", "REVOKE ALL PRIVILEGES FROM bob"},
}

func TestParseValidStatementsPrintCanonically(t *testing.T) {
	for _, row := range validStatements {
		s, err := Parse(row.text)
		if err != nil {
			t.Errorf("%s\ngot  %v", row.text, err)
			continue
		}
		if got := Print(s); got != row.want {
			t.Errorf("%s\ngot  %s\nwant %s", row.text, got, row.want)
		}
	}
}

// TestParseValidStatementsBuildTrees checks what printing cannot show: clauses that were not given, and secrets.
func TestParseValidStatementsBuildTrees(t *testing.T) {
	for _, row := range []struct {
		text string
		want Statement
	}{
		{"ALTER JOB a SET DEPENDS ON NONE", &AlterJob{Name: "a", Set: Clauses{DependsGiven: true}}},
		{"ALTER JOB a SET RUN AS NONE", &AlterJob{Name: "a", Set: Clauses{RunAs: pointer("")}}},
		{"ALTER JOB a SET CATCH_UP = LAST", &AlterJob{Name: "a", Set: Clauses{CatchUp: pointer("last")}}},
		{"ALTER JOB a SET SECRET 'k' = 'it''s', DROP SECRET 'l'", &AlterJob{Name: "a", Secrets: []SecretChange{{Key: "k", Value: "it's"}, {Key: "l", Drop: true}}}},
		{"CREATE USER bob PASSWORD 'hush'", &Security{Kind: CreateUser, Name: "bob", Password: pointer("hush")}},
		{"CREATE USER bob CERTIFICATE 'bob.example' PASSWORD 'hush'", &Security{Kind: CreateUser, Name: "bob", Password: pointer("hush"), Certificate: pointer("bob.example")}},
		{"ALTER ROLE bob PASSWORD 'SCRAM-SHA-256$4096:a$b:c'", &Security{Kind: AlterRole, Name: "bob", Password: pointer("SCRAM-SHA-256$4096:a$b:c")}},
		{"ALTER USER bob PASSWORD NULL CERTIFICATE NULL", &Security{Kind: AlterUser, Name: "bob", Password: pointer(""), Certificate: pointer("")}},
		{"ALTER JOB j OWNER TO bob", &AlterOwner{Name: "j", Owner: "bob"}},
		{"ALTER JOB j OWNER TO CURRENT_USER", &AlterOwner{Name: "j"}},
		{"SHOW GRANTS", &ShowGrants{}},
		{"SHOW GRANTS FOR bob", &ShowGrants{For: pointer("bob")}},
		{"GRANT ADMIN TO a", &Security{Kind: Grant, Privileges: []string{"ADMIN"}, To: []string{"a"}}},
		{"REVOKE ALL ON JOB j FROM a, b", &Security{Kind: Revoke, All: true, Job: "j", To: []string{"a", "b"}}},
		{"CREATE JOB a SCHEDULE CRON 'x' AS CALL p()", &CreateJob{Name: "a", Job: Clauses{Schedule: &Schedule{Cron: "x"}, Action: &Action{Kind: Call, Procedure: "p"}}}},
	} {
		got, err := Parse(row.text)
		if err != nil || !reflect.DeepEqual(got, row.want) {
			t.Errorf("%s: got %+v, %v; want %+v", row.text, got, err, row.want)
		}
	}
}
