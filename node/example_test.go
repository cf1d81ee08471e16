package node_test

import (
	"context"
	"errors"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/node"
)

// Summary is the payload of a job.
type Summary struct {
	User int `json:"user" jsonschema:"minimum=1"`
}

// JobType names the type.
func (Summary) JobType() string { return "summary" }

// serve runs the server with one more handler beside the built-in ones.
func serve(ctx context.Context) error {
	config, err := node.Load("", os.Getenv) // rota.yaml, ROTA_… and defaults
	if err != nil {
		return err
	}
	config.Register = func(reg *engine.Registry) {
		reg.Use(engine.Logging(slog.Default()))
		engine.Handle(reg, func(ctx context.Context, s Summary) error {
			return engine.Result(ctx, s.User) // your work
		})
	}
	n, err := node.Open(ctx, config) // data directory, lock, store, address
	if err != nil {
		return err
	}
	if err := n.Client().Schedule(ctx, "summaries", Summary{User: 7}, rota.Cron("0 7 * * *", "Europe/Berlin")); err != nil {
		return errors.Join(err, n.Close())
	}
	return n.Run(ctx) // until ctx ends; then it drains
}

func ExampleConfig_register() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx); err != nil {
		log.Println(err)
	}
}
