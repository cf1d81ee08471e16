package postgres

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// corruption is a change that bypasses all guards, and the checks that must find it: its own and
// those that it implies.
type corruption struct {
	check   string
	name    string
	sql     []string
	implies []string
}

var corruptions = []corruption{
	{rota.CheckSchema, "a trigger less", []string{`DROP TRIGGER jobs_frozen ON rota_jobs`}, nil},
	{rota.CheckSchema, "a disabled trigger", []string{`ALTER TABLE rota_jobs DISABLE TRIGGER jobs_frozen`}, nil},
	{rota.CheckSchema, "an index less", []string{`DROP INDEX rota_jobs_order`}, nil},

	{rota.CheckIDShape, "a job with the zero id", []string{`UPDATE rota_jobs SET id = '00000000-0000-0000-0000-000000000000' WHERE id = :queued`}, nil},
	{rota.CheckAuditChain, "an audit entry removed before it was sealed", []string{`DELETE FROM rota_audit`}, nil},
	{rota.CheckUnknownWord, "a status", []string{`UPDATE rota_jobs SET status = 'SLEEPING' WHERE id = :queued`}, nil},
	{rota.CheckUnknownWord, "a sequel", []string{`UPDATE rota_jobs SET sequel = 'later' WHERE id = :dead`}, nil},
	{rota.CheckUnknownWord, "an outcome", []string{`UPDATE rota_jobs SET outcome = 'MAYBE' WHERE id = :completed`}, nil},
	{rota.CheckOutOfRange, "priority", []string{`UPDATE rota_jobs SET priority = 1000001 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "position", []string{`UPDATE rota_jobs SET position = 9223372036854775807 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "jitter", []string{`UPDATE rota_jobs SET jitter = 1.5 WHERE id = :queued`}, nil},
	{rota.CheckOutOfRange, "type", []string{`UPDATE rota_jobs SET type = 'two words' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "params", []string{`UPDATE rota_jobs SET params = '{' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "params that are no object", []string{`UPDATE rota_jobs SET params = '[]' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "no params", []string{`UPDATE rota_jobs SET params = '' WHERE id = :queued`}, nil},
	{rota.CheckBadJSON, "result", []string{`UPDATE rota_jobs SET result = 'done' WHERE id = :completed`}, nil},
	{rota.CheckBadJSON, "progress", []string{`UPDATE rota_jobs SET progress = '50%' WHERE id = :running`}, nil},

	{rota.CheckQueuedShape, "started", []string{`UPDATE rota_jobs SET started_at = 1 WHERE id = :queued`}, nil},
	{rota.CheckQueuedShape, "finished", []string{`UPDATE rota_jobs SET finished_at = 1 WHERE id = :queued`}, nil},
	{rota.CheckQueuedShape, "ready since never", []string{`UPDATE rota_jobs SET queued_at = NULL WHERE id = :queued`}, nil},
	{rota.CheckHoldShape, "delayed without a time", []string{`UPDATE rota_jobs SET run_at = NULL WHERE id = :delayed`}, nil},
	{rota.CheckHoldShape, "held for an unknown reason", []string{`UPDATE rota_jobs SET hold = 33 WHERE id = :delayed`}, nil},
	{rota.CheckHoldShape, "held and in the order", []string{`UPDATE rota_jobs SET queued_at = run_at WHERE id = :delayed`}, nil},
	{rota.CheckQueuedEarly, "queued", []string{`UPDATE rota_jobs SET run_at = queued_at + 1 WHERE id = :queued`}, nil},
	{rota.CheckQueuedEarly, "run", []string{`UPDATE rota_jobs SET run_at = queued_at + 1 WHERE id = :completed`}, nil},
	{rota.CheckRunningShape, "never started", []string{`UPDATE rota_jobs SET started_at = NULL WHERE id = :running`}, nil},
	{rota.CheckRunningShape, "held", []string{`UPDATE rota_jobs SET hold = 1 WHERE id = :running`}, nil},
	{rota.CheckRunningShape, "never queued", []string{`UPDATE rota_jobs SET queued_at = NULL WHERE id = :running`}, nil},
	{rota.CheckCancelledShape, "started", []string{`UPDATE rota_jobs SET started_at = 1 WHERE id = :cancelled`}, nil},
	{rota.CheckCancelledShape, "dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :cancelled`}, nil},
	{
		rota.CheckCancelledShape, "not ended",
		[]string{`UPDATE rota_jobs SET finished_at = NULL WHERE id = :cancelled`},
		[]string{rota.CheckSequelUnfinished},
	},

	{rota.CheckRunningWithoutRun, "open", []string{withoutRun(":running")}, nil},
	{rota.CheckRunningWithoutRun, "ended", []string{withoutRun(":completed")}, nil},
	{rota.CheckOrphanRun, "what is left of one", []string{`UPDATE rota_jobs SET progress = '7' WHERE id = :queued`}, nil},
	{rota.CheckOrphanRun, "a token", []string{`UPDATE rota_jobs SET token = gen_random_uuid() WHERE id = :cancelled`}, nil},
	{rota.CheckRunWithoutRunningJob, "a queued job", []string{
		`UPDATE rota_jobs SET token = gen_random_uuid(), runner = 'node', heartbeat_at = 1, stale_after = 1 WHERE id = :queued`,
	}, nil},
	{rota.CheckRunWithoutRunningJob, "a cancelled job that names one", []string{`UPDATE rota_jobs SET run_id = gen_random_uuid() WHERE id = :cancelled`}, nil},
	{rota.CheckDoubleRun, "two jobs, one run", []string{`UPDATE rota_jobs SET run_id = (SELECT run_id FROM rota_jobs WHERE id = :completed) WHERE id = :running`}, nil},
	{rota.CheckRunShape, "no id", []string{`UPDATE rota_jobs SET run_id = NULL WHERE id = :running`}, nil},
	{rota.CheckRunShape, "an outcome without an end", []string{`UPDATE rota_jobs SET ended_at = NULL WHERE id = :completed`}, nil},
	{rota.CheckTokenEmpty, "open", []string{`UPDATE rota_jobs SET token = '00000000-0000-0000-0000-000000000000' WHERE id = :running`}, nil},
	{rota.CheckOpenJobClosedRun, "open job", []string{`UPDATE rota_jobs SET finished_at = NULL, sequel = NULL WHERE id = :completed`}, nil},
	{rota.CheckClosedJobOpenRun, "open run", []string{`UPDATE rota_jobs SET outcome = NULL, ended_at = NULL WHERE id = :completed`}, nil},
	{rota.CheckCancelIgnored, "failed", []string{`UPDATE rota_jobs SET cancel_at = 1 WHERE id = :dead`}, nil},

	{rota.CheckFinishedWithoutSequel, "completed", []string{`UPDATE rota_jobs SET sequel = NULL WHERE id = :completed`}, nil},
	{rota.CheckFinishedWithoutSequel, "cancelled", []string{`UPDATE rota_jobs SET sequel = NULL WHERE id = :cancelled`}, nil},
	{rota.CheckSequelUnfinished, "running", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :running`}, nil},
	{rota.CheckWrongSequel, "completed, yet dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :completed`}, nil},
	{rota.CheckWrongSequel, "failed, yet nothing", []string{`UPDATE rota_jobs SET sequel = 'none' WHERE id = :dead`}, nil},
	{rota.CheckRetryMissing, "the retry is gone", []string{`DELETE FROM rota_jobs WHERE id = :retry`}, nil},
	{rota.CheckRetryUnasked, "the parent is dead", []string{`UPDATE rota_jobs SET sequel = 'dead' WHERE id = :failed`}, nil},
	{rota.CheckRetryMissingParent, "the parent is gone", []string{`DELETE FROM rota_jobs WHERE id = :failed`}, nil},
	{rota.CheckRetryTwice, "two retries", []string{`DROP INDEX rota_jobs_retry`, `UPDATE rota_jobs SET
		retry_of = :failed, execution_id = :failed, attempt = 2, type = 'web', priority = 0 WHERE id = :queued`}, []string{rota.CheckSchema}},

	{rota.CheckAttemptRange, "beyond the last", []string{`UPDATE rota_jobs SET max_attempts = 0 WHERE id = :queued`}, []string{rota.CheckOutOfRange}},
	{rota.CheckAttemptRange, "a second that retries nothing", []string{`UPDATE rota_jobs SET attempt = 2 WHERE id = :queued`}, nil},
	{rota.CheckAttemptRange, "a first that retries", []string{`UPDATE rota_jobs SET attempt = 1 WHERE id = :retry`}, []string{rota.CheckChainLength}},
	{rota.CheckExecutionIdentity, "a first attempt of another", []string{`UPDATE rota_jobs SET execution_id = :running WHERE id = :queued`}, nil},
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

	// An index misses an update without any error.
	{rota.CheckOrderTotal, "a job that is not in it", skippedByIndex("jobs_order"), nil},
	{rota.CheckOrderTotal, "a claim index that misses a job", skippedByIndex("jobs_claim"), nil},
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
	{rota.CheckUniqueKeyLive, "taken from it", []string{`UPDATE rota_keys SET execution_id = gen_random_uuid() WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyLive, "marked too early", []string{`UPDATE rota_keys SET ended = true WHERE key = 'held'`}, nil},
	{rota.CheckUniqueKeyLive, "completed, kept until pruned", []string{`DELETE FROM rota_keys WHERE key = 'kept'`}, nil},
	{rota.CheckUniqueKeyLive, "completed, never marked", []string{`UPDATE rota_keys SET ended = false WHERE key = 'hour'`}, nil},
}

// skippedByIndex changes a job while an index is not maintained, and then marks the index as ready.
func skippedByIndex(index string) []string {
	kept := func(is string) string {
		return `UPDATE pg_index SET indisready = ` + is + ` WHERE indexrelid = 'rota_` + index + `'::regclass`
	}
	return []string{kept("false"), `UPDATE rota_jobs SET priority = 6 WHERE id = :queued`, kept("true")}
}

func TestVerifyNamesCorruption(t *testing.T) { checkCorruptions(t, fillJobs, corruptions) }

func TestVerifyNamesCorruptionOfRelatedRows(t *testing.T) {
	checkCorruptions(t, fillRelated, relatedCorruptions)
}

// checkCorruptions applies each corruption, verifies and rolls back, in one transaction.
func checkCorruptions(t *testing.T, fill func(testing.TB, *Store) map[string]rota.ID, corruptions []corruption) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	p.ids = fill(t, s)
	for _, c := range corruptions {
		t.Run(c.check+"/"+c.name, func(t *testing.T) {
			p.t = t
			p.must(`BEGIN`)
			defer p.must(`ROLLBACK`)
			p.corrupt(c.sql)
			found := violationsOn(t, p)
			want := append([]string{c.check}, c.implies...)
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
				t.Errorf("found %v, want %v\n%v", got, want, found)
			}
		})
	}
}

// TestEveryCheckIsTested compares the corruptions with the list of checks. Params are stored in the
// row of their job, and TestVerifyReportsDamage covers CheckFile.
func TestEveryCheckIsTested(t *testing.T) {
	tested := map[string]bool{rota.CheckFile: true, rota.CheckOrphanParams: true}
	for _, c := range slices.Concat(corruptions, relatedCorruptions) {
		tested[c.check] = true
	}
	for _, check := range rota.Checks {
		if !tested[check.Name] {
			t.Errorf("nothing corrupts a store so that %s is found", check.Name)
		}
		delete(tested, check.Name)
	}
	for name := range tested {
		t.Errorf("%s is not in rota.Checks", name)
	}
}

// violationsOn returns what Verify finds on a connection, by check.
func violationsOn(t *testing.T, p *rawConn) map[string][]string {
	t.Helper()
	found := map[string][]string{}
	on := verified{&session{conn: p.conn, dialect: p.text}, t.Context()}
	violations := storekit.Inspect(t.Context(), func(rota.Checked) {},
		func(use func(storekit.Verified) error) error { return use(on) }, (*storekit.Inspection).CheckAll)
	for v, err := range violations {
		must(t, err)
		if len(v.Rows) == 0 || v.Rows[0] == "" || v.Detail == "" {
			t.Errorf("%+v names no row or no problem", v)
		}
		found[v.Check] = append(found[v.Check], v.Rows[0]+": "+v.Detail)
	}
	return found
}

// corrupt executes statements without triggers and CHECK constraints. It then adds the constraints
// again and marks them as validated.
func (p *rawConn) corrupt(statements []string) {
	p.t.Helper()
	p.must(`
SET LOCAL session_replication_role = replica;
CREATE TEMP TABLE kept ON COMMIT DROP AS
SELECT conrelid::regclass AS of, conname AS name, pg_get_constraintdef(oid) AS text
FROM pg_constraint
WHERE connamespace = 'rota'::regnamespace AND contype = 'c'`)
	p.eachConstraint(`'ALTER TABLE %s DROP CONSTRAINT %I', k.of, k.name`)
	for _, sql := range statements {
		p.must(sql)
	}
	p.eachConstraint(`'ALTER TABLE %s ADD CONSTRAINT %I %s NOT VALID', k.of, k.name, k.text`)
	p.must(`UPDATE pg_constraint SET convalidated = true WHERE connamespace = 'rota'::regnamespace`)
}

func (p *rawConn) eachConstraint(format string) {
	p.t.Helper()
	p.must(strings.ReplaceAll(`
DO $$
DECLARE k record;
BEGIN
  FOR k IN SELECT * FROM kept LOOP
    EXECUTE format(:format);
  END LOOP;
END $$`, ":format", format))
}
