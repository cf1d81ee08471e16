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

// The gauges, which are read when they are asked for.
var (
	queueDepth   = gauge("scheduler_queue_depth", "Jobs that are ready and wait for a worker.")
	jobsRunning  = gauge("jobs_running", "Jobs that are running, on all workers.")
	jobsByState  = gauge("rota_jobs", "Jobs that live, by state: queued, scheduled, blocked, running; and dead letters: dead.", "state")
	oldestQueued = gauge("rota_queue_oldest_seconds", "How long the oldest ready job has stood in the order.")
	schedules    = gauge("rota_schedules", "Schedules that are enabled.")
	webhooksDue  = gauge("rota_webhook_pending", "Deliveries to webhooks that wait or are under way.")
	poolSlots    = gauge("rota_pool_slots", "Jobs that this process can run at once.")
	poolBusy     = gauge("rota_pool_busy", "Jobs that this process is running.")
	poolGivenUp  = gauge("rota_pool_abandoned", "Handlers that were given up and have not returned: each is a leak in your code.")
	leads        = gauge("rota_leader", "Whether this process leads: 1 on one node of a cluster, 0 on the others.")
	nodeCount    = gauge("rota_nodes", "Processes that make up the cluster, this one included.")
	storeBytes   = gauge("rota_store_bytes", "Size of the store on disk.")
	feedEvents   = describe("rota_feed_events_total", "counter", "Events that this process was told of by the store.")
	buildInfo    = gauge("rota_build_info", "Always 1; its labels say what runs.", "version", "go_version")
)

// described are the metrics that gauges shows, as they are documented.
var described []declared

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return describe(name, "gauge", help, labels...)
}

func describe(name, kind, help string, labels ...string) *prometheus.Desc {
	described = append(described, declared{name, kind, help, labels})
	return prometheus.NewDesc(name, help, labels, nil)
}

// statsAge is how old the counts of the store may be when they are shown, so
// that a crowd of scrapers costs no more than one.
const statsAge = time.Second

// gauges reads the store, the pool and what else is told of a node. Of what is
// nil nothing is shown, but a node that knows of no cluster is one, and leads it.
type gauges struct {
	store   rota.Store
	pool    func() engine.Snapshot
	version string

	leader func() bool            // whether this node leads
	nodes  func() int             // of the cluster
	size   func() (int64, error)  // bytes of the store on disk
	events func() (number uint64) // of the newest event

	mu    sync.Mutex
	stats *rota.Stats
	err   error
	read  time.Time
}

// Describe names nothing: which states there are shows when it is read.
func (g *gauges) Describe(chan<- *prometheus.Desc) {}

// Collect reads the gauges.
func (g *gauges) Collect(out chan<- prometheus.Metric) {
	send := func(desc *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	send(buildInfo, 1, g.version, runtime.Version())
	pool := g.pool()
	send(poolSlots, float64(pool.Workers))
	send(poolBusy, float64(pool.Running))
	send(poolGivenUp, float64(pool.Abandoned))
	g.collectCluster(send)
	if g.events != nil {
		out <- prometheus.MustNewConstMetric(feedEvents, prometheus.CounterValue, float64(g.events()))
	}
	if g.size != nil {
		bytes, err := g.size()
		if err != nil {
			out <- prometheus.NewInvalidMetric(storeBytes, err)
		} else {
			send(storeBytes, float64(bytes))
		}
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
	send(leads, leader)
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

// fileSize is the size of an SQLite file and of what is not yet written back to
// it.
func fileSize(path string) func() (int64, error) {
	return func() (int64, error) {
		file, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		if log, err := os.Stat(path + "-wal"); err == nil { // there is none while nobody has written
			return file.Size() + log.Size(), nil
		}
		return file.Size(), nil
	}
}
