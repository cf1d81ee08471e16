package node

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotajobs/rota"
)

// typesCounted bounds the labels: what has more types than this is counted
// together, as otherType. How long runs take is a dozen values for each type, so
// it is told apart for fewer.
const (
	typesCounted = 1_000
	typesTimed   = 100
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
	seconds                                  prometheus.Observer
}

func newCounted(m *meters) *counted {
	for _, result := range deliveryResults {
		m.deliveries.WithLabelValues(result) // from the start, or the first failure would not show as a change
	}
	return &counted{meters: m, types: map[string]*typeCounts{}}
}

// deliveryResults are the events of deliveries that are counted, and as what.
var deliveryResults = map[rota.EventKind]string{
	rota.EventJobCompleted: "delivered",
	rota.EventJobFailed:    "failed",
	rota.EventJobDead:      "given_up",
}

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
	if rota.InternalType(e.Type) {
		c.internal(e)
		return
	}
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

// internal counts what happens to jobs of Rota's own, which stand outside of what
// is told of the users'.
func (c *counted) internal(e *rota.Event) {
	kind := e.Kind
	if kind == rota.EventJobCancelled && e.ErrorCode == rota.CodeTimeout {
		kind = rota.EventJobFailed
	}
	if result := deliveryResults[kind]; result != "" && e.Type == rota.TypeWebhook {
		c.meters.deliveries.WithLabelValues(result).Inc()
	}
	if e.ErrorCode == rota.CodeLeaseExpired && e.Kind != rota.EventJobDead {
		c.meters.leaseLosses.Inc()
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
	if !e.StartedAt.IsZero() {
		of.seconds.Observe(since(e.StartedAt, e.At).Seconds())
	}
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
	m, timed := c.meters, name
	if len(c.types) >= typesTimed {
		timed = otherType
	}
	made := &typeCounts{
		seconds:  m.runSeconds.WithLabelValues(timed),
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
