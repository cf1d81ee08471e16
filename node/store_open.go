package node

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

// keptStore is a store with what only the one who opens it can do.
type keptStore struct {
	rota.Store
	backup func(ctx context.Context, path string, progress func(done, total int64)) error // nil: its server's tools do
	size   func() (int64, error)
	roll   rota.Membership // nil: nobody shares it
}

// openKept opens the store that the URL names.
func (n *Node) openKept() (keptStore, error) {
	if onServer(n.config.Store) {
		return n.openPostgres()
	}
	path := storePath(n.config.Store)
	file, err := sqlite.OpenWith(path, sqlite.Config{Clock: n.clock, Logger: n.logger})
	if err != nil {
		return keptStore{}, err
	}
	return keptStore{Store: file, backup: file.Backup, size: fileSize(path)}, nil
}

// openPostgres opens a store whose clock is that of its server, whatever a test
// has set this process's to. Others share it, so this worker has a name that is
// new at each start: what it left in an earlier life is not its own to settle,
// since that life may not have ended. Its leases run out.
func (n *Node) openPostgres() (keptStore, error) {
	id := rota.NewID().String()
	n.config.Name += "-" + id[len(id)-nameSuffix:]
	store, err := postgres.OpenWith(n.config.Store, postgres.Config{Logger: n.logger})
	if err != nil {
		return keptStore{}, err
	}
	return keptStore{Store: store, size: store.Size, roll: store}, nil
}

const nameSuffix = 8 // of a fresh id, whose end is random
