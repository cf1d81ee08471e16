package postgres

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// TestStoresNotifyEachOther checks that two stores of one database notify each other if they have
// backends of their own, and poll otherwise.
func TestStoresNotifyEachOther(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	const rounds = 5
	server := pgtest.Shared(t)
	bouncer := server.Bouncer(t, pgtest.Transaction)
	sessions := server.Bouncer(t, pgtest.Session)
	for _, test := range []struct {
		name   string
		at     func(database string) string
		config Config
		want   bool
	}{
		{"connected to the server", server.URL, Config{}, true},
		{"through a pooler in session mode", sessions.URL, Config{}, false}, // the store cannot tell session from transaction pooling
		{"through a pooler in transaction mode", bouncer.URL, Config{}, false},
		{"with Poll", server.URL, Config{Poll: true}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			test.config.Logger = quiet
			database := newDatabase(t)
			s, other := openAt(t, test.at(database), test.config), openAt(t, server.URL(database), Config{Logger: quiet})
			eventually(t, "the other store listens", other.Listens)
			if test.want {
				eventually(t, "the store listens", s.Listens)
			}
			wake, stop := s.Wake()
			defer stop()
			begun := time.Now()
			for range rounds {
				done[*rota.Enqueued](t, other, &rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail"}}})
				for claimed := 0; claimed == 0; claimed = len(done[*rota.Claimed](t, s, claimOne()).Jobs) {
					<-wake
				}
			}
			if s.Listens() != test.want {
				t.Errorf("Listens returns %t", s.Listens())
			}
			if took := time.Since(begun); test.want && took > rounds*fallbackPollEvery/2 {
				t.Errorf("no notification arrived: %d jobs took %s", rounds, took)
			}
		})
	}
}

func claimOne() *rota.Claim {
	return &rota.Claim{
		Meta: rota.NewMeta(""), Worker: "w1", Types: []string{"mail"}, Limit: 1, Lease: rota.LeaseMax, Seed: rota.NewToken(),
	}
}

// TestStoreLeavesNoStateInPooledBackends checks that a store behind a pooler leaves no statements,
// locks, channels or settings in the backends.
func TestStoreLeavesNoStateInPooledBackends(t *testing.T) {
	bouncer := pgtest.Shared(t).Bouncer(t, pgtest.Transaction)
	database := newDatabase(t)
	s := openAt(t, bouncer.URL(database), Config{Logger: quiet})
	const workers, rounds = 8, 5
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range rounds {
				runOneJob(t, s)
			}
		})
	}
	all.Wait()
	checkBackends(t, bouncer.URL(database))
	must(t, s.Close())
	checkBackends(t, bouncer.URL(database))
}

// checkBackends checks that nothing is left in the backends of a pooler.
func checkBackends(t *testing.T, url string) {
	t.Helper()
	backends := borrowBackends(t, url)
	for _, backend := range backends {
		for what, sql := range leftovers {
			if got := singleValue(t, backend, sql); got != "" {
				t.Errorf("a backend has leftover %s: %s", what, got)
			}
		}
	}
	for _, backend := range backends {
		_, err := backend.Exec(t.Context(), "ROLLBACK").ReadAll()
		must(t, err)
	}
}

// TestTransactionsOfCallersBehindPooler has a program, and once the store too, connect through a pooler
// in transaction mode. The program must not prepare statements there, so it uses the simple protocol.
func TestTransactionsOfCallersBehindPooler(t *testing.T) {
	server := pgtest.Shared(t)
	bouncer := server.Bouncer(t, pgtest.Transaction)
	for name, storeURL := range map[string]func(string) string{"the store on the server": server.URL, "the store behind the pooler": bouncer.URL} {
		t.Run(name, func(t *testing.T) {
			database := newDatabase(t)
			s := openAt(t, storeURL(database), Config{Logger: quiet})
			config, err := pgxpool.ParseConfig(bouncer.URL(database))
			must(t, err)
			config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			must(t, err)
			defer pool.Close()
			d := &callerDatabase{t, s, pool, storeURL(database)}
			_, err = pool.Exec(t.Context(), `CREATE TABLE orders (id bigint PRIMARY KEY, note text)`)
			must(t, err)
			done[*rota.TypePut](t, s, &rota.PutType{Meta: rota.NewMeta("test"), Name: "mail"})
			for id := range 10 {
				tx := d.begin(pgx.TxOptions{})
				d.order(tx, 2*id)
				submitted, pending := d.enqueue(tx, rota.NewJob{})
				end, want := tx.Commit, id%2 == 0
				if !want {
					end = tx.Rollback
				}
				must(t, end(t.Context()))
				if got := committed(t, pending); got != want || d.exists(submitted.Job.ID) != want {
					t.Errorf("job %d: committed %t, want %t", id, got, want)
				}
			}
			for id := range 3 {
				r := d.run(rota.NewJob{})
				tx := d.begin(pgx.TxOptions{})
				d.order(tx, 2*id+1)
				answer, _, err := r.finish(tx, r.completion())
				must(t, err)
				must(t, tx.Commit(t.Context()))
				if got := r.stored().Run.Outcome; answer.Outcome != rota.OutcomeCompleted || got != rota.OutcomeCompleted {
					t.Errorf("run %d: %+v, stored %s", id, answer, got)
				}
			}
			d.clean()
			checkBackends(t, bouncer.URL(database))
		})
	}
}

