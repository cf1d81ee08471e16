package ddl

import (
	"fmt"
	"testing"
)

// TestParseManualForms reads the forms of the manual, each alternative of each clause in
// CREATE JOB, CREATE OR ALTER JOB, RECREATE JOB and ALTER JOB.
func TestParseManualForms(t *testing.T) {
	const shard = "'7d444840-9dc0-11d1-b245-5ffdce74fad2'"
	common := []string{
		"CLASS = LOCAL_SAFE", "CLASS = LEADER_ONLY", "CLASS = QUORUM_REQUIRED",
		"PARTITION BY ALL_SHARDS", "PARTITION BY SINGLE_SHARD " + shard, "PARTITION BY SHARD_SET (" + shard + ")",
		"PARTITION BY DYNAMIC 'tenant_id % 4 = 0'", "PARTITION BY DYNAMIC (tenant_id % 4 = 0)",
		"DEPENDS ON load", "DEPENDS ON load, clean", "DEPENDS ON NONE",
		"MAX_RETRIES = 3", "RETRY_BACKOFF = 60 SECONDS", "TIMEOUT = 1 HOUR", "TIMEOUT = '90s'",
		"ON COMPLETION PRESERVE", "RUN AS reporting", "DESCRIPTION = 'what it is for'",
		"TIME ZONE 'Europe/Berlin'", "CATCH_UP = NONE", "CATCH_UP = LAST", "CATCH_UP = ALL",
		"OVERLAP = ALLOW", "OVERLAP = SKIP", "OVERLAP = CANCEL", "PRIORITY = 10", "ON TARGET main", `WITH PARAMS '{"a": [1]}'`,
	}
	schedules := []string{
		"SCHEDULE = CRON '0 2 * * *'", "SCHEDULE = AT '2026-11-15 09:00'", "SCHEDULE = AT '2026-11-15T09:00:00Z'", "SCHEDULE = EVERY 5 MINUTES",
		"SCHEDULE = EVERY 2 DAYS STARTS '2026-11-15 09:00:00'", "SCHEDULE = EVERY 1 HOUR ENDS '2026-11-15T09:00:00+01:00'",
		"SCHEDULE = EVERY 30 SECONDS STARTS '2026-11-15 09:00' ENDS '2026-11-16 09:00'",
	}
	actions := []string{"AS 'DELETE FROM t'", "AS CALL refresh()", "AS EXEC 'backup --all'"}

	for _, c := range append(common, "ENABLED", "DISABLED", "") {
		for i, head := range []string{"CREATE JOB", "CREATE OR ALTER JOB", "RECREATE JOB", "CREATE JOB IF NOT EXISTS"} {
			checkParses(t, fmt.Sprintf("%s nightly %s %s %s;", head, c, schedules[0], actions[i%len(actions)]))
		}
	}
	for _, s := range schedules {
		for _, a := range actions {
			checkParses(t, "CREATE JOB nightly "+s+" "+a+";")
			checkParses(t, "CREATE JOB nightly "+a+" "+s+";")
		}
	}
	checkParses(t, "CREATE JOB once SCHEDULE = AT '2026-11-15 09:00' ON COMPLETION DROP AS 'x';")

	altered := append(append(common, schedules...), actions...)
	altered = append(altered, "STATE = ENABLED", "STATE = DISABLED", "STATE = PAUSED", "ON COMPLETION DROP", "RUN AS NONE", "SECRET 'key' = 'value'")
	for _, c := range altered {
		checkParses(t, "ALTER JOB nightly SET "+c+";")
	}
	for _, text := range []string{
		"ALTER JOB nightly DROP SECRET 'key';", "DROP JOB nightly;", "DROP JOB nightly KEEP HISTORY;", "EXECUTE JOB nightly;",
		"CANCEL JOB RUN 7d444840-9dc0-11d1-b245-5ffdce74fad2;", "CANCEL JOB RUN " + shard + ";",
		"ALTER JOB nightly OWNER TO alice;", "ALTER JOB nightly OWNER TO CURRENT_USER;",
		"CREATE USER alice PASSWORD 'correct horse' CERTIFICATE 'alice.example.com';", "ALTER USER alice PASSWORD 'correct horse';",
		"ALTER USER alice CERTIFICATE NULL;", "DROP USER alice;", "CREATE ROLE ops;", "DROP ROLE IF EXISTS ops;",
		"GRANT CREATE JOB, EXECUTE JOB TO alice;", "GRANT EXECUTE JOB, VIEW JOB HISTORY ON JOB nightly TO ops;", "GRANT ALL PRIVILEGES ON JOB nightly TO ops;",
		"REVOKE EXECUTE JOB ON JOB nightly FROM ops;", "GRANT ops TO alice;", "REVOKE ops FROM alice;", "SHOW GRANTS;", "SHOW GRANTS FOR alice;",
		"SELECT job_name, state, next_run_time FROM sys.jobs ORDER BY next_run_time;", "SELECT * FROM sys.job_runs WHERE job_uuid = '...';",
	} {
		checkParses(t, text)
	}
}

func checkParses(t *testing.T, text string) {
	t.Helper()
	if _, err := Parse(text); err != nil {
		t.Errorf("%s: %v", text, err)
	}
}

func TestStatementTags(t *testing.T) {
	for text, want := range map[string]string{
		"CREATE JOB a SCHEDULE CRON 'x' AS 'y'": "CREATE JOB", "CREATE OR ALTER JOB a SCHEDULE CRON 'x' AS 'y'": "CREATE OR ALTER JOB",
		"RECREATE JOB a SCHEDULE CRON 'x' AS 'y'": "RECREATE JOB", "ALTER JOB a SET PRIORITY 1": "ALTER JOB", "DROP JOB a": "DROP JOB",
		"EXECUTE JOB a": "EXECUTE JOB", "CANCEL JOB RUN '7d444840-9dc0-11d1-b245-5ffdce74fad2'": "CANCEL JOB RUN",
		"SHOW JOBS": "SHOW", "SHOW x": "SHOW", "VALUES (1)": "SELECT", "EXPLAIN SELECT 1": "EXPLAIN", "START TRANSACTION": "BEGIN",
		"END": "COMMIT", "ABORT": "ROLLBACK", "CREATE USER a": "CREATE USER", "DROP ROLE a": "DROP ROLE", "REVOKE ADMIN FROM a": "REVOKE",
		"ALTER JOB a OWNER TO b": "ALTER JOB", "SHOW GRANTS FOR a": "SHOW", "SHOW USERS": "SHOW", "SHOW ROLES": "SHOW",
	} {
		s, err := Parse(text)
		if err != nil || s.Tag() != want {
			t.Errorf("%s: %v, %v; want %s", text, s, err, want)
		}
	}
}
