package node

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/rotajobs/rota/sql/system"
)

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
