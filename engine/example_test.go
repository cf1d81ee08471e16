package engine_test

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

// Summary is the payload of a job: its fields are the params, JobType is the
// type, and the tags are the schema.
type Summary struct {
	User   int    `json:"user" jsonschema:"minimum=1"`
	Format string `json:"format,omitempty" jsonschema:"enum=pdf,enum=html"`
}

// JobType names the type.
func (Summary) JobType() string { return "summary" }

// send is the handler. Its log lines go to the log of the run, its result is
// stored with the run, and its error decides whether Rota retries the job.
func send(ctx context.Context, s Summary) error {
	engine.Log(ctx).Info("collecting", "user", s.User, "attempt", engine.Job(ctx).Attempt)
	if err := engine.Progress(ctx, map[string]int{"percent": 50}); err != nil {
		return err
	}
	select {
	case <-time.After(time.Millisecond): // the work
	case <-ctx.Done(): // a cancel, a timeout or the end of the process: see context.Cause
		return context.Cause(ctx)
	}
	if s.User == 13 {
		return rota.Permanent(fmt.Errorf("user %d has no address", s.User)) // not retried
	}
	return engine.Result(ctx, map[string]string{"message_id": "m-" + engine.IdempotencyKey(ctx)[:8]})
}

// A whole program: handlers, a schedule, two jobs, and a clean stop.
func Example() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	file, err := sqlite.Open(filepath.Join(dir, "app.db"))
	must(err)
	defer file.Close()
	client := rota.New(wrap.Coalesce(file))

	reg := engine.NewRegistry()
	engine.Handle(reg, send, engine.WithTimeout(time.Minute), engine.WithRetries(5), engine.WithConcurrency(4))

	ctx, stop := context.WithCancel(context.Background()) // in a program: signal.NotifyContext
	stopped := make(chan error)
	go func() { stopped <- engine.New(client, reg, engine.Config{Workers: 16}).Run(ctx) }()

	must(client.Schedule(ctx, "summaries", Summary{User: 7}, rota.Cron("0 7 * * *", "Europe/Berlin"), rota.OverlapSkip))
	good, err := client.Enqueue(ctx, Summary{User: 7, Format: "pdf"}, rota.Unique("summary:7:2026-11-15"))
	must(err)
	bad, err := client.Enqueue(ctx, Summary{User: 13})
	must(err)
	_, err = client.Enqueue(ctx, Summary{User: 7, Format: "docx"})
	fmt.Println(err)

	for _, job := range []*rota.Job{good, bad} {
		job = ended(ctx, client, job.ID)
		fmt.Printf("attempt %d: %s %q\n", job.Attempt, job.State(), job.Run.Error)
	}
	stop() // takes no more, waits for what runs, records how it ended
	must(<-stopped)
	// Output:
	// enqueue: params.format: is "docx"; allowed are "pdf", "html": see the schema of its type
	// attempt 1: completed ""
	// attempt 1: failed "user 13 has no address"
}

// tenantKey is the context key of the tenant of a job.
type tenantKey struct{}

// Tenant is middleware: it passes the tenant of the job to the handler, and
// refuses jobs without a tenant.
func Tenant(next engine.Handler) engine.Handler {
	return func(ctx context.Context, job *rota.Job) error {
		if job.ScopeKind != "tenant" {
			return rota.Permanent(fmt.Errorf("job %q has no tenant", job.DefinitionName()))
		}
		return next(context.WithValue(ctx, tenantKey{}, job.ScopeID), job)
	}
}

// Middleware wraps handlers: the first is the outermost, that of a type
// comes after that of all.
func ExampleRegistry_Use() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "app.db"))
	must(err)
	defer store.Close()
	client := rota.New(store)

	reg := engine.NewRegistry()
	reg.Use(engine.Logging(slog.New(slog.DiscardHandler))) // in a program: nil, for slog.Default
	engine.Handle(reg, func(ctx context.Context, s Summary) error {
		return engine.Result(ctx, fmt.Sprintf("a summary of user %d for %s", s.User, ctx.Value(tenantKey{})))
	}, engine.WithMiddleware(Tenant))

	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- engine.New(client, reg, engine.Config{}).Run(ctx) }()

	good, err := client.Enqueue(ctx, Summary{User: 7}, rota.ForScope("tenant", "acme"))
	must(err)
	bad, err := client.Enqueue(ctx, Summary{User: 7})
	must(err)
	fmt.Println(string(ended(ctx, client, good.ID).Run.Result))
	fmt.Println(ended(ctx, client, bad.ID).Run.Error)
	stop()
	must(<-stopped)
	// Output:
	// "a summary of user 7 for acme"
	// job "summary" has no tenant
}

// ended waits for the end of a job.
func ended(ctx context.Context, client *rota.Client, id rota.ID) *rota.Job {
	for {
		job, err := client.Job(ctx, id)
		must(err)
		if job.Ended() {
			return job
		}
		time.Sleep(time.Millisecond)
	}
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
