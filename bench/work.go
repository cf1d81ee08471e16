package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// crew is a queue with workers, and jobs for them to get from the queue to
// their end.
type crew interface {
	// fill puts n jobs into the queue, while the workers rest.
	fill(ctx context.Context, n int) error
	// work starts the workers, and returns when n jobs more are finished in the
	// store: that they were run is not enough.
	work(ctx context.Context, n int) error
	// rest stops the workers.
	rest(ctx context.Context) error
	// close lets go of the store, and refuses one in which not n jobs in all are
	// finished, or others are left.
	close(ctx context.Context, n int) error
}

// applicant is a crew before it is engaged.
type applicant struct {
	name string
	note string // printed with the result
	open func(ctx context.Context, path string, workers int) (crew, error)
}

// shift is a case in which crews do the same jobs, one beside the other.
type shift struct {
	workers    int
	jobs       int // of a crew in a part
	applicants func() []applicant
	bars       []bar
}

func (s shift) name() string { return fmt.Sprintf("engine/%d", s.workers) }

// What Rota promises of jobs on their way from the queue to their end.
const (
	manyShare  = 0.6 // of the raw engine's speed, with many workers
	fewShare   = 0.7 // with as many as there are unless asked for
	manyBetter = 3   // times faster than others on SQLite
)

func workBenchmarks() []benchmark {
	many := shift{workers: 1000, jobs: 5000, applicants: allApplicants}
	few := shift{workers: 16, jobs: 3200, applicants: func() []applicant { return []applicant{rotaApplicant(), rawApplicant()} }}
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

func allApplicants() []applicant {
	all := []applicant{rotaApplicant(), rawApplicant(), backliteApplicant(), riverApplicant()}
	if path, found := findRedis(); found {
		all = append(all, asynqApplicant(path))
	}
	return all
}

func (s shift) benchmark() benchmark {
	return benchmark{cases: []string{s.name()}, bars: s.bars, run: s.run}
}

func (s shift) run(b *bench) error {
	var subjects []subject
	notes := ""
	for _, a := range s.applicants() {
		subjects = append(subjects, s.subject(b, a))
		notes += fmt.Sprintf("%s: %s\n", a.name, a.note)
	}
	if _, found := findRedis(); !found && s.workers > 16 {
		notes += "asynq: is not here, since there is no redis-server on the PATH\n"
	}
	b.report.explain(s.name()+": what each was made to do, with synchronous=FULL but for Redis", notes)
	return b.compare(s.name(), subjects...)
}

// subject has a crew start, finish what was put into its queue, and rest. Only
// the work is timed, the start of the workers included.
func (s shift) subject(b *bench, a applicant) subject {
	path, jobs := b.file(fmt.Sprintf("work-%d-%s", s.workers, a.name)), b.sized(s.jobs, 2*16)
	var c crew
	var took spent
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
			err := took.measure(func() error { return patiently(ctx, jobs, c.work) })
			if restErr := c.rest(ctx); err == nil {
				err = restErr
			}
			return err
		},
		close: func(ctx context.Context) error {
			defer b.drop(path)
			b.report.addSpent(s.name(), a.name, parts*jobs, took)
			return c.close(ctx, parts*jobs)
		},
	}
}

// patience is how long a crew may take for a part. One that needs longer has
// lost a job.
const patience = 2 * time.Minute

func patiently(ctx context.Context, jobs int, work func(context.Context, int) error) error {
	ctx, done := context.WithTimeout(ctx, patience)
	defer done()
	if err := work(ctx, jobs); err != nil {
		return fmt.Errorf("%d jobs: %w", jobs, err)
	}
	return nil
}

// tally counts jobs, and tells when there were as many as are awaited.
type tally struct {
	count, want atomic.Int64
	reached     chan struct{}
}

// await sets the tally to zero and returns a channel that is closed when it has
// come to n.
func (t *tally) await(n int) <-chan struct{} {
	reached := make(chan struct{})
	t.reached = reached
	t.count.Store(0)
	t.want.Store(int64(n))
	return reached
}

func (t *tally) add(n int) {
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

// askEvery is how often a store is asked that does not tell by itself when a job
// is finished. It is asked when all have been run, so not many times.
const askEvery = 5 * time.Millisecond

// settled waits until a store says of itself that n jobs are finished, once ran
// says that all have been run.
func settled(ctx context.Context, ran <-chan struct{}, n int, finished func(context.Context) (int, error)) error {
	if err := wait(ctx, ran); err != nil {
		return err
	}
	for {
		done, err := finished(ctx)
		if err != nil || done >= n {
			return err
		}
		select {
		case <-time.After(askEvery):
		case <-ctx.Done():
			return fmt.Errorf("%d of %d are finished: %w", done, n, ctx.Err())
		}
	}
}
