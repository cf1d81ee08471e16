package postgres

import (
	"slices"
	"testing"
)

// TestSimpleJobCallsNoTriggerFunction checks that a job without relations is guarded only by WHEN
// conditions and constraints, and that its heartbeats are HOT updates.
func TestSimpleJobCallsNoTriggerFunction(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	p.must(`BEGIN; SET LOCAL track_functions = 'pl'`)
	defer p.must(`ROLLBACK`)
	beats := func() string {
		return p.column(`SELECT n_tup_hot_upd FROM pg_stat_xact_user_tables WHERE schemaname = 'rota' AND relname = 'jobs'`)[0]
	}
	p.must(insertJobSQL(map[string]string{"params": `'{"long":"' || repeat('x', 100000) || '"}'`}))
	p.must(`UPDATE rota_jobs SET params = '{}', priority = 7, version = id`)
	p.must(`UPDATE rota_jobs SET status = 'RUNNING', started_at = 8, run_id = id, token = id, runner = 'node', life = id, heartbeat_at = 8, stale_after = 9`)
	for range 3 {
		p.must(`UPDATE rota_jobs SET heartbeat_at = 9, stale_after = 10, progress = '{"done":1}'`)
	}
	p.must(`UPDATE rota_jobs SET cancel_at = 9, cancel_by = 'ada', cancel_reason = 'no', log_path = 'log', artifacts = E'"a"\n'`)
	p.must(`UPDATE rota_jobs SET artifacts = artifacts || E'"b"\n'`)
	if n := beats(); n != "5" {
		t.Errorf("%s of 5 updates were HOT updates", n)
	}
	p.must(`UPDATE rota_jobs SET outcome = 'COMPLETED', ended_at = 9, finished_at = 9, sequel = 'none', result = '{}'`)
	p.must(`DELETE FROM rota_jobs`)
	if called := p.column(`SELECT funcname FROM pg_stat_xact_user_functions`); len(called) != 0 {
		t.Errorf("the functions %v were called", called)
	}
}

// TestAuditEntryIsWrittenOnce checks that no trigger changes an entry after its insertion: a prune
// writes thousands, and an update would write each with all its index entries again.
func TestAuditEntryIsWrittenOnce(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	p.must(`BEGIN; INSERT INTO rota_audit (id, at, act) VALUES (gen_random_uuid(), 7, 'X'); SET CONSTRAINTS ALL IMMEDIATE`)
	if n := p.column(`SELECT n_tup_upd FROM pg_stat_xact_user_tables WHERE schemaname = 'rota' AND relname = 'audit'`); !slices.Equal(n, []string{"0"}) {
		t.Errorf("%s updates of an entry", n)
	}
}

// TestConcurrentAuditsDoNotDeadlock checks that a transaction with an audit entry blocks no other
// one before its commit.
func TestConcurrentAuditsDoNotDeadlock(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	one, two := newRawConn(t, s, nil), newRawConn(t, s, nil)
	const line = `INSERT INTO rota_audit (id, at, act) VALUES (gen_random_uuid(), 7, 'X')`
	two.must(`BEGIN; SELECT pg_advisory_xact_lock(7, 7)`)
	one.must(`BEGIN; ` + line)
	waits := make(chan error)
	go func() {
		_, err := one.exec(`SELECT pg_advisory_xact_lock(7, 7); COMMIT`)
		waits <- err
	}()
	two.must(line + `; COMMIT`)
	must(t, <-waits)
}

// TestExpectFailsOnMismatch checks which arguments make rota_expect fail the transaction.
func TestExpectFailsOnMismatch(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	for args, want := range map[string]bool{"2, 2, 2": true, "0, 0, 0": true, "1, 2, 2": false, "2, 2, 3": false, "0, 0, 1": false, "2, NULL, 2": false} {
		_, err := p.exec(`SELECT rota_expect(` + args + `)`)
		if (err == nil) != want || !want && !isRetryable(err) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
