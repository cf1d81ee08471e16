package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/wrap"
)

const (
	benchJobsDefault = 10_000
	benchJobsMax     = 10_000_000
	benchFireDefault = 5 * time.Second
)

const benchExample = `  rota bench
  rota bench --store sqlite:/mnt/data/bench.db    # on the disk of the production store
  rota bench --jobs 100000 --workers 32 --output json`

// benchOptions holds the flags.
type benchOptions struct {
	store   string
	jobs    int
	workers int
	fire    time.Duration
}

// benchView is the output as JSON and YAML.
type benchView struct {
	Version  string     `json:"version"`
	Platform string     `json:"platform"`
	CPUs     int        `json:"cpus"`
	Store    string     `json:"store"`
	Workers  int        `json:"workers"`
	Rows     []benchRow `json:"rows"`
}

type benchRow struct {
	Case   string  `json:"case"`
	Metric string  `json:"metric"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
}

func newBenchCommand(a *app) *cobra.Command {
	opts := benchOptions{fire: benchFireDefault}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure enqueue rate, run rate, latency and fire accuracy on this machine",
		Long: `Measure how fast this machine and its disk enqueue and run jobs, how long a job waits for an idle worker, and how late
schedules fire. The command creates a store of its own, in the temporary directory or at --store, and removes
it at the end. It refuses an existing file, and an existing DynamoDB table.`,
		Example: benchExample,
		Args:    noArgs(),
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.store, "store", "", "create the store at `URL`, such as sqlite:/mnt/data/bench.db or dynamodb://bench?region=eu-west-1 (default: a temporary file)")
	addNumberFlag(cmd, &opts.jobs, "jobs", benchJobsDefault, 1, benchJobsMax, "run `N` jobs")
	addNumberFlag(cmd, &opts.workers, "workers", engine.DefaultWorkers, 1, engine.WorkersMax, "run `N` jobs at once")
	flags.Var(durationFlag(&opts.fire), "fire", "measure schedules for `DURATION`; 0s skips this")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return untilSignal(cmd, func(ctx context.Context) error { return a.bench(ctx, opts) }) // a signal must not leave files
	}
	return cmd
}

func (a *app) bench(ctx context.Context, opts benchOptions) error {
	at, err := openBench(ctx, opts)
	if err != nil {
		return err
	}
	defer at.remove()
	view := benchView{
		Version: buildVersion(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Store: at.url,
		Workers: opts.workers,
	}
	bar := a.newProgress()
	defer bar.clear()
	if view.Rows, err = measure(ctx, at, opts, bar); err != nil {
		if ctx.Err() != nil {
			return &exitError{code: exitFailed, err: errors.New("interrupted: nothing was kept")}
		}
		return err
	}
	bar.clear()
	return a.print(view, func(w io.Writer) { a.writeBench(w, view) })
}

// benchStore is a store that the command has created.
type benchStore struct {
	rota.Store
	url    string
	dir    string // where SQLite writes; empty: commits wait for no disk of this machine
	remove func() // closes the store and removes everything
}

// openBench creates the store.
func openBench(ctx context.Context, opts benchOptions) (*benchStore, error) {
	if isDynamo(opts.store) {
		return openBenchTable(ctx, opts.store)
	}
	path, remove, err := benchPath(opts)
	if err != nil {
		return nil, err
	}
	file, err := sqlite.OpenWith(path, sqlite.Config{Logger: discardLogger()})
	if err != nil {
		remove()
		return nil, err
	}
	queue := wrap.Coalesce(file)
	return &benchStore{queue, "sqlite:" + path, filepath.Dir(path), func() { _ = queue.Close(); remove() }}, nil
}

// openBenchTable creates a DynamoDB table, with the replica in the temporary directory.
func openBenchTable(ctx context.Context, url string) (*benchStore, error) {
	dir, err := os.MkdirTemp("", "rota-bench-*")
	if err != nil {
		return nil, err
	}
	store, err := dynamo.Open(ctx, url, dynamo.Config{Dir: dir, New: true, Logger: discardLogger()})
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	queue := wrap.Coalesce(store)
	return &benchStore{queue, url, "", func() {
		within, done := context.WithTimeout(context.Background(), benchRemoveTimeout)
		defer done()
		_ = store.DeleteTable(within)
		_ = queue.Close()
		_ = os.RemoveAll(dir)
	}}, nil
}

const benchRemoveTimeout = 15 * time.Second

// benchPath returns the path of the store to create and a function that removes all its files. It refuses an existing
// file.
func benchPath(opts benchOptions) (path string, remove func(), err error) {
	if opts.store == "" {
		dir, err := os.MkdirTemp("", "rota-bench-*")
		return filepath.Join(dir, "bench.db"), func() { _ = os.RemoveAll(dir) }, err
	}
	if path, err = storePath(opts.store, "write --store sqlite:PATH or --store dynamodb://TABLE"); err != nil {
		return "", nil, err
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return "", nil, failf(exitFailed, "name a file that does not exist, on the disk to measure", "%s already exists; rota bench uses only a store that it creates", path)
	}
	return path, func() {
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			_ = os.Remove(path + suffix)
		}
	}, nil
}

func (a *app) writeBench(w io.Writer, view benchView) {
	fmt.Fprintf(w, "rota %s, %s, %s, %s\n%s\n\n", view.Version, view.Platform, plural(view.CPUs, "processor", "processors"),
		plural(view.Workers, "worker", "workers"), view.Store)
	t := newTable("CASE", "METRIC", "VALUE", "UNIT")
	for _, row := range view.Rows {
		t.add(row.Case, row.Metric, benchNumber(row.Value), row.Unit)
	}
	a.printTable(w, t)
}

// benchNumber formats a number with about three significant digits.
func benchNumber(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}
