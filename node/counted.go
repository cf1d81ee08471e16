package node

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotajobs/rota"
)

// typesCounted bounds the labels: what has more types than this is counted
// together, as otherType.
const (
	typesCounted = 1_000
	otherType    = "other"
)

// counted counts what happens, from the feed. The feed calls it one event after
// the other, so it needs no lock.
type counted struct {
	meters *meters
	types  map[string]*typeCounts
}

// typeCounts are the counters of one type, found once.
type typeCounts struct {
	enqueued, started, retries, failed, dead prometheus.Counter
	finished                                 map[rota.EventKind]prometheus.Counter
}

func newCounted(m *meters) *counted { return &counted{meters: m, types: map[string]*typeCounts{}} }

// outcomes are the events that end a job, and what they are counted as.
var outcomes = map[rota.EventKind]string{
	rota.EventJobCompleted: "completed",
	rota.EventJobFailed:    "failed",
	rota.EventJobCancelled: "cancelled",
	rota.EventJobSkipped:   "skipped",
}

// hear counts some events.
func (c *counted) hear(events []rota.Event) {
	for i := range events {
		c.count(&events[i])
	}
}

func (c *counted) count(e *rota.Event) {
	switch e.Kind {
	case rota.EventJobEnqueued:
		c.enqueued(e)
	case rota.EventJobStarted:
		c.of(e.Type).started.Inc()
		c.meters.latencyMillis.Observe(float64(since(e.DueAt, e.At).Microseconds()) / 1e3)
	case rota.EventJobCompleted, rota.EventJobFailed, rota.EventJobCancelled, rota.EventJobSkipped:
		c.ended(e)
	case rota.EventJobDead:
		c.of(e.Type).dead.Inc()
	case rota.EventScheduleFired:
		c.meters.fireLateness.Observe(since(e.PlanTime, e.At).Seconds())
	case rota.EventScheduleMissed:
		c.meters.missed.Inc()
	}
}

func (c *counted) enqueued(e *rota.Event) {
	of := c.of(e.Type)
	of.enqueued.Inc()
	if e.Attempt > 1 {
		of.retries.Inc()
	}
}

func (c *counted) ended(e *rota.Event) {
	of := c.of(e.Type)
	of.finished[e.Kind].Inc()
	if e.Kind == rota.EventJobFailed || e.Kind == rota.EventJobCancelled && e.ErrorCode == rota.CodeTimeout {
		of.failed.Inc() // a time-out is a failure, whatever its outcome is called
	}
	if e.ErrorCode == rota.CodeLeaseExpired {
		c.meters.leaseLosses.Inc()
	}
}

// since is how long it took, as far as the clock was not set back meanwhile.
func since(from, to time.Time) time.Duration {
	if from.IsZero() {
		return 0
	}
	return max(0, to.Sub(from))
}

func (c *counted) of(name string) *typeCounts {
	if found := c.types[name]; found != nil {
		return found
	}
	if len(c.types) >= typesCounted && name != otherType {
		return c.of(otherType)
	}
	m := c.meters
	made := &typeCounts{
		enqueued: m.enqueued.WithLabelValues(name), started: m.started.WithLabelValues(name),
		retries: m.retries.WithLabelValues(name), failed: m.failed.WithLabelValues(name), dead: m.dead.WithLabelValues(name),
		finished: map[rota.EventKind]prometheus.Counter{},
	}
	for kind, outcome := range outcomes {
		made.finished[kind] = m.finished.WithLabelValues(outcome, name)
	}
	c.types[name] = made
	return made
}
