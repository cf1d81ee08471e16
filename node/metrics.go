package node

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// meters is everything that is counted as it happens.
type meters struct {
	registry *prometheus.Registry

	enqueued    *prometheus.CounterVec
	started     *prometheus.CounterVec
	finished    *prometheus.CounterVec
	failed      *prometheus.CounterVec
	retries     *prometheus.CounterVec
	dead        *prometheus.CounterVec
	leaseLosses prometheus.Counter
	missed      prometheus.Counter

	latencyMillis prometheus.Histogram
	fireLateness  prometheus.Histogram
	batchCommands prometheus.Histogram
	applySeconds  prometheus.Histogram
	storeErrors   *prometheus.CounterVec
}

// newMeters declares them in a registry of their own, so that two nodes in one
// process count apart.
func newMeters() *meters {
	r := prometheus.NewRegistry()
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &meters{
		registry:    r,
		enqueued:    counters(r, "rota_enqueued_total", "Jobs that entered the queue, retries included.", "type"),
		started:     counters(r, "rota_started_total", "Jobs that were started.", "type"),
		finished:    counters(r, "rota_finished_total", "Jobs that ended, by outcome.", "outcome", "type"),
		failed:      counters(r, "jobs_failed_total", "Jobs that failed or took longer than they may, each attempt for itself.", "type"),
		retries:     counters(r, "rota_retries_total", "Jobs that are a second or later attempt.", "type"),
		dead:        counters(r, "rota_dead_letters_total", "Executions that failed for good.", "type"),
		leaseLosses: counter(r, "rota_lease_losses_total", "Runs that ended because nobody extended their lease."),
		missed:      counter(r, "rota_schedule_missed_total", "Times that schedules gave up catching up with."),

		latencyMillis: histogram(r, "job_run_latency_ms", "From a job being due to its start, in milliseconds.",
			[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000, 600_000}),
		fireLateness: histogram(r, "rota_schedule_fire_lateness_seconds", "From a planned time to its jobs being in the queue.",
			[]float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600, 3600}),
		batchCommands: histogram(r, "rota_store_batch_commands", "Commands that shared one transaction of the store.",
			[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000}),
		applySeconds: histogram(r, "rota_store_apply_seconds", "How long a transaction of the store took.",
			[]float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}),
		storeErrors: counters(r, "rota_store_errors_total", "Transactions that the store could not carry out.", "code"),
	}
}

func counters(r *prometheus.Registry, name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.MustRegister(c)
	return c
}

func counter(r *prometheus.Registry, name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	r.MustRegister(c)
	return c
}

func histogram(r *prometheus.Registry, name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	r.MustRegister(h)
	return h
}

// handler serves what was counted. A gauge that cannot be read leaves the
// others be.
func (m *meters) handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 8, Timeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	})
}

// The gauges, which are read when they are asked for.
var (
	queueDepth   = gauge("scheduler_queue_depth", "Jobs that are ready and wait for a worker.")
	jobsRunning  = gauge("jobs_running", "Jobs that are running, on all workers.")
	jobsByState  = gauge("rota_jobs", "Jobs that live, and dead letters, by state.", "state")
	schedules    = gauge("rota_schedules", "Schedules that are enabled.")
	oldestQueued = gauge("rota_queue_oldest_seconds", "How long the oldest ready job has stood in the order.")
	poolSlots    = gauge("rota_pool_slots", "Jobs that this process can run at once.")
	poolBusy     = gauge("rota_pool_busy", "Jobs that this process is running.")
	poolGivenUp  = gauge("rota_pool_abandoned", "Handlers that were given up and have not returned.")
)

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// statsAge is how old the counts of the store may be when they are shown, so
// that a crowd of scrapers costs no more than one.
const statsAge = time.Second

// gauges reads the store and the pool.
type gauges struct {
	store rota.Store
	pool  func() engine.Snapshot

	mu    sync.Mutex
	stats *rota.Stats
	err   error
	read  time.Time
}

// Describe names nothing: which states there are shows when it is read.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads the gauges.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value int, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	pool := g.pool()
	send(poolSlots, pool.Workers)
	send(poolBusy, pool.Running)
	send(poolGivenUp, pool.Abandoned)
	stats, err := g.current()
	if err != nil {
		out <- prometheus.NewInvalidMetric(queueDepth, err)
		return
	}
	send(queueDepth, stats.Queued)
	send(jobsRunning, stats.Running)
	send(schedules, stats.Schedules)
	for state, n := range map[string]int{
		"queued": stats.Queued, "scheduled": stats.Scheduled, "blocked": stats.Blocked, "running": stats.Running, "dead": stats.Dead,
	} {
		send(jobsByState, n, state)
	}
	age := time.Duration(0)
	if !stats.Oldest.IsZero() {
		age = max(0, stats.Now.Sub(stats.Oldest))
	}
	out <- prometheus.MustNewConstMetric(oldestQueued, prometheus.GaugeValue, age.Seconds())
}

func (g *gauges) current() (*rota.Stats, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.read.IsZero() || time.Since(g.read) > statsAge {
		ctx, done := context.WithTimeout(context.Background(), 5*time.Second)
		defer done()
		g.stats, g.err = g.store.Stats(ctx)
		g.read = time.Now()
	}
	return g.stats, g.err
}
