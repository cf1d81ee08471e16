package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const (
	benchType      = "rota-bench"
	benchBatch     = 1_000 // jobs in one command
	benchCallers   = 64    // concurrent callers
	benchSchedules = 100   // schedules that fire each second
	benchParams    = `{"to": "receiver@example.com", "subject": "about the size of a real one", "number": 42}`
)

// benchmark holds the store and the measurements.
type benchmark struct {
	opts benchOptions
	bar  *progress
	rows []benchRow

	store   rota.Store
	started chan time.Time // start time of each job while listen is true
	listen  atomic.Bool
	lateMu  sync.Mutex
	late    []time.Duration // delay of each job of a schedule from its plan time to its start
	done    atomic.Int64
	reached chan struct{} // closed when done reaches goal
	goal    int64
}

// measure runs the cases one after the other.
func measure(ctx context.Context, at *benchStore, opts benchOptions, bar *progress) ([]benchRow, error) {
	b := &benchmark{opts: opts, bar: bar, store: at.Store, started: make(chan time.Time, 1), reached: make(chan struct{})}
	if at.dir != "" {
		if err := b.disk(at.dir); err != nil {
			return nil, err
		}
	}
	if err := b.enqueue(ctx); err != nil {
		return nil, err
	}
	return b.rows, b.withEngine(ctx)
}

func discardLogger() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func (b *benchmark) add(name, metric string, value float64, unit string) {
	b.rows = append(b.rows, benchRow{name, metric, value, unit})
}

