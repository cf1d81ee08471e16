package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

// backend is an opened store with the functions that depend on its database.
type backend struct {
	rota.Store
	backup     func(ctx context.Context, path string, progress func(done, total int64)) error // nil: use the tools of the database server
	size       func() (int64, error)
	membership rota.Membership // nil: no other process shares the store
	skew       time.Duration   // how far the clocks of processes that share the store may differ
	logs       rota.LogStore   // nil: run logs are files of the data directory

	layoutLag func() time.Duration // how old the oldest change is that the items of a table lack; nil: the store has no such items
}

// openBackend opens the store that the configured URL names.
func (n *Node) openBackend(ctx context.Context) (backend, error) {
	switch {
	case isDynamo(n.config.Store):
		return n.openDynamo(ctx)
	case onServer(n.config.Store):
		return n.openPostgres()
	}
	path := storePath(n.config.Store)
	if err := n.checkNoReplica(path); err != nil {
		return backend{}, err
	}
	file, err := sqlite.OpenWith(path, sqlite.Config{Clock: n.clock, Logger: n.logger, AllowLinks: n.config.AllowLinks, AllowMoved: n.config.AllowMoved})
	if err != nil {
		return backend{}, err
	}
	return backend{Store: file, backup: file.Backup, size: fileSize(path)}, nil
}

// checkNoReplica refuses to create a store in the data directory of a node whose store is in a DynamoDB table: its
// operator has forgotten the URL.
func (n *Node) checkNoReplica(path string) error {
	if exists(path) || !exists(n.path(dynamo.ReplicaName)) {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Act: "open store", Reason: "the data directory " + n.config.Data + " is that of a store in a DynamoDB table, and no store is given",
		Hint: "add --store 'dynamodb://TABLE?region=REGION', or use another data directory",
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// renameWorker gives the worker a new name at each start with a store that other processes share: it must
// not recover the runs of its former incarnation, which may still be running. Their leases expire.
func (n *Node) renameWorker() {
	id := rota.NewID().String()
	n.config.Name += "-" + id[len(id)-nameSuffix:]
}

// openPostgres opens a PostgreSQL store. Its clock is that of the database server,
// even if a test has set the clock of this process.
func (n *Node) openPostgres() (backend, error) {
	n.renameWorker()
	store, err := postgres.OpenWith(n.config.Store, postgres.Config{Logger: n.logger, AllowMoved: n.config.AllowMoved})
	if err != nil {
		return backend{}, err
	}
	return backend{Store: store, size: store.Size, membership: store, logs: store}, nil
}

const nameSuffix = 8 // characters taken from the end of a new id, which is random

const sqliteScheme = "sqlite"

var (
	postgresSchemes = []string{"postgres", "postgresql"}

	// laterSchemes are reserved for stores of later releases.
	laterSchemes = []string{"raft"}
)

// checkStore checks the URL of a store. Errors never quote the part after the scheme,
// because it may contain a password.
func checkStore(url string) error {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return errors.New("the URL is empty")
	case !found:
		return errors.New("the URL has no scheme")
	case slices.Contains(postgresSchemes, scheme):
		return checkServer(rest)
	case scheme == dynamo.Scheme:
		return checkDynamo(url)
	case slices.Contains(laterSchemes, scheme):
		return fmt.Errorf("the scheme %s is not supported yet; it is planned for a later release", scheme)
	case scheme != sqliteScheme:
		return fmt.Errorf("unknown scheme %s", quoted(scheme))
	case rest == "":
		return errors.New("the URL names no file")
	case strings.HasPrefix(rest, "//"):
		return errors.New("sqlite: takes a path with no slashes before it, such as sqlite:rota.db")
	}
	return nil
}

// checkServer checks only that slashes follow postgres:. The PostgreSQL client
// parses the rest.
func checkServer(rest string) error {
	if !strings.HasPrefix(rest, "//") {
		return errors.New("the URL needs two slashes before the host, as in postgres://HOST/DATABASE")
	}
	return nil
}

// onServer reports whether the store is on a database server, which several nodes may share.
func onServer(url string) bool {
	scheme, _, _ := strings.Cut(url, ":")
	return scheme == dynamo.Scheme || slices.Contains(postgresSchemes, scheme)
}

// storeFile is the path of the node's SQLite file, which is a replica if the store is a DynamoDB table; empty if the
// store is on another server.
func (n *Node) storeFile() string {
	switch {
	case isDynamo(n.config.Store):
		return n.path(dynamo.ReplicaName)
	case onServer(n.config.Store):
		return ""
	}
	return storePath(n.config.Store)
}

// storePath is the path in the URL of an SQLite store.
func storePath(url string) string { return strings.TrimPrefix(url, sqliteScheme+":") }
