// Command embedded runs a queue inside a program: no server, one file. It enqueues one
// reminder, and schedules another every two seconds. With a data directory it serves the
// API, for the command line.
//
//	go run ./examples/embedded
//	go run ./examples/embedded -data reminders-data
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/node"
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

func run(ctx context.Context, file, data string) error {
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
	queue := engine.New(client, reg, engine.Config{Workers: 4})
	if data == "" {
		return queue.Run(ctx) // until ctx ends
	}
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() {
		defer stop() // if the address is in use, for example
		served <- node.Serve(ctx, client, queue, node.ServeConfig{Data: data, HTTP: "127.0.0.1:0"})
	}()
	return errors.Join(queue.Run(ctx), <-served)
}

func main() {
	file := flag.String("file", "reminders.db", "file of the queue")
	data := flag.String("data", "", "directory of the token and the address of the API; empty: no API")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *file, *data); err != nil {
		log.Fatal(err)
	}
}
