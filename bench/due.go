package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

const (
	secondCase = "fire/second"
	secondSize = 10_000 // schedules due at the same time
	secondMost = 3      // seconds until the last of their jobs has started

	latenessCase   = "fire/lateness"
	latenessSize   = 100 // schedules due each second
	latenessRounds = 10
	latenessWorst  = 50 // ms
)

func dueBenchmarks() []benchmark {
	return []benchmark{
		{
			cases: []string{secondCase},
			bars:  []bar{{caseName: secondCase, subject: "rota", most: secondMost}},
			run:   runSecond,
		},
		{
			cases: []string{latenessCase + medianTail, latenessCase + worstTail},
			bars:  []bar{{caseName: latenessCase + worstTail, subject: "rota", most: latenessWorst}},
			run:   runLateness,
		},
	}
}

// runSecond measures an engine with the default number of workers that fires schedules which are all due at the same
// time, and runs their jobs.
func runSecond(b *bench) error {
	size := b.sized(secondSize, 20)
	due := dueRun{name: "second", size: size, rounds: 1, spec: func(at time.Time) rota.ScheduleSpec {
		return rota.ScheduleSpec{At: at}
	}}
	times, err := due.run(b)
	if err != nil {
		return err
	}
	b.report.add(secondCase, "rota", "from due until the last has started", percentile(times, 100).Seconds(), "s")
	b.report.add(secondCase+"/queued", "rota", "from due until the last was in the queue", due.queued.Sub(due.first).Seconds(), "s")
	return nil
}

// runLateness measures an engine that fires some schedules each second, for some seconds.
func runLateness(b *bench) error {
	size, rounds := b.sized(latenessSize, 10), b.sized(latenessRounds, 1)
	due := dueRun{name: "lateness", size: size, rounds: rounds, spec: func(at time.Time) rota.ScheduleSpec {
		return rota.ScheduleSpec{Every: time.Second, StartsAt: at, EndsAt: at.Add(time.Duration(rounds) * time.Second)}
	}}
	times, err := due.run(b)
	if err != nil {
		return err
	}
	b.report.addTimes(latenessCase, "rota", "lateness of a start", times)
	return nil
}

// dueRun is a set of schedules that an engine fires, each rounds times.
type dueRun struct {
	name         string
	size, rounds int
	spec         func(first time.Time) rota.ScheduleSpec

	first  time.Time // due time of the first fires
	queued time.Time // when the last job was enqueued
}

// Time for the preparation before the first fires are due, and number of attempts with more time.
const (
	dueAhead     = 400 * time.Millisecond
	dueAheadEach = 100 * time.Microsecond // per schedule
	dueTries     = 5
)

// run fires the schedules and returns the lateness of each job. If the preparation does not finish before the first due
// time, run starts again with more time.
func (d *dueRun) run(b *bench) ([]time.Duration, error) {
	ahead := dueAhead + time.Duration(d.size)*dueAheadEach
	for range dueTries {
		times, inTime, err := d.try(b, ahead)
		if err != nil || inTime {
			return times, err
		}
		ahead *= 2
	}
	return nil, fmt.Errorf("%d schedules could not be created in %v", d.size, ahead)
}

func (d *dueRun) try(b *bench, ahead time.Duration) (times []time.Duration, inTime bool, err error) {
	path := b.file(d.name)
	defer b.drop(path)
	d.first = time.Now().UTC().Add(ahead).Truncate(time.Millisecond)
	c := scheduleSet{size: d.size, from: time.Now().UTC(), spec: func(int) rota.ScheduleSpec { return d.spec(d.first) }}
	if err := c.make(path); err != nil {
		return nil, false, err
	}
	var starts startList
	pool := &rotaPool{path: path, handler: starts.add}
	if err := pool.open(); err != nil {
		return nil, false, err
	}
	pool.events.Subscribe(d.recordQueued)
	inTime, err = d.fire(b.ctx, pool)
	if closeErr := pool.inner.Close(); err == nil {
		err = closeErr
	}
	if err != nil || !inTime {
		return nil, inTime, err
	}
	if err := audit(b.ctx, path, counts{completed: d.size * d.rounds, schedules: d.size}); err != nil {
		return nil, true, err
	}
	times, err = starts.lateness(d.size * d.rounds)
	return times, true, err
}

// fire runs an engine until all jobs are finished, and reports whether it was ready before the first fires were due.
func (d *dueRun) fire(ctx context.Context, pool *rotaPool) (inTime bool, err error) {
	ctx, done := context.WithTimeout(ctx, workTimeout)
	defer done()
	ended := pool.ended.await(d.size * d.rounds)
	err = wait(ctx, pool.start(ctx).Ready())
	inTime = time.Now().Before(d.first)
	if err == nil && inTime {
		err = wait(ctx, ended)
	}
	if restErr := pool.stopWorkers(ctx); err == nil {
		err = restErr
	}
	return inTime, err
}

// recordQueued records when the last job was enqueued.
func (d *dueRun) recordQueued(events []rota.Event) {
	for i := range events {
		if events[i].Kind == rota.EventJobEnqueued {
			d.queued = time.Now()
			return
		}
	}
}

// startList records how late jobs were started, compared with their plan time.
type startList struct {
	mu    sync.Mutex
	times []time.Duration
	seen  map[string]bool // schedule and plan time
}

func (s *startList) add(ctx context.Context, _ benchJob) error {
	now, job := time.Now(), engine.Job(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[fmt.Sprint(job.Schedule, job.PlanTime.UnixMicro())] = true
	s.times = append(s.times, now.Sub(job.PlanTime))
	return nil
}

// lateness returns the lateness of each start. It fails if a planned job did not start exactly once.
func (s *startList) lateness(want int) ([]time.Duration, error) {
	if len(s.times) != want || len(s.seen) != want {
		return nil, fmt.Errorf("%d jobs were started for %d plans, not %d", len(s.times), len(s.seen), want)
	}
	return s.times, nil
}
