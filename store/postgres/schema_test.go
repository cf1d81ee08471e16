package postgres

import (
	"slices"
	"strings"
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

// TestAuditIsNumberedAtCommit checks that a reader that has read an entry never finds a new entry
// with a smaller number, whichever transaction inserted first.
func TestAuditIsNumberedAtCommit(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	slow, quick := newRawConn(t, s, nil), newRawConn(t, s, nil)
	line := func(act string) string {
		return `INSERT INTO rota_audit (id, at, act) VALUES (gen_random_uuid(), 7, '` + act + `')`
	}
	slow.must(`BEGIN; ` + line("slow 1"))
	quick.must(`BEGIN; ` + line("quick 1") + `; ` + line("quick 2") + `; COMMIT`)
	slow.must(line("slow 2"))
	if read := quick.column(`SELECT act FROM rota_audit WHERE seq > 0 ORDER BY seq`); strings.Join(read, ", ") != "quick 1, quick 2" {
		t.Errorf("read %q", read)
	}
	slow.must(`COMMIT`)
	quick.must(`BEGIN; ` + line("never") + `; SET CONSTRAINTS ALL IMMEDIATE; ROLLBACK`)
	quick.must(line("quick 3"))
	read := quick.column(`SELECT seq || ' ' || act FROM rota_audit WHERE seq > 0 ORDER BY seq`)
	if want := []string{"1 quick 1", "2 quick 2", "3 slow 1", "4 slow 2", "5 quick 3"}; !slices.Equal(read, want) {
		t.Errorf("read %q, want %q", read, want)
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
