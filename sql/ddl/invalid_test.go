package ddl

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Parts of many errors.
const (
	dynamicHint   = "; write the expression after DYNAMIC, in parentheses if it begins with a word that also begins a clause"
	timeHint      = "; write it like 2026-11-15T09:00:00Z, 2026-11-15 09:00+02 or, in the job's time zone, 2026-11-15 09:00 or 2026-11-15"
	uuidHint      = "; write it like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60"
	allClauses    = "(SCHEDULE, AS, DEPENDS ON, MAX_RETRIES, TIMEOUT, DESCRIPTION, …)"
	allStatements = "(CREATE, ALTER, DROP, EXECUTE, SHOW, SELECT, …)"
)

// invalidStatements are texts, the error after the word "line", and the SQLSTATE if it is not 42601.
var invalidStatements = []struct{ text, want, state string }{
	// Unknown and unsupported statements.
	{"", "1, column 1: found the end of the statement, expected a statement " + allStatements, ""},
	{"   ; ", "1, column 4: found the end of the statement, expected a statement " + allStatements, ""},
	{"-- nothing but a comment", "1, column 1: found the end of the statement, expected a statement " + allStatements, ""},
	{"SELCT 1", "1, column 1: found SELCT, expected a statement " + allStatements + "; did you mean SELECT?", ""},
	{"FROBNICATE", "1, column 1: found FROBNICATE, expected a statement " + allStatements, ""},
	{"'SELECT 1'", "1, column 1: found a string, expected a statement " + allStatements, ""},
	{"5", "1, column 1: found 5, expected a statement " + allStatements, ""},
	{"CRATE JOB a", "1, column 1: found CRATE, expected a statement " + allStatements + "; did you mean CREATE?", ""},
	{"INSERT INTO sys.jobs VALUES (1)", "1, column 1: INSERT is not supported; " + sysIsReadOnly, "0A000"},
	{"update sys.jobs set state = 'PAUSED'", "1, column 1: UPDATE is not supported; " + sysIsReadOnly, "0A000"},
	{"DELETE FROM sys.jobs", "1, column 1: DELETE is not supported; " + sysIsReadOnly, "0A000"},
	{"MERGE INTO a USING b", "1, column 1: MERGE is not supported; " + sysIsReadOnly, "0A000"},
	{"COPY a FROM stdin", "1, column 1: COPY is not supported; " + sysIsReadOnly, "0A000"},
	{"PRAGMA journal_mode", "1, column 1: PRAGMA is not supported; " + sysIsReadOnly, "0A000"},
	{"ATTACH 'x' AS y", "1, column 1: ATTACH is not supported; " + sysIsReadOnly, "0A000"},
	{"SET client_encoding 'UTF8'", "1, column 21: found a string, expected =", "42601"},
	{"SET a =", "1, column 8: found the end of the statement, expected a value", "42601"},
	{"SET SECRET 'k' = 'v'", "1, column 5: SET changes settings, and a secret belongs to a job; write ALTER JOB name SET SECRET 'key' = 'value'", "42601"},
	{"SET LOCAL secrt 'k' = 'v'", "1, column 11: SET changes settings, and a secret belongs to a job; write ALTER JOB name SET SECRET 'key' = 'value'", "42601"},
	{"SET SESSION \"secret\" = 'v'", "1, column 13: SET changes settings, and a secret belongs to a job; write ALTER JOB name SET SECRET 'key' = 'value'", "42601"},
	{"SET SECRET", "1, column 5: SET changes settings, and a secret belongs to a job; write ALTER JOB name SET SECRET 'key' = 'value'", "42601"},
	{"SET ROLE ada", "1, column 5: SET ROLE is not supported; connect as that user", "0A000"},
	{"RESET", "1, column 6: found the end of the statement, expected the name of a setting", "42601"},
	{"DISCARD EVERYTHING", "1, column 9: found EVERYTHING, expected ALL, PLANS, SEQUENCES, TEMP or TEMPORARY", "42601"},
	{"CLOSE c", "1, column 1: CLOSE is not supported; leave it out", "0A000"},
	{"UNLISTEN c", "1, column 1: UNLISTEN is not supported; leave it out", "0A000"},
	{"CREATE TABLE a (b int)", "1, column 1: CREATE TABLE is not supported; " + sysIsReadOnly, "0A000"},
	{"CREATE TEMP TABLE a (b int)", "1, column 1: CREATE TEMP is not supported; " + sysIsReadOnly, "0A000"},
	{"ALTER TABLE a ADD b int", "1, column 1: ALTER TABLE is not supported; " + sysIsReadOnly, "0A000"},
	{"drop view a", "1, column 1: DROP VIEW is not supported; " + sysIsReadOnly, "0A000"},
	{"SELECT 1; SELECT 2", "1, column 11: a second statement begins here; send one statement at a time", ""},
	{"SHOW JOBS; SHOW JOBS", "1, column 12: a second statement begins here; send one statement at a time", ""},
	{"SAVEPOINT", "1, column 10: found the end of the statement, expected the name of a savepoint", "42601"},
	{"ROLLBACK TO", "1, column 12: found the end of the statement, expected the name of a savepoint", "42601"},
	{"COMMIT AND CHAIN", "1, column 12: AND CHAIN is not supported; begin the next transaction with BEGIN", "0A000"},

	// Words, names and strings.
	{"CREATE", "1, column 7: found the end of the statement, expected JOB, OR, USER or ROLE", ""},
	{"CREATE JBO a", "1, column 8: found JBO, expected JOB, OR, USER or ROLE; did you mean JOB?", ""},
	{"CREATE OR REPLACE JOB a", "1, column 11: found REPLACE, expected ALTER; use CREATE OR ALTER JOB to change an existing job, RECREATE JOB to drop and create it", ""},
	{"CREATE JOB", "1, column 11: found the end of the statement, expected the name of a job", ""},
	{"CREATE JOB 'a'", `1, column 12: found a string, expected the name of a job; write a name without quotes or in "double quotes"`, ""},
	{"CREATE JOB 5", "1, column 12: found 5, expected the name of a job", ""},
	{`CREATE JOB ""`, "1, column 12: the name of a job is empty; write it between the quotes", ""},
	{`CREATE JOB "a`, `1, column 12: the name that begins here is not closed; end it with "; write "" for a quote inside`, ""},
	{"CREATE JOB 5a", `1, column 12: 5a is neither a number nor a name; put a space after 5, or put a name in "double quotes"`, ""},
	{"EXECUTE JOB a b", "1, column 15: found b, expected the end of the statement", ""},
	{"EXECUTE a", "1, column 9: found a, expected JOB", ""},
	{"EXECUTE JOB @a", "1, column 13: found @, expected the name of a job", ""},
	{"CREATE JOB a DESCRIPTION = 'x", "1, column 28: the string that begins here is not closed; end it with '; write '' for a quote inside", ""},
	{"CREATE JOB a /* b", "1, column 14: the comment that begins here is not closed; end it with */; each nested comment needs its own */", ""},
	{"CREATE JOB a /* b /* c */", "1, column 14: the comment that begins here is not closed; end it with */; each nested comment needs its own */", ""},
	{"CREATE JOB a AS $q$ x $$", "1, column 17: the string that begins here is not closed; end it with $q$", ""},
	{`CREATE JOB a DESCRIPTION = E'x\n'`, "1, column 28: escape strings (E'…') are not supported; leave out the E and write the characters themselves, '' for a quote", ""},
	{"CREATE JOB a DESCRIPTION = $1", "1, column 28: found $, expected the description in single quotes", ""},
	{"SELECT 'x", "1, column 8: the string that begins here is not closed; end it with '; write '' for a quote inside", ""},
	{"SELECT /* x", "1, column 8: the comment that begins here is not closed; end it with */; each nested comment needs its own */", ""},
	{"CREATE JOB a IF NOT EXISTS", "1, column 14: found IF, expected a clause " + allClauses, ""},
	{"CREATE JOB IF NOT EXIST a", "1, column 19: found EXIST, expected EXISTS; did you mean EXISTS?", ""},

	// Clauses.
	{"CREATE JOB a", "1, column 13: found the end of the statement, expected SCHEDULE and AS, which every job needs", ""},
	{"CREATE JOB a;", "1, column 13: found the end of the statement, expected SCHEDULE and AS, which every job needs", ""},
	{"CREATE JOB a AS 'x'", "1, column 20: found the end of the statement, expected SCHEDULE, which every job needs", ""},
	{"CREATE JOB a SCHEDULE = CRON 'x'", "1, column 33: found the end of the statement, expected AS, which every job needs", ""},
	{"CREATE JOB a\nSHEDULE = CRON 'x'", "2, column 1: found SHEDULE, expected a clause " + allClauses + "; did you mean SCHEDULE?", ""},
	{"CREATE JOB größe SHEDULE = CRON 'x'", "1, column 18: found SHEDULE, expected a clause " + allClauses + "; did you mean SCHEDULE?", ""},
	{"CREATE JOB a SCHEDULE = CRON 'x' SHEDULE", "1, column 34: found SHEDULE, expected a clause (AS, DEPENDS ON, MAX_RETRIES, TIMEOUT, DESCRIPTION, RETRY_BACKOFF, …)", ""},
	{"CREATE JOB a TIMEZONE 'UTC'", "1, column 14: found TIMEZONE, expected a clause " + allClauses + "; did you mean TIME ZONE?", ""},
	{"CREATE JOB a ENABELD", "1, column 14: found ENABELD, expected a clause " + allClauses + "; did you mean ENABLED?", ""},
	{"CREATE JOB a, b", "1, column 13: found a comma, expected a clause " + allClauses, ""},
	{"CREATE JOB a = b", "1, column 14: found =, expected a clause " + allClauses, ""},
	{"CREATE JOB a SCHEDULE = CRON 'x'\n  SCHEDULE = CRON 'y'", "2, column 3: SCHEDULE is given twice, first in line 1; remove one of them", ""},
	{"CREATE JOB a ENABLED DISABLED", "1, column 22: STATE is given twice, first in line 1; remove one of them", ""},
	{"CREATE JOB a ENABLED\nSTATE = PAUSED", "2, column 1: STATE is given twice, first in line 1; remove one of them", ""},
	{"CREATE JOB a ON COMPLETION DROP ON COMPLETION DROP", "1, column 33: ON COMPLETION is given twice, first in line 1; remove one of them", ""},
	{"CREATE JOB a ON COMPLETON DROP", "1, column 17: found COMPLETON, expected COMPLETION or TARGET; did you mean COMPLETION?", ""},
	{"CREATE JOB a ON COMPLETION KEEP", "1, column 28: found KEEP, expected PRESERVE or DROP", ""},
	{"CREATE JOB a PARTITION ALL_SHARDS", "1, column 24: found ALL_SHARDS, expected BY", ""},
	{"CREATE JOB a DEPENDS b", "1, column 22: found b, expected ON", ""},
	{"CREATE JOB a CLASS = LEADER", "1, column 22: found LEADER, expected a class (LOCAL_SAFE, LEADER_ONLY, QUORUM_REQUIRED)", ""},
	{"CREATE JOB a CLASS = LEADERONLY", "1, column 22: found LEADERONLY, expected a class (LOCAL_SAFE, LEADER_ONLY, QUORUM_REQUIRED); did you mean LEADER_ONLY?", ""},
	{"CREATE JOB a CATCH_UP = FIRST", "1, column 25: found FIRST, expected NONE, LAST or ALL", ""},
	{"CREATE JOB a OVERLAP = SKPI", "1, column 24: found SKPI, expected ALLOW, SKIP or CANCEL; did you mean SKIP?", ""},
	{"CREATE JOB a STATE = ON", "1, column 22: found ON, expected a state (ENABLED, DISABLED, PAUSED)", ""},
	{"CREATE JOB a TIME ZONE UTC", "1, column 24: found UTC, expected the time zone in single quotes", ""},
	{"CREATE JOB a TIME ZONE ''", "1, column 24: the time zone is empty; write it between the quotes", "22023"},
	{"CREATE JOB a RUN AS", "1, column 20: found the end of the statement, expected the name of a role", ""},
	{"CREATE JOB a RUN AS 'ops'", `1, column 21: found a string, expected the name of a role; write a name without quotes or in "double quotes"`, ""},
	{"CREATE JOB a DESCRIPTION = x", "1, column 28: found x, expected the description in single quotes", ""},
	{"CREATE JOB a DEPENDS ON b c", "1, column 27: found c, expected a clause (SCHEDULE, AS, MAX_RETRIES, TIMEOUT, DESCRIPTION, RETRY_BACKOFF, …)", ""},
	{"CREATE JOB a DEPENDS ON b, b", "1, column 28: b is named twice; remove one of them", "22023"},
	{"CREATE JOB a DEPENDS ON b,", "1, column 27: found the end of the statement, expected the name of a job", ""},
	{"CREATE JOB a MAX_RETRIES = -1", "1, column 28: MAX_RETRIES -1 is out of range; write a whole number from 0 to 2147483647", "22023"},
	{"CREATE JOB a MAX_RETRIES = 1.5", "1, column 28: MAX_RETRIES 1.5 is not a whole number; write a whole number from 0 to 2147483647", "22023"},
	{"CREATE JOB a MAX_RETRIES = 99999999999", "1, column 28: MAX_RETRIES 99999999999 is out of range; write a whole number from 0 to 2147483647", "22023"},
	{"CREATE JOB a MAX_RETRIES = 99999999999999999999", "1, column 28: MAX_RETRIES 99999999999999999999 is out of range; write a whole number from 0 to 2147483647", "22023"},
	{"CREATE JOB a MAX_RETRIES = many", "1, column 28: found many, expected a whole number", ""},
	{"CREATE JOB a PRIORITY = -", "1, column 26: found the end of the statement, expected a whole number", ""},
	{"CREATE JOB a PRIORITY = -99999999999", "1, column 25: PRIORITY -99999999999 is out of range; write a whole number from -2147483648 to 2147483647", "22023"},
	{"CREATE JOB a WITH PARAMS '[1]'", `1, column 26: the params are not a JSON object; write them like '{"key": "value"}'`, "22023"},
	{"CREATE JOB a WITH PARAMS 'null'", `1, column 26: the params are not a JSON object; write them like '{"key": "value"}'`, "22023"},
	{"CREATE JOB a WITH PARAMS '{a: 1}'", `1, column 26: the params are not valid JSON: invalid character 'a' looking for beginning of object key string; write them like '{"key": "value"}'`, "22023"},
	{"CREATE JOB a WITH PARAMS {}", "1, column 26: found {, expected the params in single quotes", ""},
	{"CREATE JOB a WITH x", "1, column 19: found x, expected PARAMS", ""},

	// Schedules.
	{"CREATE JOB a SCHEDULE = 'x'", "1, column 25: found a string, expected CRON, EVERY or AT", ""},
	{"CREATE JOB a SCHEDULE = CORN 'x'", "1, column 25: found CORN, expected CRON, EVERY or AT; did you mean CRON?", ""},
	{"CREATE JOB a SCHEDULE = CRON * * * * *", "1, column 30: found *, expected the cron expression in single quotes", ""},
	{"CREATE JOB a SCHEDULE = CRON ' '", "1, column 30: the cron expression is empty; write it between the quotes", "22023"},
	{"CREATE JOB a SCHEDULE = AT 'tomorrow'", "1, column 28: 'tomorrow' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-02-30 09:00'", "1, column 28: '2026-02-30 09:00' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15+02'", "1, column 28: '2026-11-15+02' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15 09:00+2'", "1, column 28: '2026-11-15 09:00+2' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15 09:00+25'", "1, column 28: '2026-11-15 09:00+25' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-02-30'", "1, column 28: '2026-02-30' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15T09:00:00,5Z'", "1, column 28: '2026-11-15T09:00:00,5Z' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15 09:00:00.1234567890'", "1, column 28: '2026-11-15 09:00:00.1234567890' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = AT 2026-11-15", "1, column 28: found 2026, expected a time in single quotes", ""},
	{"CREATE JOB a SCHEDULE = AT '2026-11-15 09:00' STARTS '2026-11-15 09:00'", "1, column 47: STARTS cannot be used with AT, which is a single time; leave it out", ""},
	{"CREATE JOB a SCHEDULE = CRON 'x' ENDS 'never'", "1, column 39: 'never' is not a time" + timeHint, "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 1 DAY ENDS '2026-11-15 09:00' ENDS '2026-11-15 09:00'", "1, column 61: ENDS is given twice; remove one of them", ""},
	{"CREATE JOB a SCHEDULE = EVERY", "1, column 30: found the end of the statement, expected an interval, such as 90 SECONDS or '1h30m'", ""},
	{"CREATE JOB a SCHEDULE = EVERY 5", "1, column 32: found the end of the statement, expected a unit (SECONDS, MINUTES, HOURS, DAYS, WEEKS, MILLISECONDS)", ""},
	{"CREATE JOB a SCHEDULE = EVERY 5 HOURZ", "1, column 33: found HOURZ, expected a unit (SECONDS, MINUTES, HOURS, DAYS, WEEKS, MILLISECONDS); did you mean HOURS?", ""},
	{"CREATE JOB a SCHEDULE = EVERY 5MINUTES", `1, column 31: 5MINUTES is neither a number nor a name; put a space after 5, or put a name in "double quotes"`, ""},
	{"CREATE JOB a SCHEDULE = EVERY 0 SECONDS", "1, column 31: EVERY 0 SECONDS is too short; write at least 1 SECOND", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY -5 MINUTES", "1, column 31: EVERY -5 MINUTES is negative; write at least 1 SECOND", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 500 MILLISECONDS", "1, column 31: EVERY 500 MILLISECONDS is not a whole number of seconds; round it to seconds", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY '1.5s'", "1, column 31: EVERY '1.5s' is not a whole number of seconds; round it to seconds", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 1.5 HOURS", "1, column 31: 1.5 is not a whole number; use a smaller unit", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 1 HOUR 30", "1, column 40: found the end of the statement, expected a unit (SECONDS, MINUTES, HOURS, DAYS, WEEKS, MILLISECONDS)", ""},
	{"CREATE JOB a SCHEDULE = EVERY '90'", "1, column 31: '90' is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY INTERVAL 'five minutes'", "1, column 40: 'five minutes' is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 99999999999 DAYS", "1, column 31: the interval is too long; the maximum is 292 years", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY 15000 WEEKS 15000 WEEKS", "1, column 43: the interval is too long; the maximum is 292 years", "22023"},
	{"CREATE JOB a TIMEOUT = 5 HOURZ", "1, column 26: found HOURZ, expected a unit (SECONDS, MINUTES, HOURS, DAYS, WEEKS, MILLISECONDS); did you mean HOURS?", ""},
	{"CREATE JOB a TIMEOUT = -1", "1, column 24: TIMEOUT -1 is negative; write 0 or more", "22023"},
	{"CREATE JOB a TIMEOUT = '100ms'", "1, column 24: TIMEOUT '100ms' is not a whole number of seconds; round it to seconds", "22023"},
	{"CREATE JOB a TIMEOUT = 2147483648", "1, column 24: TIMEOUT 2147483648 is too long; write at most 2147483647 SECONDS", "22023"},
	{"CREATE JOB a RETRY_BACKOFF = soon", "1, column 30: found soon, expected an interval, such as 90 SECONDS or '1h30m'", ""},
	{"CREATE JOB a SCHEDULE = CRON 'x' ON COMPLETION DROP AS 'y'", "1, column 34: ON COMPLETION DROP needs SCHEDULE = AT: CRON and EVERY schedules never complete; leave it out", "22023"},
	{"CREATE JOB a ON COMPLETION DROP SCHEDULE = EVERY 1 DAY AS 'y'", "1, column 14: ON COMPLETION DROP needs SCHEDULE = AT: CRON and EVERY schedules never complete; leave it out", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY INTERVAL '5'", "1, column 40: '5' is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY INTERVAL '-5' MINUTE", "1, column 31: EVERY INTERVAL '-5' MINUTE is negative; write at least 1 SECOND", "22023"},
	{"CREATE JOB a SCHEDULE = EVERY '5' MINUTE", "1, column 31: '5' is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},

	// Shards.
	{"CREATE JOB a PARTITION BY SHARDS", "1, column 27: found SHARDS, expected ALL_SHARDS, SINGLE_SHARD, SHARD_SET or DYNAMIC", ""},
	{"CREATE JOB a PARTITION BY SINGLE_SHARD", "1, column 39: found the end of the statement, expected the UUID of a shard" + uuidHint, ""},
	{"CREATE JOB a PARTITION BY SINGLE_SHARD 'x'", "1, column 40: 'x' is not a UUID" + uuidHint, "22023"},
	{"CREATE JOB a PARTITION BY SINGLE_SHARD 3f2504e0-4f89-11d3-9a0c-0305e82c33012", "1, column 40: found 3f2504e0, expected the UUID of a shard" + uuidHint, ""},
	{"CREATE JOB a PARTITION BY SHARD_SET ()", "1, column 38: found ), expected the UUID of a shard" + uuidHint, ""},
	{"CREATE JOB a PARTITION BY SHARD_SET 3f2504e0-4f89-11d3-9a0c-0305e82c3301", "1, column 37: found 3f2504e0, expected (", ""},
	{"CREATE JOB a PARTITION BY SHARD_SET ('3f2504e0-4f89-11d3-9a0c-0305e82c3301' x)", "1, column 77: found x, expected a comma or )", ""},
	{"CREATE JOB a PARTITION BY SHARD_SET ('3f2504e0-4f89-11d3-9a0c-0305e82c3301', 3F2504E0-4F89-11D3-9A0C-0305E82C3301)", "1, column 78: the shard 3f2504e0-4f89-11d3-9a0c-0305e82c3301 is named twice; remove one of them", "22023"},
	{"CREATE JOB a PARTITION BY SHARD_SET (12e-4567, x)", "1, column 38: found 12e-4567, expected the UUID of a shard" + uuidHint, ""},
	{"CREATE JOB a PARTITION BY DYNAMIC", "1, column 34: found the end of the statement, expected an expression", ""},
	{"CREATE JOB a PARTITION BY DYNAMIC SCHEDULE = CRON 'x'", "1, column 35: found SCHEDULE, expected an expression" + dynamicHint, ""},
	{"CREATE JOB a PARTITION BY DYNAMIC priority = 3", "1, column 35: found priority, expected an expression" + dynamicHint, ""},
	{"CREATE JOB a PARTITION BY DYNAMIC TIMEOUT 30", "1, column 35: found TIMEOUT, expected an expression" + dynamicHint, ""},
	{"CREATE JOB a PARTITION BY DYNAMIC RUN AS alice", "1, column 35: found RUN, expected an expression" + dynamicHint, ""},
	{"ALTER JOB a SET PARTITION BY DYNAMIC SET STATE PAUSED", "1, column 38: found SET, expected an expression" + dynamicHint, ""},
	{"CREATE JOB a PARTITION BY DYNAMIC x > 1)", "1, column 40: found ), expected a clause (SCHEDULE, AS, DEPENDS ON, MAX_RETRIES, TIMEOUT, DESCRIPTION, …)", ""},
	{"CREATE JOB a PARTITION BY DYNAMIC x + (1", "1, column 35: the expression that begins here has a parenthesis that is not closed; end it with )", ""},
	{"CREATE JOB a PARTITION BY DYNAMIC ()", "1, column 35: the expression is empty; write it between the parentheses", "22023"},
	{"CREATE JOB a PARTITION BY DYNAMIC (f(x)", "1, column 35: the parenthesis that begins here is not closed; end it with )", ""},
	{"CREATE JOB a PARTITION BY DYNAMIC ('x)", "1, column 36: the string that begins here is not closed; end it with '; write '' for a quote inside", ""},

	// Actions.
	{"CREATE JOB a AS", "1, column 16: found the end of the statement, expected a statement in single quotes, CALL or EXEC", ""},
	{"CREATE JOB a AS SELECT 1", "1, column 17: found SELECT, expected a statement in single quotes, CALL or EXEC", ""},
	{"CREATE JOB a AS ''", "1, column 17: the statement is empty; write it between the quotes", "22023"},
	{"CREATE JOB a AS EXE 'x'", "1, column 17: found EXE, expected a statement in single quotes, CALL or EXEC; did you mean EXEC?", ""},
	{"CREATE JOB a AS EXEC x", "1, column 22: found x, expected the command in single quotes", ""},
	{"CREATE JOB a AS CALL", "1, column 21: found the end of the statement, expected the name of a procedure", ""},
	{"CREATE JOB a AS CALL p", "1, column 23: found the end of the statement, expected (", ""},
	{"CREATE JOB a AS CALL p(", "1, column 24: found the end of the statement, expected a literal (a string, a number, TRUE, FALSE or NULL)", ""},
	{"CREATE JOB a AS CALL p(1", "1, column 25: found the end of the statement, expected a comma or )", ""},
	{"CREATE JOB a AS CALL p(1,)", "1, column 26: found ), expected a literal (a string, a number, TRUE, FALSE or NULL)", ""},
	{"CREATE JOB a AS CALL p(x)", "1, column 24: found x, expected a literal (a string, a number, TRUE, FALSE or NULL)", ""},
	{"CREATE JOB a AS CALL p(TRU)", "1, column 24: found TRU, expected a literal (a string, a number, TRUE, FALSE or NULL); did you mean TRUE?", ""},
	{"CREATE JOB a AS CALL p(-'x')", "1, column 25: found a string, expected a literal (a string, a number, TRUE, FALSE or NULL)", ""},
	{"CREATE JOB a AS CALL a.b.c.d()", "1, column 28: the name of the procedure has more than three parts; write procedure, schema.procedure or database.schema.procedure", ""},
	{`CREATE JOB a AS CALL a."b.c"()`, "1, column 24: the name of the procedure has a dot inside quotes; quote each part separately", "22023"},
	{"CREATE JOB a AS CALL a.()", "1, column 24: found (, expected the name of a procedure", ""},

	// ALTER JOB and the other statements.
	{"ALTER JOB a", "1, column 12: found the end of the statement, expected SET, DROP SECRET or OWNER TO", ""},
	{"ALTER JOB a PAUSE", "1, column 13: found PAUSE, expected SET, DROP SECRET or OWNER TO", ""},
	{"ALTER JOB a ST STATE = PAUSED", "1, column 13: found ST, expected SET, DROP SECRET or OWNER TO; did you mean SET?", ""},
	{"ALTER JOB a ſET STATE = PAUSED", "1, column 13: found ſET, expected SET, DROP SECRET or OWNER TO; did you mean SET?", ""},
	{"ALTER JOB a SET", "1, column 16: found the end of the statement, expected a clause to set " + allClauses, ""},
	{"ALTER JOB a SET STAT = PAUSED", "1, column 17: found STAT, expected a clause to set " + allClauses + "; did you mean STATE?", ""},
	{"ALTER JOB a SET ENABLED", "1, column 17: found ENABLED, expected a clause to set; write STATE = ENABLED", ""},
	{"ALTER JOB a SET STATE = PAUSED,", "1, column 32: found the end of the statement, expected SET or DROP SECRET", ""},
	{"ALTER JOB a SET STATE = PAUSED, , SET PRIORITY = 1", "1, column 33: found a comma, expected a clause to set " + allClauses, ""},
	{"ALTER JOB a SET STATE = PAUSED, nonsense", "1, column 33: found nonsense, expected a clause to set " + allClauses, ""},
	{"ALTER JOB a SET STATE = PAUSED PRIORITY = 1", "1, column 32: found PRIORITY, expected SET or DROP SECRET", ""},
	{"ALTER JOB a SET STATE = PAUSED, SET STATE = ENABLED", "1, column 37: STATE is given twice, first in line 1; remove one of them", ""},
	{"ALTER JOB a SET DEPENDS ON b,", "1, column 30: found the end of the statement, expected the name of a job", ""},
	{"ALTER JOB a SET DEPENDS ON b, 5", "1, column 31: found 5, expected the name of a job", ""},
	{"ALTER JOB a SET SECRET k = 'v'", "1, column 24: found k, expected the key of the secret in single quotes", ""},
	{"ALTER JOB a SET SECRET 'k' 'v'", "1, column 28: found a string, expected =", ""},
	{"ALTER JOB a SET SECRET 'k' = hush", "1, column 30: found a value without quotes, expected the value of the secret in single quotes", ""},
	{"ALTER JOB a SET SECRET '' = 'v'", "1, column 24: the key of the secret is empty; write it between the quotes", "22023"},
	{"ALTER JOB a SET SECRET 'k' = 'v', DROP SECRET 'k'", "1, column 47: the secret 'k' is changed twice; remove one of them", "22023"},
	{"ALTER JOB a DROP SECRTE 'k'", "1, column 18: found SECRTE, expected SECRET; did you mean SECRET?", ""},
	{"ALTER ROLE a", "1, column 13: found the end of the statement, expected PASSWORD or CERTIFICATE", ""},
	{"ALTER JOB a OWNER bob", "1, column 19: found bob, expected TO", ""},
	{"ALTER JOB a OWNER TO", "1, column 21: found the end of the statement, expected the name of a user", ""},
	{"ALTER JOB a OWNER TO 'bob'", `1, column 22: found a string, expected the name of a user; write a name without quotes or in "double quotes"`, ""},
	{"ALTER JOB a OWNER TO bob, SET PRIORITY = 1", "1, column 25: found a comma, expected the end of the statement", ""},
	{"ALTER JOB a SET PRIORITY = 1, OWNER TO bob", "1, column 31: found OWNER, expected a clause to set " + allClauses, ""},
	{"ALTER JOB a OWNR TO bob", "1, column 13: found OWNR, expected SET, DROP SECRET or OWNER TO; did you mean OWNER?", ""},
	{"DROP JOB a KEEP", "1, column 16: found the end of the statement, expected HISTORY", ""},
	{"DROP JOB a KEPT HISTORY", "1, column 12: found KEPT, expected KEEP HISTORY or the end of the statement", ""},
	{"DROP JOB IF EXIST a", "1, column 13: found EXIST, expected KEEP HISTORY or the end of the statement", ""},
	{"CANCEL JOB a", "1, column 12: found a, expected RUN", ""},
	{"CANCEL JOB RUN", "1, column 15: found the end of the statement, expected the id of a run" + uuidHint, ""},
	{"CANCEL JOB RUN 5", "1, column 16: found 5, expected the id of a run" + uuidHint, ""},
	{"EXPLAIN", "1, column 8: found the end of the statement, expected JOB RUN or a query", ""},
	{"EXPLAIN JOB a", "1, column 13: found a, expected RUN", ""},
	{"SHOW", "1, column 5: found the end of the statement, expected JOBS, GRANTS, USERS, ROLES, CREATE JOB or the name of a setting", ""},
	{"SHOW CREATE a", "1, column 13: found a, expected JOB", ""},
	{"SHOW 'x'", "1, column 6: found a string, expected JOBS, GRANTS, USERS, ROLES, CREATE JOB or the name of a setting", ""},
	{"BEGIN READ", "1, column 11: found the end of the statement, expected ONLY or WRITE", ""},
	{"BEGIN ISOLATION LEVEL HIGH", "1, column 23: found HIGH, expected SERIALIZABLE, REPEATABLE or READ", ""},
	{"BEGIN READ ONLY,", "1, column 17: found the end of the statement, expected READ ONLY, READ WRITE or ISOLATION LEVEL", ""},
	{"START", "1, column 6: found the end of the statement, expected TRANSACTION", ""},

	// Users, roles and rights.
	{"CREATE USER bob hush", "1, column 17: found hush, expected PASSWORD or CERTIFICATE", ""},
	{"CREATE USER bob WITH", "1, column 21: found the end of the statement, expected PASSWORD or CERTIFICATE", ""},
	{"CREATE USER bob PASSWROD 'hush'", "1, column 17: found PASSWROD, expected PASSWORD or CERTIFICATE; did you mean PASSWORD?", ""},
	{"CREATE USER bob PASSWORD NULL", "1, column 26: found a value without quotes, expected the password in single quotes", ""},
	{"CREATE USER bob PASSWORD 'hush' PASSWORD 'hush'", "1, column 33: PASSWORD is given twice, first in line 1; remove one of them", ""},
	{"CREATE USER bob CERTIFICATE bob", "1, column 29: found bob, expected the common name of the certificate in single quotes", ""},
	{"CREATE USER bob CERTIFICATE ''", "1, column 29: the common name of the certificate is empty; write it between the quotes", "22023"},
	{"CREATE USER bob SUPERUSER", "1, column 17: SUPERUSER is not supported; use GRANT ADMIN TO the user", "0A000"},
	{"ALTER USER bob PASSWORD ''", "1, column 25: the password is empty; write it between the quotes; PASSWORD NULL removes it", "22023"},
	{"ALTER USER bob RENAME TO rob", "1, column 16: ALTER USER … RENAME is not supported; create another one, grant it the same, and drop this one", "0A000"},
	{"ALTER ROLE a RENAME TO b", "1, column 14: ALTER ROLE … RENAME is not supported; create another one, grant it the same, and drop this one", "0A000"},
	{"SHOW GRANTS FOR", "1, column 16: found the end of the statement, expected the name of a user", ""},
	{"CREATE USER bob PASSWORD hush", "1, column 26: found a value without quotes, expected the password in single quotes", ""},
	{"CREATE USER bob PASSWORD ''", "1, column 26: the password is empty; write it between the quotes", "22023"},
	{"ALTER USER bob", "1, column 15: found the end of the statement, expected PASSWORD or CERTIFICATE", ""},
	{"CREATE ROLE ops PASSWORD 'x'", "1, column 17: a role cannot log in; leave it out, or use CREATE USER", ""},
	{"GRANT TO bob", "1, column 10: found bob, expected ON or TO", ""},
	{"GRANT CRAETE JOB TO bob", "1, column 7: found CRAETE, expected a privilege (CREATE JOB, ALTER JOB, DROP JOB, EXECUTE JOB, VIEW JOB HISTORY, EXECUTE EXTERNAL JOB, ADMIN); did you mean CREATE?", ""},
	{"GRANT CREATE JOB, ops TO bob", "1, column 19: found ops, expected a privilege (CREATE JOB, ALTER JOB, DROP JOB, EXECUTE JOB, VIEW JOB HISTORY, EXECUTE EXTERNAL JOB, ADMIN)", ""},
	{"GRANT ops, dev TO bob", "1, column 7: found ops, expected a privilege (CREATE JOB, ALTER JOB, DROP JOB, EXECUTE JOB, VIEW JOB HISTORY, EXECUTE EXTERNAL JOB, ADMIN)", ""},
	{"GRANT ops ON JOB a TO bob", "1, column 11: a role cannot be granted on a job; list privileges instead, or leave out ON JOB", ""},
	{"GRANT CREATE JOB, CREATE JOB TO bob", "1, column 19: CREATE JOB is named twice; remove one of them", "22023"},
	{"GRANT EXECUTE TO bob", "1, column 15: found TO, expected JOB or EXTERNAL", ""},
	{"GRANT VIEW JOB TO bob", "1, column 16: found TO, expected HISTORY", ""},
	{"GRANT CREATE JOB FROM bob", "1, column 18: found FROM, expected ON or TO", ""},
	{"GRANT CREATE JOB ON a TO bob", "1, column 21: found a, expected JOB", ""},
	{"GRANT CREATE JOB ON JOB a FROM bob", "1, column 27: found FROM, expected TO", ""},
	{"REVOKE ADMIN TO bob", "1, column 14: found TO, expected ON or FROM", ""},
	{"GRANT ADMIN TO", "1, column 15: found the end of the statement, expected the name of a user or role", ""},
	{"GRANT ADMIN TO bob, bob", "1, column 21: bob is named twice; remove one of them", "22023"},
}

func TestParseInvalidStatementsReportPositionAndReason(t *testing.T) {
	for _, row := range invalidStatements {
		checkInvalid(t, row.text, "line "+row.want, row.state)
	}
}

// TestParseInvalidCharactersAndSizesReportReason has texts with invalid bytes and texts that are too long.
func TestParseInvalidCharactersAndSizesReportReason(t *testing.T) {
	long := strings.Repeat("x", NameMax+1)
	many := ""
	for i := range ListMax {
		many += fmt.Sprintf("x%d, ", i)
	}
	for _, row := range []struct{ text, want, state string }{
		{"SHOW\x00 JOBS", "line 1, column 5: the text has a NUL character here; remove it", "22021"},
		{"SHOW\nJO\xffBS", "line 2, column 3: the text is not valid UTF-8 here; send it in UTF-8", "22021"},
		{"\xff\x00", "line 1, column 1: the text is not valid UTF-8 here; send it in UTF-8", "22021"},
		{"\uFEFFSHO", "line 1, column 1: found SHO, expected a statement " + allStatements + "; did you mean SHOW?", ""},
		{"CREATE\u00a0JOB a", `line 1, column 1: found CREATE\u00a0JOB, expected a statement ` + allStatements, ""},
		{"EXECUTE JOB " + long, "line 1, column 13: the name of a job has 256 bytes; at most 255 are allowed; shorten it", "42622"},
		{"ALTER JOB a SET SECRET '" + long[:129] + "' = ''", "line 1, column 24: the key of the secret has 129 bytes; at most 128 are allowed; shorten it", "42622"},
		{`EXECUTE "` + long + `"`, `line 1, column 9: found "` + long[:39] + "…, expected JOB", ""},
		{"EXECUTE JOB a " + long, "line 1, column 15: found " + long[:40] + "…, expected the end of the statement", ""},
		{"EXPLAIN 5a; b", "line 1, column 13: a second statement begins here; send one statement at a time", ""},
		{"CREATE JOB a SCHEDULE = EVERY '" + long + "'", "line 1, column 31: '" + long[:39] + "… is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},
		{"CREATE JOB a SCHEDULE = EVERY '99999999999 days'", "line 1, column 31: '99999999999 days' is not an interval; write it like 90 SECONDS, '90s' or '1h30m'", "22023"},
		{"CREATE JOB a PRIORITY = 5e", `line 1, column 25: 5e is neither a number nor a name; put a space after 5, or put a name in "double quotes"`, ""},
		{"CREATE JOB a SCHEDULE = AT '2026-11-15 09:00:00.x'", "line 1, column 28: '2026-11-15 09:00:00.x' is not a time" + timeHint, "22023"},
		{"SHOW " + long, "line 1, column 262: the name of the setting has 256 bytes; at most 255 are allowed; shorten it", "42622"},
		{"SELECT '" + strings.Repeat("x", TextMax) + "'", "line 1, column 1: the statement has 1048585 bytes; at most 1048576 are allowed; shorten it, for example by moving a long script to a procedure that the job calls", "54000"},
		{"ALTER JOB a SET DEPENDS ON " + many + "b", "the list has more than 1000 entries; shorten it", "54000"},
		{"CREATE JOB a AS CALL p(" + strings.Repeat("1,", ListMax) + "1)", "line 1, column 2024: the list has more than 1000 entries; shorten it", "54000"},
		{"CREATE JOB a PARTITION BY DYNAMIC " + strings.Repeat("(", nestingMax+1), "line 1, column 135: parentheses are nested more than 100 levels deep; write the expression in single quotes", "54000"},
	} {
		checkInvalid(t, row.text, row.want, row.state)
	}
}

// checkInvalid compares the error. A row may leave out the position.
func checkInvalid(t *testing.T, text, want, state string) {
	t.Helper()
	if state == "" {
		state = syntaxError
	}
	s, err := Parse(text)
	var parseErr *Error
	switch {
	case !errors.As(err, &parseErr):
		t.Errorf("%s\ngot  %+v, %v\nwant %s", excerpt(text), s, err, want)
	case parseErr.Error() != want && (strings.HasPrefix(want, "line ") || !strings.HasSuffix(parseErr.Error(), ": "+want)):
		t.Errorf("%s\ngot  %v\nwant %s", excerpt(text), err, want)
	case parseErr.State != state:
		t.Errorf("%s: got state %s, want %s", excerpt(text), parseErr.State, state)
	}
}

// TestErrorOffsetLineAndColumnAgree compares the byte offset, the line and column, and the position in characters.
func TestErrorOffsetLineAndColumnAgree(t *testing.T) {
	text := "CREATE JOB größe\n  -- ü\n  TÜMEOUT = 5"
	_, err := Parse(text)
	var parseErr *Error
	if !errors.As(err, &parseErr) {
		t.Fatal(err)
	}
	if at := strings.Index(text, "TÜ"); parseErr.Offset != at || parseErr.Line != 3 || parseErr.Column != 3 || parseErr.Position() != 27 || parseErr.Text != text {
		t.Errorf("got %+v at %d", parseErr, parseErr.Position())
	}
	if parseErr.Found != "TÜMEOUT" || parseErr.Hint != "did you mean TIMEOUT?" {
		t.Errorf("got %q, %q", parseErr.Found, parseErr.Hint)
	}
}

// TestParseErrorNeverContainsSecret parses secrets with syntax errors around them.
func TestParseErrorNeverContainsSecret(t *testing.T) {
	for _, text := range []string{
		"CREATE USER a PASSWORD hush", "CREATE USER a PASSWORD \"hush\"", "CREATE USER a PASSWORD 'hush' x", "CREATE USER a PASSWORD = 'hush'",
		"CREATE USER a PASSWORD 'hush", "CREATE USER a 'hush'", "ALTER ROLE a WITH PASSWORD 'hush' 'hush'",
		"ALTER USER a CERTIFICATE 'c' PASSWORD hush", "ALTER USER a PASSWORD E'hush'", "CREATE ROLE a PASSWORD 'hush'", "ALTER JOB a SET SECRET 'k' 'hush'", "ALTER JOB a SET SECRET 'k' = 5hush",
		"ALTER JOB a SET SECRET 'k' = E'hush'", "ALTER JOB a SET SECRET 'k' = 'hush' 'hush'",
		"ALTER JOB a SET SECRET 'k' \"hush\"", "ALTER JOB a SET SECRET 'k' hush", "ALTER JOB a SET SECRET 'k' = 'hu'hush'", "ALTER JOB a SET SECRET 'k' = 'hu'\"hush\"",
		"ALTER JOB a SET SECRET 'k' = 'hu'5hush", "ALTER JOB a SET SECRET 'k' = 'hu'$hush$", "ALTER JOB a SET SECRET 'k' = $$hu$$hush", "ALTER JOB a SET SECRET 'k' = $hush$",
		"ALTER JOB a SET DISABLED, SECRET 'k' = 'hu'hush'", "CREATE USER a PASSWORD 'hu'hush'", "ALTER USER a PASSWORD 'hu'5hush",
		"ALTER JOB a SET SECRET 'k' = 'hu', hush", "ALTER JOB a SET SECRET 'k' = 'v' DEPENDS ON b hush", "ALTER JOB a SET SECRET 'k'.hush",
	} {
		if _, err := Parse(text); err == nil || strings.Contains(err.Error(), "hush") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
