// Command embedded runs a queue inside a program: no server, no port, one file. It
// enqueues one reminder, and schedules another every two seconds.
//
//	go run ./examples/embedded
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// Reminder is the payload of a job.
type Reminder struct {
	Text string `json:"text" jsonschema:"minLength=1"`
}

// JobType names the type.
func (Reminder) JobType() string { return "reminder" }

func remind(ctx context.Context, r Reminder) error {
	fmt.Printf("%s (attempt %d)\n", r.Text, engine.Job(ctx).Attempt)
	return nil
}

func run(ctx context.Context, file string) error {
	store, err := sqlite.Open(file)
	if err != nil {
		return err
	}
	defer store.Close()
	client := rota.New(store)

	// Runs at every start: an unchanged schedule stays as it is.
	if err := client.Schedule(ctx, "stretch", Reminder{Text: "stretch your legs"}, rota.Every(2*time.Second), rota.OverlapSkip); err != nil {
		return err
	}
	// The unique key enqueues the job only once, however often the program starts.
	if _, err := client.Enqueue(ctx, Reminder{Text: "welcome"}, rota.Unique("welcome")); err != nil {
		return err
	}

	reg := engine.NewRegistry()
	engine.Handle(reg, remind, engine.WithRetries(5), engine.WithBackoff(time.Second), engine.WithTimeout(10*time.Second))
	return engine.New(client, reg, engine.Config{Workers: 4}).Run(ctx) // until ctx ends
}

func main() {
	file := "reminders.db"
	if len(os.Args) > 1 {
		file = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, file); err != nil {
		log.Fatal(err)
	}
}
