package node_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/client"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/node"
	"github.com/rotajobs/rota/store/sqlite"
)

// embed runs a queue in this program and serves its API.
func embed(ctx context.Context, store rota.Store, reg *engine.Registry, config node.ServeConfig) error {
	client := rota.New(store)
	queue := engine.New(client, reg, engine.Config{})
	ctx, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() {
		defer stop() // also if the address is in use
		served <- node.Serve(ctx, client, queue, config)
	}()
	return errors.Join(queue.Run(ctx), <-served)
}

func ExampleServe() {
	dir, err := os.MkdirTemp("", "rota")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "app.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	reg := engine.NewRegistry()
	engine.Handle(reg, func(ctx context.Context, s Summary) error { return engine.Result(ctx, s.User) })

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	config := node.ServeConfig{Data: dir, HTTP: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)}
	config.OnReady = func(address string) { go useFromOutside(stop, dir, address) }
	if err := embed(ctx, store, reg, config); err != nil {
		log.Fatal(err)
	}
	// Output: completed 7
}

// useFromOutside is what another program does, as the command line does.
func useFromOutside(done func(), dir, address string) {
	defer done()
	ctx := context.Background()
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		log.Fatal(err)
	}
	remote, err := client.Dial("http://"+address, strings.TrimSpace(string(token)))
	if err != nil {
		log.Fatal(err)
	}
	job, err := remote.Enqueue(ctx, Summary{User: 7})
	for err == nil && !job.Ended() {
		time.Sleep(time.Millisecond)
		job, err = remote.Job(ctx, job.ID)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(job.State(), string(job.Run.Result))
}
