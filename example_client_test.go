package rota_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// DailySummary is the params of a job. JobType returns the name of the type.
type DailySummary struct {
	User int `json:"user"`
}

func (DailySummary) JobType() string { return "daily_summary" }

// The client calls Validate before it accepts a job.
func (s DailySummary) Validate() error {
	if s.User < 0 {
		return rota.Invalidf("user", "is %d; users are numbered from 0", s.User)
	}
	return nil
}

// openExample opens a store in a temporary directory.
func openExample() (store *sqlite.Store, done func()) {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	store, err = sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	return store, func() {
		store.Close()
		os.RemoveAll(dir)
	}
}

// A job with a unique key is enqueued once.
func ExampleClient_Submit() {
	store, done := openExample()
	defer done()
	client, ctx := rota.New(store), context.Background()

	for range 2 {
		submitted, err := client.Submit(ctx, DailySummary{User: 7}, rota.Unique("summary:7:2026-11-15"), rota.Retries(5))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(submitted.Job.Type, string(submitted.Job.Params), submitted.Job.State(), submitted.Duplicate)
	}
	// Output:
	// daily_summary {"user":7} queued false
	// daily_summary {"user":7} queued true
}

// The client refuses a wrong payload before it enqueues anything.
func ExampleClient_Enqueue_invalid() {
	store, done := openExample()
	defer done()

	_, err := rota.New(store).Enqueue(context.Background(), DailySummary{User: -1})
	fmt.Println(rota.CodeOf(err))
	fmt.Println(err)
	// Output:
	// invalid
	// enqueue: params.user: is -1; users are numbered from 0
}

// All jobs are enqueued, or none.
func ExampleClient_EnqueueMany() {
	store, done := openExample()
	defer done()

	jobs, err := rota.New(store).EnqueueMany(context.Background(),
		[]rota.Payload{DailySummary{User: 7}, DailySummary{User: 8}}, rota.After(time.Hour), rota.Priority(5))
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range jobs {
		fmt.Println(string(one.Job.Params), one.Job.State(), one.Job.Priority)
	}
	// Output:
	// {"user":7} scheduled 5
	// {"user":8} scheduled 5
}

// A program declares its schedules at every start. An unchanged declaration changes
// nothing.
func ExampleClient_Schedule() {
	store, done := openExample()
	defer done()
	client, ctx := rota.New(store), context.Background()

	for range 2 {
		err := client.Schedule(ctx, "summaries", DailySummary{},
			rota.Cron("0 7 * * *", "Europe/Berlin"), rota.Scopes("user", "7", "8"), rota.OverlapSkip, rota.CatchUpLast, rota.Timeout(time.Minute))
		if err != nil {
			log.Fatal(err)
		}
	}
	schedule, err := store.Schedule(ctx, "summaries")
	if err != nil {
		log.Fatal(err)
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(schedule.State, schedule.Spec.Scopes, schedule.NextFire.In(berlin).Format("15:04"))
	// Output:
	// ENABLED [{user 7} {user 8}] 07:00
}

// A handler decides whether and when its error is retried.
func ExamplePermanent() {
	handle := func(status int) error {
		switch status {
		case 404:
			return rota.Permanent(errors.New("there is no such user"))
		case 503:
			return rota.RetryAt(time.Date(2026, 11, 15, 7, 0, 0, 0, time.UTC), errors.New("closed for the night"))
		}
		return nil
	}
	gone, closed := handle(404), handle(503)
	at, _ := rota.RetryTime(closed)
	fmt.Println(gone, rota.IsPermanent(gone))
	fmt.Println(closed, rota.IsPermanent(closed), at)
	// Output:
	// there is no such user true
	// closed for the night false 2026-11-15 07:00:00 +0000 UTC
}

// ParseDuration accepts Go and SQL style.
func ExampleParseDuration() {
	for _, text := range []string{"90s", "1 HOUR 30 MINUTES", "2 DAYS", "1d12h", "3w"} {
		d, err := rota.ParseDuration(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(rota.FormatDuration(d))
	}
	// Output:
	// 1m30s
	// 1h30m
	// 48h
	// 36h
	// duration: "3w" has an unknown unit; for weeks write 3 WEEKS
}
