package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
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

// fixedMembership is a membership whose members do not change.
type fixedMembership struct {
	rota.Membership
	members []rota.Member
}

func (m fixedMembership) Members(context.Context) ([]rota.Member, error) { return m.members, nil }

// TestNodesOfConsoleAreAllLiveNodes reads sys.nodes of a node alone, and of one that shares its store.
func TestNodesOfConsoleAreAllLiveNodes(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	names := func(n *testNode) (list []string) {
		answers, err := n.console.Session(n.store, "admin").Answers(t.Context(), "SELECT node_name, state, is_leader, workers, running, version, started_at_ts FROM sys.nodes ORDER BY node_name")
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range answers[0].Rows {
			if row[0] == n.config.Name {
				row[6] = nil // the start of this process
			}
			list = append(list, strings.TrimSuffix(fmt.Sprintln(row...), "\n"))
		}
		return list
	}
	alone := start(t, Config{Data: t.TempDir(), Name: "b", Workers: 3, Version: "v2"})
	if got := names(alone); !slices.Equal(got, []string{"b ACTIVE true 3 0 v2 <nil>"}) {
		t.Errorf("%q", got)
	}
	alone.backend.membership = fixedMembership{members: []rota.Member{{Name: "a", Since: since, Version: "v1", Workers: 7}, {Name: "b", Leads: true, Since: since}, {Name: "c", Leads: true, Since: since}}}
	if got := names(alone); !slices.Equal(got, []string{"a ACTIVE false 7 <nil> v1 2026-01-01T00:00:00.000000Z", "b ACTIVE true 3 0 v2 <nil>", "c ACTIVE true <nil> <nil> <nil> 2026-01-01T00:00:00.000000Z"}) {
		t.Errorf("%q", got)
	}
}
