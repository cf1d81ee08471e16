package main

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	_ "modernc.org/sqlite" // driver recommended by River
)

const (
	riverDriver  = "sqlite"
	riverOptions = "?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=busy_timeout(5000)"
)

func riverRival(size int) rival {
	return rival{
		name: "river",
		note: "v0.31.0 with riversqlite v0.31.0, Client.InsertManyFast, on modernc.org/sqlite v1.37.1",
		open: func(ctx context.Context, path string) (rivalQueue, error) { return openRiver(ctx, path, size) },
	}
}

func openRiver(ctx context.Context, path string, size int) (rivalQueue, error) {
	db, err := openSynced(ctx, riverDriver, "file:"+path+riverOptions)
	if err != nil {
		return nil, err
	}
	driver, err := migrateRiver(ctx, db)
	if err != nil {
		return nil, err
	}
	client, err := river.NewClient(driver, &river.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	batch := make([]river.InsertManyParams, size)
	for i := range batch {
		batch[i] = river.InsertManyParams{Args: riverArgs{Text: innerText()}}
	}
	return &sqlRival{db: db, count: "SELECT count(*) FROM river_job", batch: func(ctx context.Context) error {
		_, err := client.InsertManyFast(ctx, batch)
		return err
	}}, nil
}

// migrateRiver creates River's tables.
func migrateRiver(ctx context.Context, db *sql.DB) (*riversqlite.Driver, error) {
	driver := riversqlite.New(db)
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return driver, err
}

// riverArgs is encoded as a JSON object of the same size as the params of all subjects.
type riverArgs struct {
	Text string `json:"text"`
}

func (riverArgs) Kind() string { return jobType }
