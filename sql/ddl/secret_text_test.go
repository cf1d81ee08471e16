package ddl

import "testing"

func TestSetsUnknown(t *testing.T) {
	for _, text := range []string{
		"ALTER JOB n SET SECRT 'K' = 'hush'", "alter job n set secretx 'K' = 'hush'", "ALTER JOB n SET SECRETS = 'hush'", "ALTER JOB n SET DISABLED, SECRT 'K' = 'hush'",
		"ALTER JOB n SET PRIORITY = 3, SERCET = 'hush'", "SHOW JOBS; ALTER JOB IF EXISTS n SET \"SECRET\" 'K' = 'hush'", "ALTER JOB n SET SECRT K = \"hush\"",
		"ALTER JOB n SET SECRT 'hush", "ALTER JOB n SET SECRT $$hush", "ALTER JOB n SET SECRT 5x E'hush", "ALTER JOB n SET PRIORITY = 3 SET SECRT 'K' = 'hush'",
		"ALTER JOB n SET 'SECRET' 'K' = 'hush'",
		"SET SECRET 'K' = 'hush'", "set secrt 'K' = 'hush'", "SHOW JOBS; SET LOCAL SERCET 'hush'", "SET SESSION secrets K = 'hush'", "SET SECRT = 'hush'", "SET \"SECRT\" TO 'hush'",
		"SET 'SECRET' 'K' = 'hush'", "SET DB_KEY 'K' = 'hush", "SET SECRT K = $$hush",
	} {
		if !SetsUnknown(text) {
			t.Errorf("%s sets nothing unknown", text)
		}
	}
	for _, text := range []string{
		"", "ALTER JOB n SET x", "ALTER JOB n SET PRIORITY = 3", "ALTER JOB n SET WITH PARAMS '{\"a, b\": 1}' x", "ALTER JOB n SET SECRT; SELECT 'x'", "SET zone = 'UTC'",
		"SET TIME ZONE 'UTC'", "SET NAMES 'utf8'", "SET SESSION TIME ZONE 'UTC'", "SET search_path TO 'a', 'b'", "SET secret.x = 'y'", "SET LOCAL = 'x'",
		"SET SESSION AUTHORIZATION 'ada'", "SET ROLE 'ada'", "SET SECRT; SELECT 'x'", "SET x", "SET", "SELECT a AS SET x 'y'",
		"ALTER USER u SET x = 'y'", "ALTER JOB n SET DEPENDS ON a, b, SET WITH PARAMS '{}'", "ALTER JOB n DROP SECRET 'K'", "ALTER JOB n SET TIMEOUT = '1 h', PRIORITY = 3",
		"ALTER JOB n SET SECRT /* 'hush'", "SELECT 'a, SECRT' = 'b'",
	} {
		if SetsUnknown(text) {
			t.Errorf("%s sets something unknown", text)
		}
	}
	for _, c := range clauses { // none of them hides the position of an error
		if text := "ALTER JOB n SET " + c.words[0] + " 'text'"; SetsUnknown(text) {
			t.Errorf("%s sets something unknown", text)
		}
	}
}
