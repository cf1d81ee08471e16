// Command bench measures Rota against the raw database engine and against other queues, on a real disk and with every
// commit synced. docs/reference/benchmarks.md explains the output.
//
//	BENCH=regexp           run the cases that match
//	BENCH_RUNS=5           number of interleaved runs; the medians are printed
//	BENCH_SCALE=1          size of every case; 0.01 is a smoke test
//	BENCH_DIR=.            directory for the files
//	BENCH_JSON=file        also write the rows as JSON
//	BENCH_CPUPROFILE=file  write a profile, with the labels case and subject
//	BENCH_CHURN=60m        duration of postgres/churn, which runs only if BENCH names it
//	BENCH_ENFORCE=1        exit with an error if a bar is missed
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"runtime/pprof"
)

func main() {
	if task := childTask(); task != nil {
		exit(task())
	}
	config, err := configFromEnv(os.Getenv)
	if err != nil {
		exit(err)
	}
	setGCPercent()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, config))
}

// childTask returns the task of a process that another bench process started, or nil.
func childTask() func() error {
	if path := os.Getenv(childEnv); path != "" {
		return func() error { return memoryChild(path) }
	}
	if path := os.Getenv(chainEnv); path != "" {
		return func() error { return chainChild(path, os.Stdin, os.Stdout) }
	}
	if url := os.Getenv(pgChildEnv); url != "" {
		return func() error { return pgChild(url, os.Stdin, os.Stdout) }
	}
	return nil
}

func setGCPercent() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400) // as rota serve does; the same for all subjects
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, config config) error {
	stop, err := profile(config.cpuProfile)
	if err != nil {
		return err
	}
	b, err := newBench(ctx, config)
	if err != nil {
		return err
	}
	err = b.measure(allBenchmarks())
	stop()
	if cleanErr := b.close(); err == nil {
		err = cleanErr
	}
	if err != nil {
		return err
	}
	b.report.print(os.Stdout)
	if config.json != "" {
		if err := b.report.writeJSON(config.json); err != nil {
			return err
		}
	}
	if config.enforce && b.report.missed() {
		return errors.New("a bar was missed")
	}
	return nil
}

func profile(path string) (stop func(), err error) {
	if path == "" {
		return func() {}, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}, nil
}
