package node

import (
	"slices"
	"testing"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/sql/system"
)

func TestJobMetricsOfConsole(t *testing.T) {
	m := newMetricSet()
	all, err := m.jobMetrics()
	if err != nil || !slices.Equal(all, []system.Metric{{Name: "job_run_latency_ms_count", Unit: "jobs"}}) {
		t.Errorf("%+v %v", all, err)
	}
	m.failed.WithLabelValues("mail").Add(3)
	for range 98 {
		m.latencyMillis.Observe(1.5) // between 1 and 2
	}
	m.latencyMillis.Observe(30)
	m.latencyMillis.Observe(900_000) // beyond the last bound
	all, err = m.jobMetrics()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, one := range all {
		got[one.Name+" "+one.Type] = one.Value
	}
	for name, want := range map[string]float64{
		"jobs_failed_total mail": 3, "job_run_latency_ms_count ": 100, "job_run_latency_ms_mean ": (98*1.5 + 30 + 900_000) / 100,
		"job_run_latency_ms_p50 ": 1 + 50.0/98, "job_run_latency_ms_p99 ": 50,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, not %v", name, got[name], want)
		}
	}
	m.latencyMillis.Observe(900_000)
	m.latencyMillis.Observe(900_000)
	if all, _ = m.jobMetrics(); all[len(all)-1].Value != 600_000 {
		t.Errorf("beyond the last bound: %+v", all)
	}
}

func TestMainIsAlwaysTarget(t *testing.T) {
	if got := targetNames(nil); !slices.Equal(got, []string{"main"}) {
		t.Error(got)
	}
	if got := targetNames(map[string]action.Target{"shop": {}, "main": {}}); !slices.Equal(got, []string{"main", "shop"}) {
		t.Error(got)
	}
}
