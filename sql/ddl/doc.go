// Package ddl parses and prints the SQL statements that create, change and run jobs.
//
//	Split   cuts a text into statements
//	Parse   turns one statement into a tree, or into an [*Error] that says where and why not
//	Print   turns a tree into its one canonical text, which Parse turns into an equal tree
//
// The tree holds only what the statement states. The caller checks whether a job exists, a time zone is
// known and a cron expression ever fires.
//
// # Jobs
//
//	CREATE JOB [IF NOT EXISTS] name clause …
//	CREATE OR ALTER JOB name clause …
//	RECREATE JOB name clause …
//	ALTER JOB [IF EXISTS] name SET clause [[,] [SET] clause …]
//	                           SET SECRET 'key' = 'value' | DROP SECRET 'key'
//	ALTER JOB [IF EXISTS] name OWNER TO user | CURRENT_USER
//	DROP JOB [IF EXISTS] name [KEEP HISTORY]
//	EXECUTE JOB name
//	CANCEL JOB RUN id
//	EXPLAIN JOB RUN id
//	SHOW JOBS
//	SHOW CREATE JOB name
//
// Clauses come in any order, each at most once. A job has a schedule and an action; the rest may be left out.
//
//	SCHEDULE = CRON 'expression' [STARTS 'time'] [ENDS 'time']
//	         | EVERY interval [STARTS 'time'] [ENDS 'time']
//	         | AT 'time'
//	AS 'statement' | CALL procedure(literal, …) | EXEC 'command'
//	CLASS = LOCAL_SAFE | LEADER_ONLY | QUORUM_REQUIRED
//	PARTITION BY ALL_SHARDS | SINGLE_SHARD uuid | SHARD_SET (uuid, …) | DYNAMIC 'expression' | DYNAMIC (expression)
//	TIME ZONE 'zone'
//	CATCH_UP = NONE | LAST | ALL
//	OVERLAP = ALLOW | SKIP | CANCEL
//	DEPENDS ON name, … | NONE
//	MAX_RETRIES = n
//	RETRY_BACKOFF = interval
//	TIMEOUT = interval
//	ON COMPLETION PRESERVE | DROP
//	RUN AS role | NONE
//	DESCRIPTION = 'text'
//	PRIORITY = n
//	ON TARGET name
//	WITH PARAMS '{json}'
//	ENABLED | DISABLED | PAUSED, in ALTER JOB: STATE = one of them
//
// The = may be left out. An interval is 90 SECONDS, 1 HOUR 30 MINUTES, '90s', '1h30m' or INTERVAL '5 minutes'; for
// RETRY_BACKOFF and TIMEOUT a bare number is seconds. A time is written as in RFC 3339, or as YYYY-MM-DD
// HH:MM[:SS[.ffffff]] in the time zone of the job: see [ParseTime].
//
// # The rest
//
//	CREATE USER [IF NOT EXISTS] name [[WITH] [PASSWORD 'text'] [CERTIFICATE 'common name']]
//	ALTER USER [IF EXISTS] name [WITH] [PASSWORD 'text' | NULL] [CERTIFICATE 'common name' | NULL]
//	CREATE ROLE [IF NOT EXISTS] name
//	DROP USER | ROLE [IF EXISTS] name
//	GRANT privilege, … | ALL [PRIVILEGES] [ON JOB name] TO name, …
//	REVOKE privilege, … | ALL [PRIVILEGES] [ON JOB name] FROM name, …
//	GRANT role TO name, …
//	REVOKE role FROM name, …
//	SHOW GRANTS [FOR name | CURRENT_USER], SHOW USERS, SHOW ROLES
//	BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK, ABORT
//	SHOW setting
//	SELECT, WITH, VALUES, TABLE, EXPLAIN: kept as text
//
// # Words
//
// Words may be written in any case. Bare names fold to lower case; "quoted names" stay as they are, with "" for a quote
// inside. A keyword is a name wherever only a name is allowed. Strings are 'in quotes', with a quote doubled inside, or
// $tag$between dollars$tag$. Comments are -- to the end of the line and /* nested */. The text is UTF-8 without NUL.
//
// Print writes *** in place of a password and of the value of a secret, so Parse cannot restore them.
//
// A statement has at most [TextMax] bytes. Parsing takes time linear in the length of the text.
package ddl
