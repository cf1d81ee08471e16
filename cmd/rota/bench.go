package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/engine"
)

const (
	benchJobsDefault = 10_000
	benchJobsMax     = 10_000_000
	benchFireDefault = 5 * time.Second
)

const benchExample = `  rota bench
  rota bench --store sqlite:/mnt/data/bench.db    # on the disk that will hold the store
  rota bench --jobs 100000 --workers 32 --output json`

// benchOptions are the flags of one call.
type benchOptions struct {
	store   string
	jobs    int
	workers int
	fire    time.Duration
}

// benchView is the answer, as JSON and YAML have it.
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
		Short: "Measures this machine: enqueue, run, latency and fire accuracy",
		Long: `Measures how fast jobs are enqueued and run on this machine and disk, how long one waits for an idle worker, and
how late schedules fire. It makes a store of its own, in the temporary directory or where --store says,
removes it at the end, and touches no other: a file that is there is refused.`,
		Example: benchExample,
		Args:    noArgs(),
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.store, "store", "", "make the store at this `URL`, such as sqlite:/mnt/data/bench.db (default a temporary file)")
	addNumberFlag(cmd, &opts.jobs, "jobs", benchJobsDefault, 1, benchJobsMax, "run `N` jobs")
	addNumberFlag(cmd, &opts.workers, "workers", engine.DefaultWorkers, 1, engine.WorkersMax, "run `N` at once")
	flags.Var(durationFlag{&opts.fire}, "fire", "watch schedules fire for this `DURATION`; 0s leaves that out")
	completeFrom(cmd, "fire", nil)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM) // so that no file stays
		defer stop()
		return a.bench(ctx, opts)
	}
	return cmd
}

func (a *app) bench(ctx context.Context, opts benchOptions) error {
	path, remove, err := benchPath(opts)
	if err != nil {
		return err
	}
	defer remove()
	view := benchView{
		Version: buildVersion(), Platform: runtime.GOOS + "/" + runtime.GOARCH, CPUs: runtime.NumCPU(), Store: "sqlite:" + path,
		Workers: opts.workers,
	}
	bar := a.newProgress()
	defer bar.clear()
	if view.Rows, err = measure(ctx, path, opts, bar); err != nil {
		if ctx.Err() != nil {
			return &exitError{code: exitFailed, err: errors.New("interrupted: nothing was kept")}
		}
		return err
	}
	bar.clear()
	return a.print(view, func(w io.Writer) error { return a.writeBench(w, view) })
}

// benchPath is where the store is made, and how everything of it is removed. What is there is somebody's.
func benchPath(opts benchOptions) (path string, remove func(), err error) {
	if opts.store == "" {
		dir, err := os.MkdirTemp("", "rota-bench-*")
		return filepath.Join(dir, "bench.db"), func() { _ = os.RemoveAll(dir) }, err
	}
	if path, err = storePath(opts.store); err != nil {
		return "", nil, err
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		return "", nil, &exitError{
			code: exitFailed, err: fmt.Errorf("%s is there already, and bench touches no store but its own", path),
			hint: "name a file that is not there, in the directory whose disk you mean",
		}
	}
	return path, func() {
		for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
			_ = os.Remove(path + suffix)
		}
	}, nil
}

func (a *app) writeBench(w io.Writer, view benchView) error {
	fmt.Fprintf(w, "rota %s, %s, %s, %s\n%s\n\n", view.Version, view.Platform, plural(view.CPUs, "processor", "processors"),
		plural(view.Workers, "worker", "workers"), view.Store)
	t := newTable("CASE", "METRIC", "VALUE", "UNIT")
	for _, row := range view.Rows {
		t.add(row.Case, row.Metric, benchNumber(row.Value), row.Unit)
	}
	return a.printTable(w, t)
}

// benchNumber shows three digits that count; more would be noise.
func benchNumber(value float64) string {
	switch {
	case value >= 100:
		return fmt.Sprintf("%.0f", value)
	case value >= 10:
		return fmt.Sprintf("%.1f", value)
	}
	return fmt.Sprintf("%.2f", value)
}
