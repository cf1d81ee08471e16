package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// workerPool is a queue with workers that run its jobs.
type workerPool interface {
	// fill enqueues n jobs while the workers are stopped.
	fill(ctx context.Context, n int) error
	// work starts the workers, and returns when n more jobs are finished in the store. It is not enough that their
	// handlers ran.
	work(ctx context.Context, n int) error
	// stopWorkers stops the workers.
	stopWorkers(ctx context.Context) error
	// close closes the store. It fails unless exactly n jobs are finished and no others are left.
	close(ctx context.Context, n int) error
}

// contender describes a worker pool that takes part in a comparison.
type contender struct {
	name string
	note string // printed with the result
	open func(ctx context.Context, path string, workers int) (workerPool, error)
}

// engineComparison is a case in which worker pools run the same jobs in turns.
type engineComparison struct {
	workers    int
	jobs       int // of a pool in a part
	contenders func() []contender
	bars       []bar
}

func (s engineComparison) name() string { return fmt.Sprintf("engine/%d", s.workers) }

// The promised speeds of jobs from the queue to their end.
const (
	manyShare  = 0.6 // of the raw engine's speed, with many workers
	fewShare   = 0.7 // with the default number of workers
	manyBetter = 3   // times the speed of other queues on SQLite
)

func workBenchmarks() []benchmark {
	many := engineComparison{workers: 1000, jobs: 5000, contenders: allContenders}
	few := engineComparison{workers: 16, jobs: 3200, contenders: func() []contender { return []contender{rotaContender(), rawContender()} }}
	many.bars = []bar{
		{caseName: many.name(), subject: "rota", against: "raw", least: manyShare},
		{caseName: many.name(), subject: "rota", against: "backlite", least: manyBetter},
		{caseName: many.name(), subject: "rota", against: "river", least: manyBetter},
	}
	if _, found := findRedis(); found {
		many.bars = append(many.bars, bar{caseName: many.name(), subject: "rota", against: "asynq", least: 1})
	}
	few.bars = []bar{{caseName: few.name(), subject: "rota", against: "raw", least: fewShare}}
	return []benchmark{many.benchmark(), few.benchmark()}
}

func allContenders() []contender {
	all := []contender{rotaContender(), rawContender(), backliteContender(), riverContender()}
	if path, found := findRedis(); found {
		all = append(all, asynqContender(path))
	}
	return all
}

func (s engineComparison) benchmark() benchmark {
	return benchmark{cases: []string{s.name()}, bars: s.bars, run: s.run}
}

func (s engineComparison) run(b *bench) error {
	var subjects []subject
	notes := ""
	for _, a := range s.contenders() {
		subjects = append(subjects, s.subject(b, a))
		notes += fmt.Sprintf("%s: %s\n", a.name, a.note)
	}
	if _, found := findRedis(); !found && s.workers > 16 {
		notes += "asynq: not measured, because redis-server is not on the PATH\n"
	}
	b.report.explain(s.name()+": what each subject does, with synchronous=FULL except Redis", notes)
	return b.compare(s.name(), subjects...)
}

// subject starts the workers of a pool, waits until its jobs are finished, and stops the workers. Only the work is
// timed, including the start of the workers.
func (s engineComparison) subject(b *bench, a contender) subject {
	path, jobs := b.file(fmt.Sprintf("work-%d-%s", s.workers, a.name)), b.sized(s.jobs, 2*16)
	var c workerPool
	var took usage
	return subject{
		name: a.name,
		open: func() (err error) {
			c, err = a.open(b.ctx, path, s.workers)
			return err
		},
		part: func(ctx context.Context) error {
			if err := c.fill(ctx, jobs); err != nil {
				return err
			}
			err := took.measure(func() error { return withTimeout(ctx, jobs, c.work) })
			if restErr := c.stopWorkers(ctx); err == nil {
				err = restErr
			}
			return err
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.addUsage(s.name(), a.name, parts*jobs, took)
			return c.close(ctx, parts*jobs)
		},
	}
}

// workTimeout limits the time of a part. A pool that takes longer has lost a job.
const workTimeout = 2 * time.Minute

func withTimeout(ctx context.Context, jobs int, work func(context.Context, int) error) error {
	ctx, done := context.WithTimeout(ctx, workTimeout)
	defer done()
	if err := work(ctx, jobs); err != nil {
		return fmt.Errorf("%d jobs: %w", jobs, err)
	}
	return nil
}

// counter counts jobs, and closes a channel when the awaited number is reached.
type counter struct {
	count, want atomic.Int64
	reached     chan struct{}
}

// await sets the counter to zero and returns a channel that is closed when it reaches n.
func (t *counter) await(n int) <-chan struct{} {
	reached := make(chan struct{})
	t.reached = reached
	t.count.Store(0)
	t.want.Store(int64(n))
	return reached
}

func (t *counter) add(n int) {
	if now, want := t.count.Add(int64(n)), t.want.Load(); now >= want && now-int64(n) < want {
		close(t.reached)
	}
}

// wait waits for a channel to be closed.
func wait(ctx context.Context, reached <-chan struct{}) error {
	select {
	case <-reached:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pollInterval is the pause between queries of a store that does not report when a job is finished. The queries begin
// when all jobs have run, so there are few of them.
const pollInterval = 5 * time.Millisecond

// awaitFinished waits until ran is closed, which means that all jobs have run, and then until the store holds n
// finished jobs.
func awaitFinished(ctx context.Context, ran <-chan struct{}, n int, finished func(context.Context) (int, error)) error {
	if err := wait(ctx, ran); err != nil {
		return err
	}
	for {
		done, err := finished(ctx)
		if err != nil || done >= n {
			return err
		}
		select {
		case <-time.After(pollInterval):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d are finished: %w", done, n, ctx.Err())
		}
	}
}
