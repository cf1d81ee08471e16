package runlog_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/runlog"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/postgres/pgtest"
	"github.com/rotajobs/rota/store/wrap"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// BenchmarkSmallRunsOnPostgres runs jobs that write three lines, with their logs in files, in the store,
// and discarded. It reports the processor time of this process and of PostgreSQL for each job.
func BenchmarkSmallRunsOnPostgres(b *testing.B) {
	config := runlog.Config{Logger: slog.New(slog.DiscardHandler)}
	for name, logs := range map[string]func(b *testing.B, store *postgres.Store) engine.Logs{
		"files":  func(b *testing.B, _ *postgres.Store) engine.Logs { return runlog.Dir(b.TempDir(), config) },
		"chunks": func(_ *testing.B, store *postgres.Store) engine.Logs { return runlog.Store(store, config) },
		"none":   func(*testing.B, *postgres.Store) engine.Logs { return discarded{} },
	} {
		b.Run(name, func(b *testing.B) { benchmarkRuns(b, logs) })
	}
}

func benchmarkRuns(b *testing.B, logs func(*testing.B, *postgres.Store) engine.Logs) {
	const jobs = 5_000
	cluster := pgtest.Shared(b)
	store, err := postgres.OpenWith(cluster.URL(cluster.NewDatabase(b, "")), postgres.Config{Logger: slog.New(slog.DiscardHandler)})
	must(err)
	defer store.Close()
	registry := engine.NewRegistry()
	engine.Handle(registry, func(ctx context.Context, _ greet) error {
		for i := range 3 {
			_, _ = fmt.Fprintf(engine.Output(ctx), "2026-11-15T23:30:00Z INFO line %d of a log as long as most of them are\n", i)
		}
		return nil
	})
	client := rota.New(wrap.Coalesce(store))
	eng := engine.New(client, registry, engine.Config{Workers: 64, Logs: logs(b, store), Logger: slog.New(slog.DiscardHandler), Membership: store})
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- eng.Run(ctx) }()
	<-eng.Ready()
	total, began := 0, usage(cluster)
	for b.Loop() {
		payloads := make([]rota.Payload, jobs)
		for i := range payloads {
			payloads[i] = greet{}
		}
		for len(payloads) > 0 {
			_, err := client.EnqueueMany(ctx, payloads[:1000])
			must(err)
			payloads = payloads[1000:]
		}
		total += jobs
		for {
			stats, err := store.Stats(ctx)
			must(err)
			if stats.Queued+stats.Running == 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	used := usage(cluster)
	perJob := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(total) }
	b.ReportMetric(float64(total)/b.Elapsed().Seconds(), "jobs/s")
	b.ReportMetric(perJob(used.process-began.process), "µs-go/job")
	b.ReportMetric(perJob(used.server-began.server), "µs-pg/job")
	b.ReportMetric(100*(used.steal-began.steal)/(used.all-began.all), "%steal")
	stop()
	must(<-ended)
}

// discarded accepts every line and stores none.
type discarded struct{}

func (discarded) Open(*rota.Job) (engine.LogFile, error) { return unstored{io.Discard}, nil }

type unstored struct{ io.Writer }

func (unstored) Path() string { return "discarded" }
func (unstored) Close() error { return nil }

// processorTime is what this process, the processes of PostgreSQL and the machine have used.
type processorTime struct {
	process, server time.Duration
	steal, all      float64 // ticks of the machine
}

func usage(cluster *pgtest.Cluster) (used processorTime) {
	var own syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &own))
	used.process = time.Duration(own.Utime.Nano() + own.Stime.Nano())
	machine, _ := os.ReadFile("/proc/stat")
	first, _, _ := strings.Cut(string(machine), "\n")
	for i, field := range strings.Fields(first)[1:] {
		var ticks float64
		_, _ = fmt.Sscan(field, &ticks)
		if used.all += ticks; i == 7 {
			used.steal = ticks
		}
	}
	processes, _ := os.ReadDir("/proc")
	for _, entry := range processes {
		stat, _ := os.ReadFile("/proc/" + entry.Name() + "/stat")
		_, rest, found := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		if !found || len(fields) < 13 || fields[1] != fmt.Sprint(cluster.Pid()) {
			continue
		}
		var user, system int64
		_, _ = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
		used.server += time.Duration(user+system) * 10 * time.Millisecond
	}
	return used
}
