package engine_test

import (
	"log/slog"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// onEachStore tells a test of a store that is a file, which one process has to
// itself, and of one on a PostgreSQL server, which several share.
func onEachStore(t *testing.T, test func(t *testing.T, h *harness)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { test(t, newHarness(t)) })
	t.Run("postgres", func(t *testing.T) { test(t, newPostgresHarness(t)) })
}

// newPostgresHarness opens a store on a PostgreSQL server. Its engines are told, as
// those of a server are, that others share it.
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

// testConns leave room for many tests at once on one server.
const testConns = 4

func (h *harness) connect() *postgres.Store {
	h.Helper()
	store, err := postgres.OpenWith(h.url, postgres.Config{Clock: h.clock.now, Conns: testConns, Logger: slog.New(h.log)})
	if err != nil {
		h.Fatal(err)
	}
	return store
}

// secondProcess is the same store as another process has it, and its roll. A file is
// had by one process alone: there it is the same.
func (h *harness) secondProcess() (rota.Store, rota.Membership) {
	h.Helper()
	if h.url == "" {
		return h.store, nil
	}
	store := h.connect()
	return h.use(store), &timedMembership{store, h.callDelays}
}
