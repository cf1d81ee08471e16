package node

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotajobs/rota"
)

// typesMax limits the labels: further types are counted together as otherType.
// The durations of runs need a dozen values for each type, so they have a lower
// limit.
const (
	typesMax      = 1_000
	timedTypesMax = 100
	otherType     = "other"
)

// eventCounter updates the metrics from the event ring. The ring calls it from one
// goroutine, so it needs no lock.
type eventCounter struct {
	metrics *metricSet
	types   map[string]*typeCounts
}

// typeCounts are the counters of one type, looked up once.
type typeCounts struct {
	enqueued, started, retries, failed, dead prometheus.Counter
	finished                                 map[rota.EventKind]prometheus.Counter
	seconds                                  prometheus.Observer
}

func newEventCounter(m *metricSet) *eventCounter {
	for _, result := range deliveryResults {
		m.deliveries.WithLabelValues(result) // create it at 0, or the first failure would not show as an increase
	}
	return &eventCounter{metrics: m, types: map[string]*typeCounts{}}
}

// deliveryResults maps the counted events of webhook deliveries to their label.
var deliveryResults = map[rota.EventKind]string{
	rota.EventJobCompleted: "delivered",
	rota.EventJobFailed:    "failed",
	rota.EventJobDead:      "given_up",
}

// outcomes maps the events that end a job to their label.
var outcomes = map[rota.EventKind]string{
	rota.EventJobCompleted: "completed",
	rota.EventJobFailed:    "failed",
	rota.EventJobCancelled: "cancelled",
	rota.EventJobSkipped:   "skipped",
}

// countEvents counts each of the events.
func (c *eventCounter) countEvents(events []rota.Event) {
	for i := range events {
		c.count(&events[i])
	}
}

func (c *eventCounter) count(e *rota.Event) {
	if rota.InternalType(e.Type) {
		c.internal(e)
		return
	}
	switch e.Kind {
	case rota.EventJobEnqueued:
		c.enqueued(e)
	case rota.EventJobStarted:
		c.countersOf(e.Type).started.Inc()
		c.metrics.latencyMillis.Observe(float64(since(e.DueAt, e.At).Microseconds()) / 1e3)
	case rota.EventJobCompleted, rota.EventJobFailed, rota.EventJobCancelled, rota.EventJobSkipped:
		c.ended(e)
	case rota.EventJobDead:
		c.countersOf(e.Type).dead.Inc()
	case rota.EventScheduleFired:
		c.metrics.fireLateness.Observe(since(e.PlanTime, e.At).Seconds())
	case rota.EventScheduleMissed:
		c.metrics.missed.Inc()
	}
}

// internal counts the events of Rota's internal jobs, which the metrics of user jobs
// do not include.
func (c *eventCounter) internal(e *rota.Event) {
	if result := deliveryResults[e.Kind]; result != "" && e.Type == rota.TypeWebhook {
		c.metrics.deliveries.WithLabelValues(result).Inc()
	}
	if e.ErrorCode == rota.CodeLeaseExpired && e.Kind != rota.EventJobDead {
		c.metrics.leaseLosses.Inc()
	}
}

func (c *eventCounter) enqueued(e *rota.Event) {
	of := c.countersOf(e.Type)
	of.enqueued.Inc()
	if e.Attempt > 1 {
		of.retries.Inc()
	}
}

func (c *eventCounter) ended(e *rota.Event) {
	of := c.countersOf(e.Type)
	of.finished[e.Kind].Inc()
	if !e.StartedAt.IsZero() {
		of.seconds.Observe(since(e.StartedAt, e.At).Seconds())
	}
	if e.Kind == rota.EventJobFailed {
		of.failed.Inc()
	}
	if e.ErrorCode == rota.CodeLeaseExpired {
		c.metrics.leaseLosses.Inc()
	}
}

// since is the time between two moments; zero if the clock was set back in between.
func since(from, to time.Time) time.Duration {
	if from.IsZero() {
		return 0
	}
	return max(0, to.Sub(from))
}

func (c *eventCounter) countersOf(name string) *typeCounts {
	if found := c.types[name]; found != nil {
		return found
	}
	if len(c.types) >= typesMax && name != otherType {
		return c.countersOf(otherType)
	}
	m, timed := c.metrics, name
	if len(c.types) >= timedTypesMax {
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
