package postgres

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/depth"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/storetest"
)

// Both suites mostly wait for the server: in parallel they take little longer than one of them.

func TestConformance(t *testing.T) {
	t.Parallel()
	h := harness(t, pgtest.Shared(t).URL, Config{})
	if testing.Short() {
		storetest.Subset(t, h)
		t.Run("RandomAgainstModel", func(t *testing.T) { storetest.RandomAgainstModel(t, h) })
		t.Run("Replay", func(t *testing.T) { storetest.Replay(t, h) })
		return
	}
	storetest.Run(t, h)
}

// TestConformanceThroughAPooler lends each transaction one of four connections. What
// the store decides does not depend on that, only how it uses a session, so that a slice
// of the suite is enough: it sends every command and every read. Make deep runs it all.
func TestConformanceThroughAPooler(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make test runs it")
	}
	bouncer := pgtest.Shared(t).Bouncer(t, pgtest.Transaction)
	h := harness(t, bouncer.URL, Config{})
	if depth.Deep() {
		storetest.Run(t, h)
		return
	}
	storetest.Subset(t, h)
}

// harness opens stores in pooled databases at the URLs that at returns.
func harness(t testing.TB, at func(database string) string, config Config) storetest.Harness {
	config.Logger = quiet
	databases := &databasePool{t: t, uses: map[string]int{}, conns: map[string]*pgconn.PgConn{}, pools: map[string]*pgxpool.Pool{}}
	return storetest.Harness{
		Open: func(t testing.TB) rota.Store {
			database := databases.take(t)
			config := config
			config.pool = databases.connections(at(database))
			return pooledStore{openAt(t, at(database), config), func() { databases.release(database) }}
		},
		Tamper: func(t testing.TB, s rota.Store) storetest.Tamper {
			store := s.(pooledStore).Store
			return storetest.Tamper{
				Exec: func(sql string) {
					rows(t, store, "BEGIN; SET LOCAL session_replication_role = replica; ALTER TABLE rota_audit_seals DROP CONSTRAINT IF EXISTS audit_seals_size; "+sql+"; COMMIT")
				},
				Bytes: func(b []byte) string { return fmt.Sprintf(`'\x%x'::bytea`, b) },
				ID:    func(id rota.ID) string { return "'" + id.String() + "'" },
			}
		},
		Break: func(t testing.TB, s rota.Store, job rota.ID, how storetest.Breakage) {
			damage(t, s.(pooledStore).Store, breakages[how], job)
		},
		Pause: func(_ testing.TB, s rota.Store, at func([]rota.Command)) {
			s.(pooledStore).onDecided = at
		},
	}
}

// pooledStore is a store that returns its database to the pool when it is closed.
type pooledStore struct {
	*Store
	release func()
}

func (s pooledStore) Close() error {
	defer s.release()
	return s.Store.Close()
}

// databasePool holds databases for reuse, because creating one takes longer than most stories.
type databasePool struct {
	t    testing.TB // test that owns the databases
	mu   sync.Mutex
	uses map[string]int
	free []string

	// conns are the connections that empty the databases, one each. They stay open, because a new
	// connection first has to read the catalog of every table.
	conns map[string]*pgconn.PgConn
	pools map[string]*pgxpool.Pool // connections of the stores, by URL; they stay open for the same reason
}

// connections returns the connections of the stores of a URL.
func (p *databasePool) connections(url string) *pgxpool.Pool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pools[url] == nil {
		config, err := parseURL(url, &Config{})
		must(p.t, err)
		config.MaxConns, config.ShouldPing = int32(Config{}.withDefaults().Conns), shouldPing
		pool, err := pgxpool.NewWithConfig(context.Background(), config)
		must(p.t, err)
		p.t.Cleanup(pool.Close)
		p.pools[url] = pool
	}
	return p.pools[url]
}

// usesMax is how often a database is used. Deleted rows stay in its pages for a while.
const usesMax = 50

