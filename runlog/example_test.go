package runlog_test

import (
	"context"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/runlog"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
)

// filesOf returns an engine whose run logs are files DAY/JOB.log below a directory. It suits a
// program that has its store to itself.
func filesOf(dir string, client *rota.Client, registry *engine.Registry) (*engine.Engine, *runlog.Files) {
	logs := runlog.Dir(dir, runlog.Config{})
	return engine.New(client, registry, engine.Config{Logs: logs}), logs
}

// sharedOf returns an engine whose run logs are in the database. Every process that shares the store
// can read every log.
func sharedOf(store *postgres.Store, client *rota.Client, registry *engine.Registry) (*engine.Engine, *runlog.Chunks) {
	logs := runlog.Store(store, runlog.Config{Max: 1 << 20, Keep: 7 * 24 * time.Hour})
	return engine.New(client, registry, engine.Config{Logs: logs, Membership: store}), logs
}

var _ = sharedOf

// greet is the payload of a job.
type greet struct{}

func (greet) JobType() string { return "greet" }

func ExampleDir() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "rota.db"))
	must(err)
	defer store.Close()
	client, registry := rota.New(store), engine.NewRegistry()
	engine.Handle(registry, func(ctx context.Context, _ greet) error {
		_, err := io.WriteString(engine.Output(ctx), "hello\n")
		return err
	})
	eng, logs := filesOf(filepath.Join(dir, "logs"), client, registry)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- eng.Run(ctx) }()
	<-eng.Ready()
	job, err := client.Enqueue(ctx, greet{})
	must(err)
	for !job.Ended() {
		time.Sleep(time.Millisecond)
		job, err = client.Job(ctx, job.ID)
		must(err)
	}
	text, err := logs.ReadLog(ctx, job)
	must(err)
	defer text.Close()
	_, err = io.Copy(os.Stdout, text)
	must(err)
	stop()
	must(<-ended)
	// Output: hello
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
