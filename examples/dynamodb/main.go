// Command dynamodb runs a queue in a DynamoDB table. It enqueues a summary for each user and day, and a
// synchronisation for each user. Several of these programs may share the table, and programs in other languages may
// put jobs into it.
//
//	go run ./examples/dynamodb -store 'dynamodb://TABLE?region=eu-west-1' -users ada,grace
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/report"
	"github.com/rotajobs/rota/store/dynamo"
)

// DailySummary is the payload of a job that sends a user the summary of a day.
type DailySummary struct {
	User string `json:"user" jsonschema:"minLength=1"`
	Date string `json:"date" jsonschema:"pattern=^[0-9]{4}-[0-9]{2}-[0-9]{2}$"`
}

// JobType names the type.
func (DailySummary) JobType() string { return "daily_summary" }

// UserSync is the payload of a job that fetches the data of a user.
type UserSync struct {
	User     string `json:"user" jsonschema:"minLength=1"`
	Password string `json:"password,omitempty"` // reports to Sentry hide it
}

// JobType names the type.
func (UserSync) JobType() string { return "user_sync" }

func sendSummary(_ context.Context, s DailySummary) error {
	fmt.Printf("summary of %s for %s\n", s.Date, s.User)
	return nil
}

func syncUser(ctx context.Context, s UserSync) error {
	if s.User == "nobody" {
		panic("there is no user " + s.User) // shows how a panic is reported, with its stack
	}
	fmt.Printf("sync of %s (attempt %d)\n", s.User, engine.Job(ctx).Attempt)
	return nil
}

// enqueue enqueues the jobs of some users. The unique key of a summary allows one for each user and day.
func enqueue(ctx context.Context, client *rota.Client, users []string, now time.Time) error {
	date := now.UTC().Format(time.DateOnly)
	for _, user := range users {
		_, err := client.Enqueue(ctx, DailySummary{User: user, Date: date}, rota.Unique(user+"#"+date))
		if err == nil {
			_, err = client.Enqueue(ctx, UserSync{User: user, Password: "hunter2"}, rota.Unique(user))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, url, dir, dsn string, users []string) (err error) {
	store, err := dynamo.Open(ctx, url, dynamo.Config{Dir: dir})
	if err != nil {
		return err
	}
	defer store.Close()
	host, _ := os.Hostname()
	config := engine.Config{Name: fmt.Sprintf("%s-%d", host, os.Getpid()), Workers: 4, Membership: store} // the name differs in each process
	if dsn != "" {
		reports, err := report.NewSentry(dsn, report.Config{})
		if err != nil {
			return err
		}
		defer func() {
			closing, done := context.WithTimeout(context.Background(), 5*time.Second)
			defer done()
			err = errors.Join(err, reports.Close(closing))
		}()
		config.Reporter = reports
	}
	client, reg := rota.New(store), engine.NewRegistry()
	engine.Handle(reg, sendSummary, engine.WithRetries(4), engine.WithBackoff(time.Minute))
	engine.Handle(reg, syncUser, engine.WithRetries(0), engine.WithTimeout(10*time.Second))
	queue, ended := engine.New(client, reg, config), make(chan error, 1)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() { ended <- queue.Run(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-queue.Ready(): // from now on the types have their retries
	}
	if err := enqueue(ctx, client, users, time.Now()); err != nil {
		stop()
		return errors.Join(err, <-ended)
	}
	return <-ended // when ctx ends
}

func main() {
	url := flag.String("store", "", "URL of the table, such as dynamodb://TABLE?region=eu-west-1")
	dir := flag.String("dir", "replica", "directory of the replica, of this process alone")
	users := flag.String("users", "", "users to enqueue jobs for, with commas")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	names := strings.FieldsFunc(*users, func(r rune) bool { return r == ',' })
	if err := run(ctx, *url, *dir, os.Getenv("SENTRY_DSN"), names); err != nil {
		log.Fatal(err)
	}
}
