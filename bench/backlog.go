package main

import (
	"context"
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

const (
	backlogLarge = 1_000_000
	backlogSmall = 1_000
	foreignLarge = 100_000
)

func backlogBenchmarks() []benchmark {
	return []benchmark{
		claimGrowth("claim/backlog", thirds(backlogSmall), thirds(backlogLarge), "1,000 others", "1,000,000 others"),
		claimGrowth("claim/foreign", background{}, background{foreign: foreignLarge}, "no others", "100,000 foreign"),
	}
}

const claimSize = 16

// claimGrowth compares the cost of a claim with a small and a large number of background jobs.
func claimGrowth(name string, small, large background, smallName, largeName string) benchmark {
	return growth{
		name: name, label: fmt.Sprintf("claim of %d", claimSize), repeat: 100, smallName: smallName, largeName: largeName,
		small: func(b *bench) contents { return b.scaled(small) },
		large: func(b *bench) contents { return b.scaled(large) },
		open:  openClaimer,
	}.benchmark()
}

func (b *bench) scaled(c background) background {
	for _, n := range []*int{&c.delayed, &c.blocked, &c.finished, &c.foreign} {
		*n = b.sized(*n, 0)
	}
	return c
}

// claimer claims the jobs that it has enqueued itself.
type claimer struct {
	fixture *fixture
	store   *sqlite.Store
	jobs    []*rota.Job
}

func openClaimer(f *fixture) (operation, error) {
	store, err := sqlite.Open(f.path)
	return &claimer{fixture: f, store: store}, err
}

func (c *claimer) prepare(ctx context.Context, claims int) error {
	if err := enqueueAll(ctx, c.store, claims*claimSize); err != nil {
		return err
	}
	c.fixture.want.completed += claims * claimSize
	return c.run(ctx)
}

func (c *claimer) before(context.Context) error { return nil }

func (c *claimer) run(ctx context.Context) error {
	jobs, err := claim(ctx, c.store, claimSize)
	c.jobs = append(c.jobs, jobs...)
	return err
}

func (c *claimer) restore(ctx context.Context) error { return finish(ctx, c.store, c.jobs) }

func (c *claimer) close() error { return c.store.Close() }
