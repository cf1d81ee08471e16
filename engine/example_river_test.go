package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// WelcomeArgs is the payload of a job.
type WelcomeArgs struct {
	User int `json:"user"`
}

// JobType names the type.
func (WelcomeArgs) JobType() string { return "welcome" }

// welcome is the handler.
func welcome(ctx context.Context, args WelcomeArgs) error {
	engine.Log(ctx).Info("welcome", "user", args.User, "attempt", engine.Job(ctx).Attempt)
	return nil
}

// open opens the store, which creates its tables, and returns the client and the engine. Call
// engine.Run(ctx): it returns when ctx has ended and all runs are recorded.
func open(url string) (*postgres.Store, *rota.Client, *engine.Engine, error) {
	store, err := postgres.Open(url)
	if err != nil {
		return nil, nil, nil, err
	}
	reg, client := engine.NewRegistry(), rota.New(store)
	engine.Handle(reg, welcome, engine.WithRetries(24), engine.WithTimeout(time.Minute))
	return store, client, engine.New(client, reg, engine.Config{Workers: 100, Membership: store}), nil
}

// signUp stores a user and enqueues a job in one transaction.
func signUp(ctx context.Context, pool *pgxpool.Pool, client *rota.Client, user int) error {
	tx, err := pool.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback(ctx)
	if _, err := tx.Exec(ctx, `INSERT INTO users (id) VALUES ($1)`, user); err != nil {
		return err
	}
	if _, err := client.EnqueueTx(ctx, tx, WelcomeArgs{User: user}, rota.Unique(fmt.Sprintf("user:%d", user))); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

func TestExampleOfProgramForRiverUsers(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	url := server.URL(server.NewDatabase(t, ""))
	store, client, runner, err := open(url)
	must(err)
	defer store.Close()
	pool, err := pgxpool.New(t.Context(), url)
	must(err)
	defer pool.Close()
	_, err = pool.Exec(t.Context(), `CREATE TABLE users (id integer PRIMARY KEY)`)
	must(err)
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- runner.Run(ctx) }()
	must(signUp(ctx, pool, client, 7))
	if err := signUp(ctx, pool, client, 7); err == nil || !strings.Contains(err.Error(), "23505") {
		t.Errorf("the second sign-up: %v", err)
	}
	jobs, err := store.Jobs(ctx, rota.JobQuery{})
	must(err)
	if len(jobs) != 1 {
		t.Fatalf("%d jobs", len(jobs))
	}
	if job := ended(ctx, client, jobs[0].ID); job.State() != rota.StateCompleted {
		t.Errorf("%s: %s", job.State(), job.Run.Error)
	}
	stop()
	must(<-stopped)
}
