package main

import (
	"context"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres"
)

func pgRotaContender() pgContender {
	return pgContender{
		name: "rota",
		note: "an engine with 1,000 workers and a typed handler and params checked against their schema, on a store with shared commits and an event ring, as in the server; 8 connections at most",
		open: func(_ context.Context, db *database) (workerPool, error) { return openPgRotaPool(db, pgWorkers) },
	}
}

// pgRotaPool is a store on PostgreSQL with an engine, configured as in a server.
type pgRotaPool struct {
	rotaPool
	db *database
}

func openPgRotaPool(db *database, workers int) (*pgRotaPool, error) {
	c := &pgRotaPool{rotaPool: rotaPool{workers: workers}, db: db}
	return c, c.openAt(db.url, db.config(), "bench")
}

// openAt opens a store for a worker of the given name. Workers that share a store have different names.
func (c *pgRotaPool) openAt(url string, store postgres.Config, name string) error {
	inner, err := postgres.OpenWith(url, store)
	if err != nil {
		return err
	}
	c.setStore(inner)
	c.configure = func(config *engine.Config) { config.Name = name }
	return nil
}

func (c *pgRotaPool) close(ctx context.Context, n int) error {
	if err := c.closeStore(); err != nil {
		return err
	}
	return c.db.audit(ctx, counts{completed: n})
}

// openPgRotaBatchQueue opens a store for batches of n.
func openPgRotaBatchQueue(_ context.Context, db *database, n int) (batchQueue, error) {
	store, err := postgres.OpenWith(db.url, db.config())
	if err != nil {
		return nil, err
	}
	return &rotaBatchQueue{store: store, batch: newJobs(n)}, nil
}
