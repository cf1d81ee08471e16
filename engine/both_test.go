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
func onEachStore(t *testing.T, tell func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) { tell(t, newWorld(t)) })
	t.Run("postgres", func(t *testing.T) { tell(t, newServerWorld(t)) })
}

// newServerWorld opens a store on a PostgreSQL server. Its engines are told, as
// those of a server are, that others share it.
func newServerWorld(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	return serverWorld(t)
}

func serverWorld(t *testing.T) *world {
	t.Helper()
	w := emptyWorld(t)
	server := pgtest.Shared(t)
	template := server.Template(t, "migrated", func(url string) error {
		store, err := postgres.OpenWith(url, postgres.Config{Poll: true, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			return err
		}
		return store.Close()
	})
	w.url = server.URL(server.NewDatabase(t, template))
	store := w.connect()
	w.store, w.roll = w.keep(store), &timedRoll{store, w.calls}
	return w
}

// connsOfATest leave room for many tests at once on one server.
const connsOfATest = 4

func (w *world) connect() *postgres.Store {
	w.Helper()
	store, err := postgres.OpenWith(w.url, postgres.Config{Clock: w.clock.now, Conns: connsOfATest, Logger: slog.New(w.log)})
	if err != nil {
		w.Fatal(err)
	}
	return store
}

// another is the same store as another process has it, and its roll. A file is
// had by one process alone: there it is the same.
func (w *world) another() (rota.Store, rota.Membership) {
	w.Helper()
	if w.url == "" {
		return w.store, nil
	}
	store := w.connect()
	return w.keep(store), &timedRoll{store, w.calls}
}
