package main

import (
	"context"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres"
)

func pgRotaApplicant() pgApplicant {
	return pgApplicant{
		name: "rota",
		note: "an engine with 1,000 workers and a typed handler, its params checked against their schema, on a store that shares commits and has a feed, as the server's has; 8 connections at most",
		open: func(_ context.Context, db *database) (crew, error) { return openPgRotaCrew(db, pgWorkers) },
	}
}

// pgRotaCrew is a store on PostgreSQL with an engine, as a server has them.
type pgRotaCrew struct {
	rotaCrew
	db *database
}

func openPgRotaCrew(db *database, workers int) (*pgRotaCrew, error) {
	c := &pgRotaCrew{rotaCrew: rotaCrew{workers: workers}, db: db}
	return c, c.openAt(db.url, "bench")
}

// openAt opens a store for a worker that has a name: two in one store have two.
func (c *pgRotaCrew) openAt(url, name string) error {
	inner, err := postgres.OpenWith(url, pgQuiet)
	if err != nil {
		return err
	}
	c.hold(inner)
	c.adjust = func(config *engine.Config) { config.Name = name }
	return nil
}

func (c *pgRotaCrew) close(ctx context.Context, n int) error {
	if err := c.letGo(); err != nil {
		return err
	}
	return c.db.audit(ctx, counts{completed: n})
}

// openPgRotaLoop opens a store for batches of n.
func openPgRotaLoop(_ context.Context, db *database, n int) (loop, error) {
	store, err := postgres.OpenWith(db.url, pgQuiet)
	if err != nil {
		return nil, err
	}
	return &rotaLoop{store: store, batch: newJobs(n)}, nil
}