func (p *databasePool) take(t testing.TB) (name string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n == 0 {
		name = newDatabase(p.t)
	} else {
		name, p.free = p.free[n-1], p.free[:n-1]
		p.empty(t, name)
	}
	p.uses[name]++
	return name
}

func (p *databasePool) empty(t testing.TB, name string) {
	t.Helper()
	ctx := context.Background()
	conn := p.conns[name]
	if conn == nil {
		var err error
		conn, err = pgconn.Connect(ctx, pgtest.Shared(t).SocketURL(name))
		must(t, err)
		p.t.Cleanup(func() { _ = conn.Close(ctx) })
		p.conns[name] = conn
	}
	_, err := conn.Exec(ctx, sqlDeleteRows).ReadAll()
	must(t, err)
}

func (p *databasePool) release(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.uses[name] < usesMax {
		p.free = append(p.free, name)
		return
	}
	pgtest.Shared(p.t).Discard(name)
}

// sqlDeleteRows ends the other connections that are in use and deletes all rows but the schema version, in replica mode, which calls no triggers. It
// restores what a test has tampered with.
const sqlDeleteRows = `
SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle';
BEGIN;
SET LOCAL session_replication_role = replica;
DO $$
DECLARE
  one regclass;
BEGIN
  FOR one IN SELECT oid FROM pg_class WHERE relnamespace = 'rota'::regnamespace AND relkind = 'r' AND relname <> 'meta' LOOP
    EXECUTE 'DELETE FROM ' || one;
  END LOOP;
  IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'rota.audit_seals'::regclass AND conname = 'audit_seals_size') THEN
    ALTER TABLE rota.audit_seals ADD CONSTRAINT audit_seals_size CHECK (16 * (seq - first + 1) = length(ids) AND 32 * (seq - first + 1) = length(hashes));
  END IF;
END $$;
INSERT INTO rota.audit_anchor (id, removed_before) VALUES (1, -9223372036854775807);
COMMIT`

// breakages are what a crash of a store without transactions would leave; :job is the job's id.
var breakages = map[storetest.Breakage][]string{
	storetest.BreakRun: {
		withoutRun(":job"),
		`UPDATE rota_jobs SET run_id = NULL WHERE id = :job`,
	},
	storetest.BreakClose: {
		`DELETE FROM rota_jobs WHERE retry_of = :job`,
		`UPDATE rota_jobs SET finished_at = NULL, sequel = NULL WHERE id = :job`,
	},
	storetest.BreakRetry: {
		`DELETE FROM rota_jobs WHERE retry_of = :job`,
		`UPDATE rota_jobs SET sequel = NULL WHERE id = :job`,
	},
	storetest.BreakSequel: {
		`UPDATE rota_jobs SET sequel = NULL WHERE id = :job`,
	},
	storetest.BreakJob: {
		`DELETE FROM rota_jobs WHERE id = :job`,
	},
}

// withoutRun removes the run of a job.
func withoutRun(job string) string {
	return `UPDATE rota_jobs SET token = NULL, claim_id = NULL, runner = NULL, life = NULL, heartbeat_at = NULL, stale_after = NULL,
	outcome = NULL, ended_at = NULL, exit_code = NULL, error_code = NULL, error = NULL, rows_affected = NULL,
	cancel_at = NULL, cancel_by = NULL, cancel_reason = NULL, progress = NULL, log_path = NULL, artifacts = NULL,
	result = NULL WHERE id = ` + job
}

// damage executes statements that the triggers forbid, in replica mode, which calls no triggers.
func damage(t testing.TB, s *Store, statements []string, job rota.ID) {
	t.Helper()
	if len(statements) == 0 {
		t.Fatal("no statements")
	}
	sql := "BEGIN; SET LOCAL session_replication_role = replica; " + strings.Join(statements, "; ") + "; COMMIT"
	rows(t, s, strings.ReplaceAll(sql, ":job", "'"+job.String()+"'"))
}