// runOneJob enqueues, claims and finishes a job, and reads.
func runOneJob(t testing.TB, s *Store) {
	for _, c := range []rota.Command{
		&rota.Enqueue{Meta: rota.NewMeta(""), Jobs: []rota.NewJob{{Type: "mail", UniqueKey: rota.NewID().String()}}},
		claimOne(),
	} {
		results, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{c}})
		if err == nil && results[0].Err != nil {
			err = results[0].Err
		}
		if err != nil {
			t.Errorf("%s: %v", c.Verb(), err)
			return
		}
		claimed, ok := results[0].Reply.(*rota.Claimed)
		if !ok {
			continue
		}
		for _, j := range claimed.Jobs {
			finish := rota.FinishItem{LeaseRef: rota.LeaseRef{JobID: j.ID, RunID: j.Run.ID, Token: j.Run.Token}, Outcome: rota.OutcomeCompleted}
			if _, err := s.Apply(t.Context(), rota.Batch{Commands: []rota.Command{&rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{finish}}}}); err != nil {
				t.Errorf("finish: %v", err)
			}
		}
	}
	_, err := s.Jobs(t.Context(), rota.JobQuery{Limit: 10})
	if err == nil {
		_, err = s.Stats(t.Context())
	}
	if err != nil {
		t.Errorf("read: %v", err)
	}
}

// leftovers are statements that return what a session can leave behind, without what the pooler
// itself sets.
var leftovers = map[string]string{
	"statements": `SELECT string_agg(name, ' ') FROM pg_prepared_statements`,
	"cursors":    `SELECT string_agg(name, ' ') FROM pg_cursors`,
	"channels":   `SELECT string_agg(c, ' ') FROM pg_listening_channels() c`,
	"locks":      `SELECT string_agg(l.objid::text, ' ') FROM pg_locks l JOIN pg_database d ON d.oid = l.database WHERE l.locktype = 'advisory' AND d.datname = current_database()`,
	"tables":     `SELECT string_agg(relname, ' ') FROM pg_class WHERE relpersistence = 't'`,
	"settings":   `SELECT string_agg(name || '=' || setting, ' ') FROM pg_settings WHERE source = 'session' AND name NOT IN ('application_name', 'client_encoding', 'DateStyle', 'TimeZone', 'standard_conforming_strings')`,
}

// borrowBackends occupies all backends of the pooler for a database with open transactions.
func borrowBackends(t testing.TB, url string) (backends []*pgconn.PgConn) {
	t.Helper()
	const poolSize = 4
	pids := map[string]bool{}
	for range poolSize {
		conn, err := pgconn.Connect(t.Context(), url)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		_, err = conn.Exec(t.Context(), "BEGIN").ReadAll()
		must(t, err)
		pids[singleValue(t, conn, "SELECT pg_backend_pid()")] = true
		backends = append(backends, conn)
	}
	if len(pids) != poolSize {
		t.Fatalf("the pooler lent the backends %v, want 4 different ones", pids)
	}
	return backends
}

// singleValue returns the only value of a statement's result, "" for NULL.
func singleValue(t testing.TB, conn *pgconn.PgConn, sql string) string {
	t.Helper()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	must(t, err)
	if len(results) != 1 || len(results[0].Rows) != 1 {
		t.Fatal(fmt.Sprint(sql, " returned ", results))
	}
	return string(results[0].Rows[0][0])
}