// disk measures one write and sync. No commit can be faster, so it explains the other results.
func (b *benchmark) disk(dir string) error {
	file, err := os.CreateTemp(dir, ".rota-bench-*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	const rounds = 50
	page := make([]byte, 4096)
	var took []time.Duration
	for i := range rounds {
		b.bar.bar(int64(i), rounds, "sync of 4 KiB to disk")
		begin := time.Now()
		if _, err := file.Write(page); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		took = append(took, time.Since(begin))
	}
	b.add("disk", "write and sync 4 KiB, median", millis(quantile(took, 0.5)), "ms")
	return nil
}

// enqueue fills the queue in three ways: one job after the other, with concurrent callers, and with many jobs a
// command.
func (b *benchmark) enqueue(ctx context.Context) error {
	n := b.opts.jobs
	single := min(1_000, max(1, n/10))
	if err := b.rate("enqueue", "one caller, one job each", single, 1, 1, ctx); err != nil {
		return err
	}
	if err := b.rate("enqueue", fmt.Sprintf("%d callers, one job each", benchCallers), max(1, min(n-single, n/2)), benchCallers, 1, ctx); err != nil {
		return err
	}
	return b.rate("enqueue", fmt.Sprintf("one caller, %d jobs each", benchBatch), n, 1, benchBatch, ctx)
}

// rate enqueues jobs and records the number a second.
func (b *benchmark) rate(name, metric string, total, callers, size int, ctx context.Context) error {
	var next, enqueued atomic.Int64
	var group sync.WaitGroup
	errs := make(chan error, callers)
	begin := time.Now()
	for range callers {
		group.Go(func() {
			for {
				from := int(next.Add(int64(size))) - size
				if from >= total {
					return
				}
				jobs := min(size, total-from)
				if err := b.send(ctx, jobs); err != nil {
					errs <- err
					return
				}
				b.bar.bar(enqueued.Add(int64(jobs)), int64(total), "%s: %s", name, metric)
			}
		})
	}
	group.Wait()
	took := time.Since(begin)
	select {
	case err := <-errs:
		return err
	default:
	}
	b.goal += int64(total)
	b.add(name, metric, float64(total)/took.Seconds(), "jobs/s")
	return nil
}

func (b *benchmark) send(ctx context.Context, n int) error {
	command := &rota.Enqueue{Meta: rota.Meta{ID: rota.NewID()}, Jobs: make([]rota.NewJob, n)}
	for i := range command.Jobs {
		command.Jobs[i] = rota.NewJob{Type: benchType, Params: []byte(benchParams)}
	}
	_, err := rota.Do[*rota.Enqueued](ctx, b.store, command)
	return err
}

// withEngine runs the cases that need workers. The first one runs all jobs that enqueue left in the queue.
func (b *benchmark) withEngine(ctx context.Context) error {
	reg := engine.NewRegistry()
	reg.Func(benchType, rota.TypeSpec{}, b.handle)
	e := engine.New(rota.New(b.store), reg, engine.Config{Workers: b.opts.workers, Name: "bench", Logger: discardLogger()})
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	begin := time.Now()
	go func() { ended <- e.Run(ctx) }()
	err := b.run(ctx, begin)
	if err == nil {
		err = b.latency(ctx)
	}
	if err == nil && b.opts.fire > 0 {
		err = b.fires(ctx)
	}
	stop()
	if runErr := <-ended; err == nil {
		err = runErr
	}
	return err
}

// handle is the handler of the jobs. It only records that the job ran.
func (b *benchmark) handle(_ context.Context, job *rota.Job) error {
	now := time.Now()
	if b.listen.Load() {
		b.started <- now
	}
	if !job.PlanTime.IsZero() {
		b.lateMu.Lock()
		b.late = append(b.late, now.Sub(job.PlanTime))
		b.lateMu.Unlock()
	}
	if b.done.Add(1) == b.goal {
		close(b.reached)
	}
	return nil
}

func (b *benchmark) run(ctx context.Context, begin time.Time) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.reached:
			b.add("run", fmt.Sprintf("%d jobs that do nothing, claimed, run and finished", b.goal), float64(b.goal)/time.Since(begin).Seconds(), "jobs/s")
			return nil
		case <-tick.C:
			b.bar.bar(b.done.Load(), b.goal, "run: %d jobs", b.goal)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// latency measures the time from enqueue to start of a single job with an idle worker, its commit included.
func (b *benchmark) latency(ctx context.Context) error {
	rounds := min(300, max(1, b.opts.jobs/10))
	b.listen.Store(true)
	defer b.listen.Store(false)
	var took []time.Duration
	for i := range rounds {
		b.bar.bar(int64(i), int64(rounds), "latency: enqueue to start")
		begin := time.Now()
		if err := b.send(ctx, 1); err != nil {
			return err
		}
		select {
		case at := <-b.started:
			took = append(took, at.Sub(begin))
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	b.add("latency", "enqueue to start, median", millis(quantile(took, 0.5)), "ms")
	b.add("latency", "enqueue to start, 99 of 100", millis(quantile(took, 0.99)), "ms")
	return nil
}

// fires measures schedules that are all due in the same second.
func (b *benchmark) fires(ctx context.Context) error {
	commands := []rota.Command{&rota.PutTemplate{Meta: rota.Meta{ID: rota.NewID()}, Name: benchType, Spec: rota.TemplateSpec{Type: benchType}}}
	now := time.Now()
	for i := range benchSchedules {
		declared, err := rota.Declare(rota.Meta{ID: rota.NewID()}, fmt.Sprintf("%s.%d", benchType, i),
			rota.ScheduleSpec{Template: benchType, Every: time.Second}, now)
		if err != nil {
			return err
		}
		commands = append(commands, declared)
	}
	results, err := b.store.Apply(ctx, rota.Batch{Commands: commands})
	if err != nil {
		return err
	}
	for _, r := range results {
		if r.Err != nil {
			return r.Err
		}
	}
	if err := b.watch(ctx); err != nil {
		return err
	}
	b.lateMu.Lock()
	defer b.lateMu.Unlock()
	if len(b.late) == 0 {
		return nil
	}
	name := fmt.Sprintf("%d schedules a second, time to start", benchSchedules)
	b.add("fire", name+", median", millis(quantile(b.late, 0.5)), "ms")
	b.add("fire", name+", latest", millis(quantile(b.late, 1)), "ms")
	return nil
}

// watch waits while the schedules fire.
func (b *benchmark) watch(ctx context.Context) error {
	end := time.NewTimer(b.opts.fire)
	defer end.Stop()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for begin := time.Now(); ; {
		select {
		case <-end.C:
			return nil
		case <-tick.C:
			b.bar.bar(int64(time.Since(begin)), int64(b.opts.fire), "fire: %d schedules, each second", benchSchedules)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// quantile returns the value at a quantile, from 0 to 1.
func quantile(all []time.Duration, part float64) time.Duration {
	sorted := slices.Sorted(slices.Values(all))
	return sorted[min(len(sorted)-1, int(part*float64(len(sorted))))]
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
