package postgres

import (
	"context"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/storetest"
)

// TestStoriesInTransactionsOfCaller runs the stories of enqueues and ends of runs with ApplyTx in
// place of Apply, in each kind of transaction.
func TestStoriesInTransactionsOfCaller(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("make test runs it")
	}
	for name, one := range map[string]struct {
		begin   func(*pgxpool.Pool) (tx any, commit func() error, rollback func(), err error)
		disable FastPath
	}{
		"pgx":           {beginPgx, 0},
		"pgx, plain":    {beginPgx, EveryFastPath},
		"stdlib of pgx": {beginStdlib, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pools := callerPools{t: t}
			h := storetest.InTx(harness(t, pgtest.Shared(t).URL, Config{Disable: one.disable}), func(s rota.Store) (any, func() error, func(), error) {
				pool, err := pools.of(s)
				if err != nil {
					return nil, nil, nil, err
				}
				return one.begin(pool)
			})
			parts := []string{"enqueue", "unique", "finish"}
			if name == "pgx" {
				parts = append(parts, "plan", "retry", "timeout")
			}
			storetest.StoriesOf(t, h, parts...)
		})
	}
}

func beginPgx(pool *pgxpool.Pool) (any, func() error, func(), error) {
	tx, err := pool.Begin(context.Background())
	if err != nil {
		return nil, nil, nil, err
	}
	return tx, func() error { return tx.Commit(context.Background()) }, func() { _ = tx.Rollback(context.Background()) }, nil
}

func beginStdlib(pool *pgxpool.Pool) (any, func() error, func(), error) {
	db := stdlib.OpenDBFromPool(pool)
	tx, err := db.Begin()
	if err != nil {
		return nil, nil, nil, err
	}
	return tx, func() error {
		defer db.Close()
		return tx.Commit()
	}, func() { _ = tx.Rollback(); _ = db.Close() }, nil
}

// callerPools holds a pool of a program for each database.
type callerPools struct {
	t    *testing.T
	mu   sync.Mutex
	pool map[string]*pgxpool.Pool
}

func (p *callerPools) of(s rota.Store) (*pgxpool.Pool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	url := urlOf(s.(pooledStore).Store)
	if pool := p.pool[url]; pool != nil {
		return pool, nil
	}
	pool, err := pgxpool.New(context.Background(), url)
	if err != nil {
		return nil, err
	}
	p.t.Cleanup(pool.Close)
	if p.pool == nil {
		p.pool = map[string]*pgxpool.Pool{}
	}
	p.pool[url] = pool
	return pool, nil
}
