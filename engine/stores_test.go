package engine_test

import (
	"log/slog"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// onEachStore runs a test with SQLite, where one process owns the store, and with
// PostgreSQL, where several share it.
func onEachStore(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, newHarness(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, newPostgresHarness(t)) })
}

// newPostgresHarness opens a store on a PostgreSQL server. Its engines have a
// membership, as those of a server have.
func newPostgresHarness(t *testing.T) *harness {
	t.Helper()
	t.Parallel()
	return postgresHarness(t)
}

func postgresHarness(t *testing.T) *harness {
	t.Helper()
	h := emptyHarness(t)
	server := pgtest.Shared(t)
	template := server.Template(t, "migrated", func(url string) error {
		store, err := postgres.OpenWith(url, postgres.Config{Poll: true, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return store.Close()
	})
	h.url = server.URL(server.NewDatabase(t, template))
	store := h.connect()
	h.store, h.membership = h.use(store), &timedMembership{store, h.callDelays}
	return h
}

// testConns allows many tests to share one server.
const testConns = 4

func (h *harness) connect() *postgres.Store {
	h.Helper()
	store, err := postgres.OpenWith(h.url, postgres.Config{Clock: h.clock.now, Conns: testConns, Logger: slog.New(h.log)})
	if err != nil {
		h.Fatal(err)
	}
	return store
}

// secondProcess opens the same store as another process would, with its membership. One
// process owns a SQLite store: there it is the same store.
func (h *harness) secondProcess() (rota.Store, rota.Membership) {
	h.Helper()
	if h.url == "" {
		return h.store, nil
	}
	store := h.connect()
	return h.use(store), &timedMembership{store, h.callDelays}
}
