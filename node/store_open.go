package node

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

// backend is an opened store with the functions that depend on its database.
type backend struct {
	rota.Store
	backup     func(ctx context.Context, path string, progress func(done, total int64)) error // nil: use the tools of the database server
	size       func() (int64, error)
	membership rota.Membership // nil: no other process shares the store
}

// openBackend opens the store that the configured URL names.
func (n *Node) openBackend() (backend, error) {
	if onServer(n.config.Store) {
		return n.openPostgres()
	}
	path := storePath(n.config.Store)
	file, err := sqlite.OpenWith(path, sqlite.Config{Clock: n.clock, Logger: n.logger})
	if err != nil {
		return backend{}, err
	}
	return backend{Store: file, backup: file.Backup, size: fileSize(path)}, nil
}

// openPostgres opens a PostgreSQL store. Its clock is that of the database server,
// even if a test has set the clock of this process. Other processes share the
// store, so the worker gets a new name at each start: it must not recover the runs
// of its former incarnation, which may still be running. Their leases expire.
func (n *Node) openPostgres() (backend, error) {
	id := rota.NewID().String()
	n.config.Name += "-" + id[len(id)-nameSuffix:]
	store, err := postgres.OpenWith(n.config.Store, postgres.Config{Logger: n.logger})
	if err != nil {
		return backend{}, err
	}
	return backend{Store: store, size: store.Size, membership: store}, nil
}

const nameSuffix = 8 // characters taken from the end of a new id, which is random
