package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// countingStore counts the calls of an engine.
type countingStore struct {
	rota.Store
	calls counter[string]
}

// Apply is counted, as are the reads below.
func (c *countingStore) Apply(ctx context.Context, b rota.Batch) ([]rota.Result, error) {
	c.calls.add("Apply", 1)
	return c.Store.Apply(ctx, b)
}

func (c *countingStore) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	c.calls.add("Job", 1)
	return c.Store.Job(ctx, id)
}

func (c *countingStore) Jobs(ctx context.Context, q rota.JobQuery) ([]*rota.Job, error) {
	c.calls.add("Jobs", 1)
	return c.Store.Jobs(ctx, q)
}

func (c *countingStore) Queue(ctx context.Context, after rota.ID, limit int) ([]*rota.Job, error) {
	c.calls.add("Queue", 1)
	return c.Store.Queue(ctx, after, limit)
}

func (c *countingStore) NextDue(ctx context.Context) (rota.Due, error) {
	c.calls.add("NextDue", 1)
	return c.Store.NextDue(ctx)
}

func (c *countingStore) Type(ctx context.Context, name string) (*rota.Type, error) {
	c.calls.add("Type", 1)
	return c.Store.Type(ctx, name)
}

func (c *countingStore) Schedules(ctx context.Context, q rota.ScheduleQuery) ([]*rota.Schedule, error) {
	c.calls.add("Schedules", 1)
	return c.Store.Schedules(ctx, q)
}

func (c *countingStore) DueSchedules(ctx context.Context, limit int) (rota.DuePage, error) {
	c.calls.add("DueSchedules", 1)
	return c.Store.DueSchedules(ctx, limit)
}

func (c *countingStore) Group(ctx context.Context, id rota.ID) (*rota.Group, error) {
	c.calls.add("Group", 1)
	return c.Store.Group(ctx, id)
}

func (c *countingStore) Stats(ctx context.Context) (*rota.Stats, error) {
	c.calls.add("Stats", 1)
	return c.Store.Stats(ctx)
}

func (c *countingStore) Throttle(ctx context.Context) (*rota.Throttle, error) {
	c.calls.add("Throttle", 1)
	return c.Store.Throttle(ctx)
}

func (c *countingStore) Prunable(ctx context.Context, q rota.PruneQuery) (rota.PrunePage, error) {
	c.calls.add("Prunable", 1)
	return c.Store.Prunable(ctx, q)
}

// An idle engine reads once a second what is due. Delayed jobs, later schedules and jobs
// of types without a handler do not change that.
func TestIdleEngineReadsOnlyNextDue(t *testing.T) {
	withLease(t, sqliteHarness, func(h *harness) {
		h.declareSchedule("hourly", rota.ScheduleSpec{Every: time.Hour})
		h.add(rota.NewJob{Delay: time.Hour}, rota.NewJob{Type: "other"})
		c := &countingStore{Store: h.store}
		h.startOn(c, registry(done), engine.Config{})
		h.awaitEnded(h.addOne())
		time.Sleep(h.lease / 3) // for the calls that follow an end
		c.calls.mu.Lock()
		clear(c.calls.counts)
		c.calls.mu.Unlock()
		began := time.Now()
		time.Sleep(3 * time.Second)
		took := time.Since(began).Seconds()
		c.calls.mu.Lock()
		defer c.calls.mu.Unlock()
		if n := c.calls.counts["NextDue"]; n < 2 || float64(n) > took+1 {
			h.Errorf("it read %d times in %.1f s what is due", n, took)
		}
		delete(c.calls.counts, "NextDue")
		if len(c.calls.counts) > 0 {
			h.Errorf("it also called %v", c.calls.counts)
		}
	})
}
