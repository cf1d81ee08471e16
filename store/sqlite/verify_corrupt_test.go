package sqlite

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// corruption changes a healthy store by statements that the schema normally refuses. Verify must
// report the check it is named after and those it implies. SQLite's integrity check also covers
// CHECK constraints and unique indexes.
type corruption struct {
	check   string
	name    string
	sql     []string
	implies []string
}

var corruptions = []corruption{
	{rota.CheckFile, "an index without its entries", swapIndex("rota_jobs_due", "run_at, id", "status = 'QUEUED' AND hold = 9"), nil},
	{rota.CheckSchema, "a trigger less", []string{`DROP TRIGGER IF EXISTS rota_jobs_frozen`, `DELETE FROM kept WHERE name = 'rota_jobs_frozen'`}, nil},
	{rota.CheckSchema, "a trigger disarmed", []string{`UPDATE kept SET sql = replace(sql, 'a job that has left', 'any job') WHERE name = 'rota_jobs_start'`}, nil},
	{rota.CheckSchema, "an index less", []string{`DROP INDEX rota_jobs_order`}, nil},

	{rota.CheckIDShape, "a job's id cut short", []string{`UPDATE rota_jobs SET version = x'01' WHERE id = :queued`}, nil},
	{rota.CheckIDShape, "a job with the zero id", []string{`UPDATE rota_jobs SET id = zeroblob(16) WHERE id = :queued`}, nil},
	{rota.CheckIDShape, "an audit entry with a short id", []string{`UPDATE rota_audit SET id = x'0102'`}, []string{rota.CheckAuditChain}},
	{rota.CheckAuditChain, "an audit entry of another actor", []string{`UPDATE rota_audit SET actor = 'eve'`}, nil},
	{rota.CheckIDShape, "a key with a short execution", []string{`UPDATE rota_keys SET execution_id = x'0102' WHERE key = 'gone'`}, nil},
	{rota.CheckUnknownWord, "a status", []string{`UPDATE rota_jobs SET status = 'SLEEPING' WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckUnknownWord, "a sequel", []string{`UPDATE rota_jobs SET sequel = 'later' WHERE id = :dead`}, []string{rota.CheckFile}},
	{rota.CheckUnknownWord, "an outcome", []string{`UPDATE rota_jobs SET outcome = 'MAYBE' WHERE id = :completed`}, []string{rota.CheckFile}},
	{rota.CheckOutOfRange, "priority", []string{`UPDATE rota_jobs SET priority = 1000001 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "position", []string{`UPDATE rota_jobs SET position = 9223372036854775807 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "jitter", []string{`UPDATE rota_jobs SET jitter = 1.5 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "type", []string{`UPDATE rota_jobs SET type = 'two words' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "params", []string{`UPDATE rota_jobs SET params = '{' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "params that are no object", []string{`UPDATE rota_jobs SET params = '[]' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "no params", []string{`UPDATE rota_jobs SET params = '' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "long params gone", []string{`DELETE FROM rota_params WHERE job_id = :long`}, nil},
	{rota.CheckOrphanParams, "params of nothing", []string{`INSERT INTO rota_params VALUES (randomblob(16), '{}')`}, nil},
	{rota.CheckBadJSON, "result", []string{`UPDATE rota_jobs SET result = 'done' WHERE id = :completed`}, nil},
	{rota.CheckBadJSON, "progress", []string{`UPDATE rota_jobs SET progress = '50%' WHERE id = :running`}, nil},

	{rota.CheckQueuedShape, "started", []string{`UPDATE rota_jobs SET started_at = 1 WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckQueuedShape, "finished", []string{`UPDATE rota_jobs SET finished_at = 1 WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckQueuedShape, "ready since never", []string{`UPDATE rota_jobs SET queued_at = NULL WHERE id = :queued`}, nil},
	{rota.CheckHoldShape, "delayed without a time", []string{`UPDATE rota_jobs SET run_at = NULL WHERE id = :delayed`}, nil},
	{rota.CheckHoldShape, "held for no known reason", []string{`UPDATE rota_jobs SET hold = 33 WHERE id = :delayed`}, nil},
	{rota.CheckHoldShape, "held and in the order", []string{`UPDATE rota_jobs SET queued_at = run_at WHERE id = :delayed`}, nil},
	{rota.CheckQueuedEarly, "queued", []string{`UPDATE rota_jobs SET run_at = queued_at + 1 WHERE id = :queued`}, nil},
	{rota.CheckQueuedEarly, "run", []string{`UPDATE rota_jobs SET run_at = queued_at + 1 WHERE id = :completed`}, nil},
	{rota.CheckRunningShape, "never started", []string{`UPDATE rota_jobs SET started_at = NULL WHERE id = :running`}, []string{rota.CheckFile}},
	{rota.CheckRunningShape, "held", []string{`UPDATE rota_jobs SET hold = 1 WHERE id = :running`}, nil},
	{rota.CheckRunningShape, "never queued", []string{`UPDATE rota_jobs SET queued_at = NULL WHERE id = :running`}, nil},
	{rota.CheckCancelledShape, "started", []string{`UPDATE rota_jobs SET started_at = 1 WHERE id = :cancelled`}, []string{rota.CheckFile}},
	{rota.CheckCancelledShape, "dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :cancelled`}, []string{rota.CheckFile}},
	{
		rota.CheckCancelledShape, "not ended",
		[]string{`UPDATE rota_jobs SET finished_at = NULL WHERE id = :cancelled`},
		[]string{rota.CheckFile, rota.CheckSequelUnfinished},
	},

	{rota.CheckRunningWithoutRun, "open", []string{sqlitetest.WithoutRun(":running")}, nil},
	{rota.CheckRunningWithoutRun, "ended", []string{sqlitetest.WithoutRun(":completed")}, nil},
	{rota.CheckOrphanRun, "what is left of one", []string{`UPDATE rota_jobs SET progress = '7' WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckOrphanRun, "a token", []string{`UPDATE rota_jobs SET token = randomblob(16) WHERE id = :cancelled`}, []string{rota.CheckFile}},
	{rota.CheckRunWithoutRunningJob, "a queued job", []string{
		`UPDATE rota_jobs SET token = randomblob(16), runner = 'node', heartbeat_at = 1, stale_after = 1 WHERE id = :queued`,
	}, []string{rota.CheckFile}},
	{rota.CheckRunWithoutRunningJob, "a cancelled job that names one", []string{`UPDATE rota_jobs SET run_id = randomblob(16) WHERE id = :cancelled`}, []string{rota.CheckFile}},
	{rota.CheckDoubleRun, "two jobs, one run", []string{`UPDATE rota_jobs SET run_id = (SELECT run_id FROM rota_jobs WHERE id = :completed) WHERE id = :running`}, nil},
	{rota.CheckRunShape, "no id", []string{`UPDATE rota_jobs SET run_id = NULL WHERE id = :running`}, nil},
	{rota.CheckRunShape, "an outcome without an end", []string{`UPDATE rota_jobs SET ended_at = NULL WHERE id = :completed`}, nil},
	{rota.CheckTokenEmpty, "open", []string{`UPDATE rota_jobs SET token = zeroblob(16) WHERE id = :running`}, nil},
	{rota.CheckOpenJobClosedRun, "open job", []string{`UPDATE rota_jobs SET finished_at = NULL, sequel = NULL WHERE id = :completed`}, nil},
	{rota.CheckClosedJobOpenRun, "open run", []string{`UPDATE rota_jobs SET outcome = NULL, ended_at = NULL WHERE id = :completed`}, nil},
	{rota.CheckCancelIgnored, "failed", []string{`UPDATE rota_jobs SET cancel_at = 1 WHERE id = :dead`}, nil},

	{rota.CheckFinishedWithoutSequel, "completed", []string{`UPDATE rota_jobs SET sequel = NULL WHERE id = :completed`}, nil},
	{rota.CheckFinishedWithoutSequel, "cancelled", []string{`UPDATE rota_jobs SET sequel = NULL WHERE id = :cancelled`}, []string{rota.CheckFile}},
	{rota.CheckSequelUnfinished, "running", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :running`}, []string{rota.CheckFile}},
	{rota.CheckWrongSequel, "completed, yet dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :completed`}, nil},
	{rota.CheckWrongSequel, "failed, yet nothing", []string{`UPDATE rota_jobs SET sequel = 'none' WHERE id = :dead`}, nil},
	{rota.CheckRetryMissing, "the retry is gone", []string{`DELETE FROM rota_jobs WHERE id = :retry`}, nil},
	{rota.CheckRetryUnasked, "the parent is dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :failed`}, nil},
	{rota.CheckRetryMissingParent, "the parent is gone", []string{`DELETE FROM rota_jobs WHERE id = :failed`}, nil},
	{rota.CheckRetryTwice, "two retries", []string{`DROP INDEX rota_jobs_retry`, `UPDATE rota_jobs SET
		retry_of = :failed, execution_id = :failed, attempt = 2, type = 'web', priority = 0 WHERE id = :queued`}, []string{rota.CheckSchema}},

	{rota.CheckAttemptRange, "beyond the last", []string{`UPDATE rota_jobs SET max_attempts = 0 WHERE id = :queued`}, []string{rota.CheckFile, rota.CheckOutOfRange}},
	{rota.CheckAttemptRange, "a second that retries nothing", []string{`UPDATE rota_jobs SET attempt = 2 WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckAttemptRange, "a first that retries", []string{`UPDATE rota_jobs SET attempt = 1 WHERE id = :retry`}, []string{rota.CheckChainLength}},
	{rota.CheckExecutionIdentity, "a first attempt of another", []string{`UPDATE rota_jobs SET execution_id = :running WHERE id = :queued`}, []string{rota.CheckFile}},
	{rota.CheckChainLength, "an attempt left out", []string{`UPDATE rota_jobs SET attempt = 3 WHERE id = :retry`}, nil},
	{rota.CheckChainIdentity, "another execution", []string{`UPDATE rota_jobs SET execution_id = :queued WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another type", []string{`UPDATE rota_jobs SET type = 'mail' WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another name", []string{`UPDATE rota_jobs SET name = 'other' WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another scope", []string{`UPDATE rota_jobs SET scope_kind = 'shard', scope_id = '7' WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another plan", []string{`UPDATE rota_jobs SET plan_time = 7 WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "a key", []string{`UPDATE rota_jobs SET unique_key = 'new' WHERE id = :retry`}, []string{rota.CheckUniqueKeyLive}},
	{rota.CheckChainKept, "another creator", []string{`UPDATE rota_jobs SET created_by = 'eve' WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another policy", []string{`UPDATE rota_jobs SET timeout = 1 WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "other params", []string{`UPDATE rota_jobs SET params = '{"n":1}' WHERE id = :retry`}, nil},
	{rota.CheckChainKept, "another priority", []string{`UPDATE rota_jobs SET priority = 9 WHERE id = :retry`}, nil},

	// The index is built over other rows and then put in place of the original.
	{rota.CheckOrderTotal, "a job that is not in it", swapIndex("rota_jobs_order", "priority DESC, position, created_at, id",
		"status = 'QUEUED' AND priority < 5"), []string{rota.CheckFile}},
	{rota.CheckOrderTotal, "claims that pass over a job", swapIndex("rota_jobs_claim", "type, priority DESC, position, created_at, id, queued_at",
		"status = 'QUEUED' AND hold = 0 AND priority < 5"), []string{rota.CheckFile}},
	{rota.CheckOrderTotal, "a queue in another order", swapIndex("rota_jobs_order", "-priority DESC, position, created_at, id",
		"status = 'QUEUED'"), []string{rota.CheckFile}},
	{rota.CheckPlanTwice, "two first attempts", []string{
		`DROP INDEX rota_jobs_plan`,
		`UPDATE rota_jobs SET plan_time = (SELECT plan_time FROM rota_jobs WHERE id = :planned), name = 'nightly' WHERE id = :queued`,
	}, []string{rota.CheckSchema}},
	{rota.CheckUniqueKeyOwner, "another's key", []string{`UPDATE rota_keys SET execution_id = :queued WHERE key = 'gone'`}, nil},
	{rota.CheckUniqueKeyOwner, "a retry's key", []string{`UPDATE rota_keys SET execution_id = :retry WHERE key = 'gone'`}, nil},
	{rota.CheckUniqueKeyOwner, "held for another time", []string{`UPDATE rota_keys SET free_at = 1 WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyFreed, "dead", []string{`INSERT INTO rota_keys (type, key, execution_id) VALUES ('web', 'lost', :dead)`}, nil},
	{rota.CheckUniqueKeyFreed, "cancelled", []string{`INSERT INTO rota_keys (type, key, execution_id) VALUES ('web', 'off', :cancelled)`}, nil},
	{rota.CheckUniqueKeyLive, "queued", []string{`DELETE FROM rota_keys WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyLive, "taken from it", []string{`UPDATE rota_keys SET execution_id = randomblob(16) WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyLive, "marked too early", []string{`UPDATE rota_keys SET ended = 1 WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyLive, "completed, kept until pruned", []string{`DELETE FROM rota_keys WHERE key = 'kept'`}, nil},
	{rota.CheckUniqueKeyLive, "completed, never marked", []string{`UPDATE rota_keys SET ended = 0 WHERE key = 'hour'`}, nil},
}

// swapIndex replaces the content of an index by that of another expression or condition, without a
// change of the schema.
func swapIndex(name, columns, where string) []string {
	return []string{
		`CREATE INDEX swapped ON rota_jobs (` + columns + `) WHERE ` + where,
		`PRAGMA writable_schema = ON`,
		`UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'swapped') WHERE name = '` + name + `'`,
		`DELETE FROM sqlite_schema WHERE name = 'swapped'`,
	}
}

func TestVerifyNamesCorruption(t *testing.T) { checkCorruptions(t, fillJobs, corruptions) }

func TestVerifyNamesCorruptionOfRelatedRows(t *testing.T) {
	checkCorruptions(t, fillRelated, relatedCorruptions)
}

func checkCorruptions(t *testing.T, fill func(testing.TB, rota.Store) map[string]rota.ID, corruptions []corruption) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Logger: quiet})
	jobs := fill(t, s)
	must(t, s.Close())
	healthy, err := os.ReadFile(s.path)
	must(t, err)
	for _, c := range corruptions {
		t.Run(c.check+"/"+c.name, func(t *testing.T) {
			path := filepath.Join(sqlitetest.MemoryDir(t), "rota.db")
			must(t, os.WriteFile(path, healthy, 0o600))
			corrupt(t, path, jobs, c.sql)
			found := violationsOf(t, path)
			want := append([]string{c.check}, c.implies...)
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v\n%v", got, want, found)
			}
		})
	}
}

// TestEveryCheckIsTested compares the tables of corruptions with the list of checks.
func TestEveryCheckIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range slices.Concat(corruptions, relatedCorruptions) {
		tested[c.check] = true
	}
	for _, check := range rota.Checks {
		if !tested[check.Name] {
			t.Errorf("no corruption tests %s", check.Name)
		}
		delete(tested, check.Name)
	}
	for name := range tested {
		t.Errorf("%s is not in rota.Checks", name)
	}
}

// violationsOf returns what Verify finds in a file, by check.
func violationsOf(t *testing.T, path string) map[string][]string {
	t.Helper()
	s, err := OpenWith(path, Config{ReadOnly: true})
	must(t, err)
	defer s.Close()
	found := map[string][]string{}
	for v, err := range s.Verify(context.Background()) {
		must(t, err)
		if len(v.Rows) == 0 || v.Rows[0] == "" || v.Detail == "" {
			t.Errorf("%+v names no row or no problem", v)
		}
		found[v.Check] = append(found[v.Check], v.Rows[0]+": "+v.Detail)
	}
	return found
}

// corrupt drops the triggers, turns the CHECK constraints off, executes statements, and creates the
// triggers again from the table kept, which the statements may change.
func corrupt(t testing.TB, path string, jobs map[string]rota.ID, statements []string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	run := func(sql string) {
		t.Helper()
		if err := sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{Named: namedIn(sql, jobs)}); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	run(`PRAGMA ignore_check_constraints = ON`)
	run(`CREATE TEMP TABLE kept AS SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
	for _, name := range column(t, conn, `SELECT name FROM kept`) {
		run(`DROP TRIGGER ` + name)
	}
	for _, sql := range statements {
		run(sql)
	}
	for _, sql := range column(t, conn, `SELECT sql FROM kept`) {
		run(sql)
	}
}

// fillJobs creates a healthy store with one job in each state. Jobs of type idle are never claimed.
func fillJobs(t testing.TB, s rota.Store) map[string]rota.ID {
	t.Helper()
	once := func(c *rota.NewJob) *rota.NewJob { c.MaxRetries = new(0); return c }
	parts := []struct {
		name string
		job  rota.NewJob
	}{
		{"queued", rota.NewJob{Type: "idle", Priority: new(5)}},
		{"keyed", rota.NewJob{Type: "idle", UniqueKey: "held"}},
		{"delayed", rota.NewJob{Type: "idle", Delay: time.Hour}},
		{"planned", rota.NewJob{Type: "idle", Name: "nightly", PlanTime: noon}},
		{"cancelled", rota.NewJob{Type: "web", UniqueKey: "off", Delay: time.Hour}},
		{"completed", rota.NewJob{Type: "web"}},
		{"kept", rota.NewJob{Type: "web", UniqueKey: "kept"}},
		{"hour", rota.NewJob{Type: "web", UniqueKey: "hour", UniqueFor: time.Hour}},
		{"failed", rota.NewJob{Type: "web"}},
		{"dead", *once(&rota.NewJob{Type: "web", UniqueKey: "lost"})},
		{"running", rota.NewJob{Type: "web"}},
		{"long", rota.NewJob{Type: "idle", Priority: new(4), Params: longParams}},
		{"longrun", rota.NewJob{Type: "web", Params: longParams}},
	}
	jobs := map[string]rota.ID{}
	leases := map[string]rota.LeaseRef{}
	for _, p := range parts {
		jobs[p.name] = apply(t, s, at(0, enqueue(p.job)))[0].Reply.(*rota.Enqueued).Jobs[0].Job.ID
	}
	for _, j := range apply(t, s, at(time.Second, claim(10)))[0].Reply.(*rota.Claimed).Jobs {
		for name, id := range jobs {
			if id == j.ID {
				leases[name] = lease(j)
			}
		}
	}
	end := func(name string, outcome rota.Outcome) rota.FinishItem {
		return rota.FinishItem{LeaseRef: leases[name], Outcome: outcome}
	}
	answers := apply(t, s, at(2*time.Second, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{
		end("completed", rota.OutcomeCompleted), end("kept", rota.OutcomeCompleted), end("hour", rota.OutcomeCompleted),
		end("failed", rota.OutcomeFailed), end("dead", rota.OutcomeFailed),
	}}))[0].Reply.(*rota.Finished).Items
	jobs["retry"] = answers[3].RetryID
	apply(t, s, at(2*time.Second, &rota.Cancel{Meta: rota.NewMeta("ada"), JobID: jobs["cancelled"]}))
	conn, err := sqlite.OpenConn(s.(*Store).path, sqlite.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	must(t, sqlitex.ExecuteTransient(conn, `INSERT INTO rota_keys (type, key, execution_id) VALUES ('web', 'gone', randomblob(16))`, nil))
	verifyClean(t, s)
	return jobs
}

// longParams are too long for the row of their job.
var longParams = []byte(`{"x":"` + strings.Repeat("p", 2*paramsInline) + `"}`)
