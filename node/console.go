package node

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// openConsole creates the console, which executes SQL for the SQL port and the API.
func (n *Node) openConsole() error {
	n.schemas = payload.NewSchemaCache()
	n.schemas.ValidateWith(n.engine.ValidateParams)
	started := n.clock()
	n.console = session.New(session.Config{
		Seal: n.sealSecret, Schemas: n.schemas, Clock: n.clock, Version: n.config.Version, Targets: targetNames(n.config.Targets), Exec: n.config.programs(),
		Nodes:   func(ctx context.Context) ([]system.Node, error) { return n.liveNodes(ctx, started) },
		Metrics: func(context.Context) ([]system.Metric, error) { return n.metrics.jobMetrics() },
	})
	n.onClose(n.console.Close)
	return nil
}

// liveNodes lists the nodes that share the store, by name. How many jobs other
// nodes run now is not known here.
func (n *Node) liveNodes(ctx context.Context, started time.Time) ([]system.Node, error) {
	pool := n.engine.Snapshot()
	all := []system.Node{{
		Name: n.config.Name, State: n.state(), Leader: n.engine.Leads(), Workers: &pool.Workers, Running: &pool.Running,
		Version: n.config.Version, Since: started,
	}}
	if n.backend.membership == nil {
		return all, nil
	}
	members, err := n.backend.membership.Members(ctx)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		if m.Name != n.config.Name {
			other := system.Node{Name: m.Name, State: "ACTIVE", Leader: m.Leads, Version: m.Version, Since: m.Since}
			if m.Workers > 0 {
				other.Workers = &m.Workers
			}
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b system.Node) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// state is the state of the node that sys.nodes shows.
func (n *Node) state() string {
	if n.stopping.Load() {
		return "STOPPING"
	}
	return "ACTIVE"
}

// targetNames lists the databases that jobs may name; main is always one of them.
func targetNames(named map[string]action.Target) []string {
	names := slices.Collect(maps.Keys(named))
	if _, is := named[action.MainTarget]; !is {
		names = append(names, action.MainTarget)
	}
	slices.Sort(names)
	return names
}

// jobMetrics returns the job metrics of this process for sys.performance.
func (m *metricSet) jobMetrics() (all []system.Metric, err error) {
	counted := make(chan prometheus.Metric)
	go func() {
		m.failed.Collect(counted)
		close(counted)
	}()
	for one := range counted {
		var v dto.Metric
		if failed := one.Write(&v); failed != nil {
			err = failed
			continue // drain the channel, or Collect blocks
		}
		all = append(all, system.Metric{Name: "jobs_failed_total", Type: v.Label[0].GetValue(), Value: v.Counter.GetValue(), Unit: "jobs"})
	}
	if err != nil {
		return nil, err
	}
	var v dto.Metric
	if err := m.latencyMillis.Write(&v); err != nil {
		return nil, err
	}
	return append(all, latencyMetrics(v.Histogram)...), nil
}

// latencyMetrics summarizes a histogram. Without observations it returns only the
// count.
func latencyMetrics(h *dto.Histogram) []system.Metric {
	const name = "job_run_latency_ms"
	count := float64(h.GetSampleCount())
	all := []system.Metric{{Name: name + "_count", Value: count, Unit: "jobs"}}
	if count == 0 {
		return all
	}
	return append(all,
		system.Metric{Name: name + "_mean", Value: h.GetSampleSum() / count, Unit: "ms"},
		system.Metric{Name: name + "_p50", Value: quantile(h, 0.5), Unit: "ms"},
		system.Metric{Name: name + "_p99", Value: quantile(h, 0.99), Unit: "ms"},
	)
}

// quantile estimates a quantile from the buckets, as Prometheus does: it assumes
// that values are spread evenly within a bucket, and returns the last bound for
// values beyond it.
func quantile(h *dto.Histogram, q float64) float64 {
	rank := q * float64(h.GetSampleCount())
	low, before := 0.0, 0.0
	for _, b := range h.Bucket {
		high, upTo := b.GetUpperBound(), float64(b.GetCumulativeCount())
		if upTo >= rank && upTo > before {
			return low + (high-low)*(rank-before)/(upTo-before)
		}
		low, before = high, upTo
	}
	return low
}
