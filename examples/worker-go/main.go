// Command worker-go is a worker of a Rota server: a separate program, on this
// machine or another one, that runs jobs of the type checksum.
//
//	ROTA_URL=http://127.0.0.1:7420 ROTA_TOKEN=… go run ./examples/worker-go
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/worker"
)

// Checksum is the payload of a job: the fields are the params, JobType is the name
// of the type, and the tags define the schema that the server checks.
type Checksum struct {
	Text   string `json:"text" jsonschema:"minLength=1"`
	Rounds int    `json:"rounds,omitempty" jsonschema:"maximum=1000000000"`
}

// JobType names the type.
func (Checksum) JobType() string { return "checksum" }

// sum is the handler. Its context ends when the job is cancelled, times out, or
// loses its lease because heartbeats did not reach the server.
func sum(ctx context.Context, c Checksum) error {
	engine.Log(ctx).Info("hashing", "bytes", len(c.Text), "attempt", engine.Job(ctx).Attempt)
	digest := sha256.Sum256([]byte(c.Text))
	for round := 1; round < c.Rounds; round++ {
		digest = sha256.Sum256(digest[:])
		if round%1_000_000 != 0 {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := engine.Progress(ctx, map[string]int{"round": round, "of": c.Rounds}); err != nil {
			return err
		}
	}
	return engine.Result(ctx, map[string]string{"sha256": hex.EncodeToString(digest[:])})
}

func main() {
	reg := engine.NewRegistry()
	reg.Use(engine.Logging(slog.Default())) // logs one line for each run
	engine.Handle(reg, sum, engine.WithTimeout(time.Minute), engine.WithRetries(5))

	// After the first signal running jobs finish. A second signal ends the process; other workers retry its jobs.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	url := cmp.Or(os.Getenv("ROTA_URL"), "http://127.0.0.1:7420")
	if err := worker.New(url, os.Getenv("ROTA_TOKEN"), reg, worker.Config{Workers: 4}).Run(ctx); err != nil {
		log.Fatal(err)
	}
}
