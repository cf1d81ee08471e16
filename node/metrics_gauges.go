package node

import (
	"context"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Metrics that are read at each scrape.
var (
	queueDepth     = gauge("scheduler_queue_depth", "Jobs that are ready and wait for a worker.")
	jobsRunning    = gauge("jobs_running", "Jobs that are running, on all workers.")
	jobsByState    = gauge("rota_jobs", "Jobs that have not ended, by state: queued, scheduled, blocked or running; and dead letters: dead.", "state")
	oldestQueued   = gauge("rota_queue_oldest_seconds", "Time that the oldest ready job has waited.")
	schedules      = gauge("rota_schedules", "Enabled schedules.")
	webhooksDue    = gauge("rota_webhook_pending", "Webhook deliveries that wait or are in progress.")
	poolSlots      = gauge("rota_pool_slots", "Jobs that this process can run at the same time.")
	poolBusy       = gauge("rota_pool_busy", "Jobs that this process is running.")
	poolAbandoned  = gauge("rota_pool_abandoned", "Abandoned handlers that have not returned. Each is a leak in the code of a handler.")
	isLeader       = gauge("rota_leader", "1 if this process is the leader of the cluster, else 0.")
	nodeCount      = gauge("rota_nodes", "Processes in the cluster, including this one.")
	storeBytes     = gauge("rota_store_bytes", "Size of the store on disk.")
	layoutLag      = gauge("rota_dynamodb_layout_lag_seconds", "Age of the oldest change of a job that its item in the DynamoDB table lacks. The process that writes the items reports it; the others report 0.")
	eventsReceived = describe("rota_feed_events_total", "counter", "Events that this process received from the store.")
	buildInfo      = gauge("rota_build_info", "Always 1; the labels name the version of Rota and of Go.", "version", "go_version")
)

// described are the descriptions of the metrics of gauges.
var described []declared

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return describe(name, "gauge", help, labels...)
}

func describe(name, kind, help string, labels ...string) *prometheus.Desc {
	described = append(described, declared{name, kind, help, labels})
	return prometheus.NewDesc(name, help, labels, nil)
}

// statsAge is how long counts of the store are reused, so that many scrapers cost no
// more than one.
const statsAge = time.Second

// gauges reads the store, the worker pool and the state of the node at each scrape.
// It omits the metrics of nil functions, except that a node without a cluster
// reports one node, of which it is the leader.
type gauges struct {
	store   rota.Store
	pool    func() engine.Snapshot
	version string

	leader func() bool           // whether this node is the leader
	nodes  func() int            // nodes of the cluster
	size   func() (int64, error) // size of the store on disk, in bytes
	events func() (count uint64) // events of this process

	layoutLag func() time.Duration // of the items in a DynamoDB table

	mu    sync.Mutex
	stats *rota.Stats
	err   error
	read  time.Time
}

// Describe sends nothing, which makes the collector unchecked: its metrics vary.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads the metrics.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	send(buildInfo, 1, g.version, runtime.Version())
	pool := g.pool()
	send(poolSlots, float64(pool.Workers))
	send(poolBusy, float64(pool.Running))
	send(poolAbandoned, float64(pool.Abandoned))
	g.collectCluster(send)
	if g.events != nil {
		out <- prometheus.MustNewConstMetric(eventsReceived, prometheus.CounterValue, float64(g.events()))
	}
	if g.size != nil {
		bytes, err := g.size()
		if err != nil {
			out <- prometheus.NewInvalidMetric(storeBytes, err)
		} else {
			send(storeBytes, float64(bytes))
		}
	}
	if g.layoutLag != nil {
		send(layoutLag, g.layoutLag().Seconds())
	}
	if err := g.collectStats(send); err != nil {
		out <- prometheus.NewInvalidMetric(queueDepth, err)
	}
}

func (g *gauges) collectCluster(send func(*prometheus.Desc, float64, ...string)) {
	leader, nodes := 1.0, 1
	if g.leader != nil && !g.leader() {
		leader = 0
	}
	if g.nodes != nil {
		nodes = g.nodes()
	}
	send(isLeader, leader)
	send(nodeCount, float64(nodes))
}

func (g *gauges) collectStats(send func(*prometheus.Desc, float64, ...string)) error {
	stats, err := g.current()
	if err != nil {
		return err
	}
	send(queueDepth, float64(stats.Queued))
	send(jobsRunning, float64(stats.Running))
	send(schedules, float64(stats.Schedules))
	send(webhooksDue, float64(stats.Deliveries))
	for state, n := range map[string]int{
		"queued": stats.Queued, "scheduled": stats.Scheduled, "blocked": stats.Blocked, "running": stats.Running, "dead": stats.Dead,
	} {
		send(jobsByState, float64(n), state)
	}
	age := time.Duration(0)
	if !stats.Oldest.IsZero() {
		age = max(0, stats.Now.Sub(stats.Oldest))
	}
	send(oldestQueued, age.Seconds())
	return nil
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

// fileSize returns a function for the size of an SQLite file and its write-ahead
// log.
func fileSize(path string) func() (int64, error) {
	return func() (int64, error) {
		file, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		if log, err := os.Stat(path + "-wal"); err == nil { // it does not exist before the first write
			return file.Size() + log.Size(), nil
		}
		return file.Size(), nil
	}
}
