package node

import (
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rotajobs/rota"
)

// meters is everything that is counted as it happens. What is read when it is
// asked for is gauges.
type meters struct {
	registry *prometheus.Registry
	declared []declared

	enqueued    *prometheus.CounterVec
	started     *prometheus.CounterVec
	finished    *prometheus.CounterVec
	failed      *prometheus.CounterVec
	retries     *prometheus.CounterVec
	dead        *prometheus.CounterVec
	leaseLosses prometheus.Counter
	missed      prometheus.Counter
	deliveries  *prometheus.CounterVec

	latencyMillis prometheus.Histogram
	runSeconds    *prometheus.HistogramVec
	fireLateness  prometheus.Histogram

	batchCommands prometheus.Histogram
	applySeconds  prometheus.Histogram
	storeErrors   *prometheus.CounterVec

	requests       *prometheus.CounterVec
	requestSeconds *prometheus.HistogramVec
	inFlight       prometheus.Gauge
	polls          prometheus.Gauge
}

// declared is a metric as it is documented.
type declared struct {
	name, kind, help string
	labels           []string
}

// newMeters declares them in a registry of their own, so that two nodes in one
// process count apart.
func newMeters() *meters {
	m := &meters{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.declareJobs()
	m.declareStore()
	m.declareHTTP()
	return m
}

func (m *meters) declareJobs() {
	m.enqueued = m.counters("rota_enqueued_total", "Jobs that entered the queue, retries included.", "type")
	m.started = m.counters("rota_started_total", "Jobs that were started.", "type")
	m.finished = m.counters("rota_finished_total", "Jobs that ended, by outcome: completed, failed, cancelled, skipped.", "outcome", "type")
	m.failed = m.counters("jobs_failed_total", "Jobs that failed or took longer than they may, each attempt for itself.", "type")
	m.retries = m.counters("rota_retries_total", "Jobs that are a second or later attempt.", "type")
	m.dead = m.counters("rota_dead_letters_total", "Executions that failed for good.", "type")
	m.leaseLosses = m.counter("rota_lease_losses_total", "Runs that ended because nobody extended their lease.")
	m.missed = m.counter("rota_schedule_missed_total", "Times after which schedules gave up some of what they had missed.")
	m.deliveries = m.counters("rota_webhook_deliveries_total",
		"Deliveries to webhooks, by result: delivered, failed (each attempt for itself), given_up.", "result")
	m.latencyMillis = m.histogram("job_run_latency_ms",
		"From a job being due to its start, in milliseconds: the wait for a worker. One that was delayed is due at its run_at; "+
			"one that waited for others, its turn or its key when it took its place in the order.",
		[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000, 600_000})
	m.runSeconds = m.histograms("rota_run_seconds", "How long a run took, whatever its outcome.",
		[]float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14_400}, "type")
	m.fireLateness = m.histogram("rota_schedule_fire_lateness_seconds", "From a planned time to its jobs being in the queue.",
		[]float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600, 3600})
}

func (m *meters) declareStore() {
	m.batchCommands = m.histogram("rota_store_batch_commands", "Commands that shared one transaction of the store.",
		[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000})
	m.applySeconds = m.histogram("rota_store_apply_seconds", "How long a transaction of the store took, the sync to disk included.",
		[]float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10})
	m.storeErrors = m.counters("rota_store_errors_total", "Transactions that the store could not carry out.", "code")
	for _, code := range []rota.Code{rota.Unavailable, rota.Internal, rota.Busy} {
		m.storeErrors.WithLabelValues(string(code)) // from the start, or the first would not show as a change
	}
}

func (m *meters) declareHTTP() {
	m.requests = m.counters("rota_http_requests_total", "Requests that were answered, by status code.", "code", "method", "route")
	m.requestSeconds = m.histograms("rota_http_request_seconds",
		"How long answers took. Streams, long polls and direct runs take as long as there is something to wait for.",
		[]float64{.001, .005, .02, .1, .5, 2, 10, 60}, "route")
	m.inFlight = m.gauge("rota_http_requests_in_flight", "Requests that are being answered.")
	m.polls = m.gauge("rota_worker_polls", "Claims of workers elsewhere that wait here for something to do.")
}

// polling is told how many workers elsewhere wait. It fits httpapi.Config.OnPolls.
func (m *meters) polling(waiting int) { m.polls.Set(float64(waiting)) }

func (m *meters) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.declare(c, declared{name, "counter", help, labels})
	return c
}

func (m *meters) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.declare(c, declared{name, "counter", help, nil})
	return c
}

func (m *meters) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	m.declare(g, declared{name, "gauge", help, nil})
	return g
}

func (m *meters) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.declare(h, declared{name, "histogram", help, nil})
	return h
}

func (m *meters) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	m.declare(h, declared{name, "histogram", help, labels})
	return h
}

func (m *meters) declare(c prometheus.Collector, d declared) {
	m.registry.MustRegister(c)
	m.declared = append(m.declared, d)
}

// handler serves what was counted. A gauge that cannot be read leaves the
// others be.
func (m *meters) handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 8, Timeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	})
}
