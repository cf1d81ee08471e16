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

// metricSet holds the metrics that are updated when something happens. Type gauges
// reads the others at each scrape.
type metricSet struct {
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

// declared is the description of a metric for docs/reference/metrics.md.
type declared struct {
	name, kind, help string
	labels           []string
}

// newMetricSet declares the metrics in a new registry, so that two nodes in one
// process have separate metrics.
func newMetricSet() *metricSet {
	m := &metricSet{registry: prometheus.NewRegistry()}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.declareJobs()
	m.declareStore()
	m.declareHTTP()
	return m
}

func (m *metricSet) declareJobs() {
	m.enqueued = m.counters("rota_enqueued_total", "Jobs enqueued, including retries.", "type")
	m.started = m.counters("rota_started_total", "Jobs started.", "type")
	m.finished = m.counters("rota_finished_total", "Jobs that ended, by outcome: completed, failed, cancelled or skipped.", "outcome", "type")
	m.failed = m.counters("jobs_failed_total", "Jobs that failed or timed out. Each attempt counts.", "type")
	m.retries = m.counters("rota_retries_total", "Jobs enqueued as the second or a later attempt.", "type")
	m.dead = m.counters("rota_dead_letters_total", "Executions that failed and are not retried any more.", "type")
	m.leaseLosses = m.counter("rota_lease_losses_total", "Runs that failed because their lease expired.")
	m.missed = m.counter("rota_schedule_missed_total", "Fires that dropped missed times.")
	m.deliveries = m.counters("rota_webhook_deliveries_total",
		"Webhook deliveries, by result: delivered, failed (each attempt counts) or given_up.", "result")
	m.latencyMillis = m.histogram("job_run_latency_ms",
		"Time from when a job is due until it starts, in milliseconds: the wait for a worker. A delayed job is due at its run_at. "+
			"A job that waited for other jobs, its group or its concurrency key is due when it becomes ready.",
		[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 60_000, 600_000})
	m.runSeconds = m.histograms("rota_run_seconds", "Duration of a run, for every outcome.",
		[]float64{.01, .05, .1, .5, 1, 5, 15, 60, 300, 900, 3600, 14_400}, "type")
	m.fireLateness = m.histogram("rota_schedule_fire_lateness_seconds", "Time from the planned time of a schedule until its jobs are enqueued.",
		[]float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 60, 600, 3600})
}

func (m *metricSet) declareStore() {
	m.batchCommands = m.histogram("rota_store_batch_commands", "Commands in one transaction of the store.",
		[]float64{1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000})
	m.applySeconds = m.histogram("rota_store_apply_seconds", "Duration of a transaction of the store, including the sync to disk.",
		[]float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10})
	m.storeErrors = m.counters("rota_store_errors_total", "Transactions that failed in the store, by error code.", "code")
	for _, code := range []rota.Code{rota.Unavailable, rota.Internal, rota.Busy} {
		m.storeErrors.WithLabelValues(string(code)) // create it at 0, or the first error would not show as an increase
	}
}

func (m *metricSet) declareHTTP() {
	m.requests = m.counters("rota_http_requests_total", "HTTP requests answered, by status code.", "code", "method", "route")
	m.requestSeconds = m.histograms("rota_http_request_seconds",
		"Duration of HTTP requests. Streams, long polls and direct runs include the time they wait.",
		[]float64{.001, .005, .02, .1, .5, 2, 10, 60}, "route")
	m.inFlight = m.gauge("rota_http_requests_in_flight", "HTTP requests in progress.")
	m.polls = m.gauge("rota_worker_polls", "Claims of remote workers that wait at this process for a job.")
}

// setPolls records how many claims of remote workers wait. It is httpapi.Config.OnPolls.
func (m *metricSet) setPolls(waiting int) { m.polls.Set(float64(waiting)) }

func (m *metricSet) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return declare(m, prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels), declared{name, "counter", help, labels})
}

func (m *metricSet) counter(name, help string) prometheus.Counter {
	return declare(m, prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help}), declared{name, "counter", help, nil})
}

func (m *metricSet) gauge(name, help string) prometheus.Gauge {
	return declare(m, prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help}), declared{name, "gauge", help, nil})
}

func (m *metricSet) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	return declare(m, h, declared{name, "histogram", help, nil})
}

func (m *metricSet) histograms(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	return declare(m, h, declared{name, "histogram", help, labels})
}

// declare registers a metric and records its description.
func declare[C prometheus.Collector](m *metricSet, c C, d declared) C {
	m.registry.MustRegister(c)
	m.declared = append(m.declared, d)
	return c
}

// handler serves the metrics. If a gauge cannot be read, it serves the others.
func (m *metricSet) handler(logger *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: 8, Timeout: 10 * time.Second,
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	})
}
