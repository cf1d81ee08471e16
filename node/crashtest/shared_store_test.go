//go:build unix

package main

import (
	"context"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// sharedStore is the store that the servers of a cluster share.
type sharedStore interface {
	// connect starts a proxy between one server and the database. It returns the URL of the
	// store through the proxy.
	connect(f *testCluster) (proxy faultProxy, url string)

	// open opens the store read-only, without a proxy.
	open(f *testCluster) (rota.Store, error)

	// probe returns a small write that waits for no lock, and a function that ends it.
	probe(ctx context.Context) (write func() error, end func(), err error)
}

// faultProxy separates a server from its database.
type faultProxy interface {
	Hold()   // nothing passes, and no connection is closed
	Cut()    // close all connections; call it after Hold
	Resume() // end Hold
}

// postgresStore is a database.
type postgresStore struct {
	cluster  *pgtest.Cluster
	database string
}

func (s *postgresStore) connect(f *testCluster) (faultProxy, string) {
	proxy := s.cluster.Proxy(f)
	return proxy, proxy.URL(s.database)
}

func (s *postgresStore) open(*testCluster) (rota.Store, error) {
	return postgres.OpenWith(s.cluster.URL(s.database), postgres.Config{ReadOnly: true, Logger: slog.New(slog.DiscardHandler)})
}

func (s *postgresStore) probe(ctx context.Context) (write func() error, end func(), err error) {
	conn, err := pgconn.Connect(ctx, s.cluster.SocketURL("postgres"))
	if err != nil {
		return nil, nil, err
	}
	write = func() error {
		err := conn.Exec(ctx, "SELECT pg_logical_emit_message(true, 'probe', '')").Close()
		if err != nil && conn.IsClosed() {
			return errConnectionLost
		}
		return err
	}
	return write, func() { _ = conn.Close(context.WithoutCancel(ctx)) }, nil
}

// newClusterFunc creates a cluster on a store of one kind.
type newClusterFunc func(t *testing.T, servers int, settings ...string) *testCluster

// sharedStores are all kinds of stores that several servers can share.
var sharedStores = map[string]newClusterFunc{
	"postgres": func(t *testing.T, servers int, settings ...string) *testCluster {
		return newTestCluster(t, pgtest.Shared(t), servers, settings...)
	},
	"dynamodb": func(t *testing.T, servers int, settings ...string) *testCluster {
		return newDynamoCluster(t, dyntest.Shared(t, dyntest.Dynoxide), servers, settings...)
	},
}

// onSharedStores runs a test on each kind of store. It repeats a test that calls fail while
// the machine is slow.
func onSharedStores(t *testing.T, test func(t *testing.T, fail failFunc, newCluster newClusterFunc)) {
	for name, newCluster := range sharedStores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			retryIfSlow(t, func(t *testing.T, fail failFunc) { test(t, fail, newCluster) })
		})
	}
}
