package postgres

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// changeLimits writes n audit entries.
func changeLimits(t testing.TB, s rota.Store, n int) {
	t.Helper()
	for i := range n {
		done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: i + 1}})
		done[*rota.ThrottlePut](t, s, &rota.PutThrottle{Meta: rota.NewMeta("ada"), Spec: rota.ThrottleSpec{Global: i + 1000}})
	}
}

func sealAll(t testing.TB, s *Store) (sealed int) {
	t.Helper()
	for {
		n, err := s.SealAudit(context.Background(), rota.SealMax)
		must(t, err)
		if n == 0 {
			return sealed
		}
		sealed += n
	}
}

func wantIntact(t testing.TB, s *Store, entries int64) {
	t.Helper()
	report, err := s.VerifyAudit(context.Background(), rota.AuditTrust{})
	must(t, err)
	if report.Fault != nil || report.Checked != entries {
		t.Errorf("%d entries are intact, want %d; fault %v", report.Checked, entries, report.Fault)
	}
}

// TestPruneThatCannotMoveTheAnchorRemovesNothing has a trigger that skips the update of the anchor.
func TestPruneThatCannotMoveTheAnchorRemovesNothing(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	changeLimits(t, s, 2)
	sealAll(t, s)
	for _, sql := range []string{
		`CREATE FUNCTION rota.skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$`,
		`CREATE TRIGGER skip BEFORE UPDATE ON rota.audit_anchor FOR EACH ROW EXECUTE FUNCTION rota.skip()`,
	} {
		pgtest.Query(t, urlOf(s), sql)
	}
	removed, err := s.PruneAudit(t.Context(), time.Now().Add(time.Hour), 2, nil)
	if removed != 0 || rota.CodeOf(err) != rota.Conflict {
		t.Errorf("%d entries were removed: %v", removed, err)
	}
	wantIntact(t, s, 4)
}

// TestLongTransactionHoldsUpNoSeal seals entries beside a transaction that has written one and does not end.
func TestLongTransactionHoldsUpNoSeal(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	ctx := t.Context()
	conn, err := pgx.Connect(ctx, urlOf(s))
	must(t, err)
	defer conn.Close(ctx)
	long, err := conn.Begin(ctx)
	must(t, err)
	_, err = long.Exec(ctx, `INSERT INTO rota.audit (id, at, act) VALUES (gen_random_uuid(), 7, 'LIMITS_MODIFIED')`)
	must(t, err)
	changeLimits(t, s, 2)
	if n := sealAll(t, s); n != 4 {
		t.Errorf("%d entries were sealed beside the transaction, want 4", n)
	}
	wantIntact(t, s, 4)
	must(t, long.Commit(ctx))
	state, err := s.AuditState(ctx)
	must(t, err)
	if state.Unsealed != 1 || state.Oldest.IsZero() {
		t.Errorf("%d entries are unsealed since %v, want 1", state.Unsealed, state.Oldest)
	}
	if n := sealAll(t, s); n != 1 {
		t.Errorf("%d entries were sealed after the commit, want 1", n)
	}
	wantIntact(t, s, 5)
}

// TestTwoLeadersSealEachEntryOnce seals from several processes at the same time, while entries are written.
func TestTwoLeadersSealEachEntryOnce(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	other := openAt(t, urlOf(s), Config{Poll: true, Logger: quiet})
	writing, written := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, leader := range []*Store{s, other, s, other} {
		all.Go(func() {
			for writing.Err() == nil {
				if _, err := leader.SealAudit(context.Background(), 3); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	changeLimits(t, s, 20)
	written()
	all.Wait()
	sealAll(t, s)
	wantIntact(t, s, 40)
}

// TestLeaderKilledBetweenPagesLeavesIntactChain ends the connection of a leader after a page.
func TestLeaderKilledBetweenPagesLeavesIntactChain(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	changeLimits(t, s, 3)
	leader := openAt(t, urlOf(s), Config{Poll: true, Logger: quiet})
	n, err := leader.SealAudit(t.Context(), 2)
	must(t, err)
	if n != 2 {
		t.Fatalf("%d entries were sealed, want 2", n)
	}
	conn, err := leader.acquire(t.Context())
	must(t, err)
	must(t, leader.useConn(conn, func(c *session) error { // a page that is decided and not committed
		if err := c.send(t.Context(), statement{sql: sqlBegin}, statement{sql: sqlLockChain}); err != nil {
			return err
		}
		_, statements, err := sealUnsealed(querier{c, t.Context()}, 2)
		if err == nil {
			err = c.send(t.Context(), statements...)
		}
		_ = c.conn.Close(context.Background())
		return err
	}))
	wantIntact(t, s, 2)
	sealAll(t, s)
	wantIntact(t, s, 6)
}

// TestUpgradeSealsExistingEntries migrates a store that has entries and no chain.
func TestUpgradeSealsExistingEntries(t *testing.T) {
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	must(t, err)
	conn, err := pgconn.Connect(t.Context(), url)
	must(t, err)
	m := &migration{t.Context(), conn, &dialect{schema: `"rota"`}}
	for n := range slices.IndexFunc(steps, func(step string) bool { return strings.HasSuffix(step, "_audit_chain.sql") }) {
		_, err := m.step(steps[:n+1])
		must(t, err)
	}
	must(t, conn.Close(t.Context()))
	pgtest.Query(t, url, `INSERT INTO rota.audit (id, at, act) SELECT gen_random_uuid(), n % 100, 'LIMITS_MODIFIED' FROM generate_series(1, 2500) n`)
	s := openAt(t, url, Config{Poll: true, Logger: quiet})
	wantIntact(t, s, 0)
	changeLimits(t, s, 1)
	if n := sealAll(t, s); n != 2502 {
		t.Errorf("%d entries were sealed, want 2502", n)
	}
	wantIntact(t, s, 2502)
	all, err := s.SealedAudit(t.Context(), 0, 2500)
	must(t, err)
	for i := 1; i < len(all); i++ {
		if all[i].Entry.Compare(all[i-1].Entry) < 0 {
			t.Fatalf("entry %d is older than the one before it", all[i].Seq)
		}
	}
}
