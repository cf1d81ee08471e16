package node

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/store/sqlite"
)

// allMetrics are the metrics of Rota, sorted by name.
func allMetrics() []declared {
	all := slices.Concat(newMetricSet().declared, described)
	slices.SortFunc(all, func(a, b declared) int { return strings.Compare(rank(a.name)+a.name, rank(b.name)+b.name) })
	return all
}

// rank sorts names without the prefix rota_, which other schedulers use, too, first.
func rank(name string) string {
	if strings.HasPrefix(name, "rota_") {
		return "1"
	}
	return "0"
}

// TestMetricsReference checks the table in docs/reference/metrics.md.
func TestMetricsReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, d := range allMetrics() {
		labels := "–"
		if len(d.labels) > 0 {
			labels = "`" + strings.Join(d.labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.name, d.kind, labels, d.help)
	}
	checkPage(t, "../docs/reference/metrics.md", b.String())
}

// gathered returns the metrics of a registry in which each has a value.
func gathered(t *testing.T) map[string]*dto.MetricFamily {
	t.Helper()
	store, err := sqlite.Open(filepath.Join(t.TempDir(), "rota.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	m := newMetricSet()
	m.registry.MustRegister(&gauges{
		store: store, pool: func() engine.Snapshot { return engine.Snapshot{} },
		size: func() (int64, error) { return 1, nil }, events: func() uint64 { return 1 },
		layoutLag: func() time.Duration { return time.Second },
	})
	newEventCounter(m).countEvents([]rota.Event{{Kind: rota.EventJobCompleted, Type: "noop", StartedAt: time.Now(), At: time.Now()}})
	m.storeErrors.WithLabelValues("busy")
	m.requests.WithLabelValues("200", "GET", "/")
	m.requestSeconds.WithLabelValues("/")
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*dto.MetricFamily{}
	for _, family := range families {
		all[family.GetName()] = family
	}
	return all
}

// TestMetricsReferenceMatchesGatheredMetrics compares the declared metrics with the
// gathered ones: none is missing, and type, labels and help are equal.
func TestMetricsReferenceMatchesGatheredMetrics(t *testing.T) {
	shown := gathered(t)
	documented := map[string]bool{}
	for _, d := range allMetrics() {
		documented[d.name] = true
		family := shown[d.name]
		if family == nil {
			t.Errorf("%s is documented but not exported", d.name)
			continue
		}
		var labels []string
		for _, pair := range family.Metric[0].Label {
			labels = append(labels, pair.GetName())
		}
		if kind := strings.ToLower(family.GetType().String()); kind != d.kind || family.GetHelp() != d.help || !sameSet(labels, d.labels) {
			t.Errorf("%s is documented as %s %v %q and exported as %s %v %q", d.name, d.kind, d.labels, d.help, kind, labels, family.GetHelp())
		}
	}
	for name := range shown {
		if !documented[name] && !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") {
			t.Errorf("%s is exported but not documented", name)
		}
	}
}

func sameSet(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// TestMetricNamesFollowPrometheusConventions runs the linter of Prometheus. It
// ignores the one name that users know from other schedulers.
func TestMetricNamesFollowPrometheusConventions(t *testing.T) {
	var families []*dto.MetricFamily
	for name, family := range gathered(t) {
		if !strings.HasPrefix(name, "go_") && !strings.HasPrefix(name, "process_") && name != "job_run_latency_ms" {
			families = append(families, family)
		}
	}
	problems, err := promlint.NewWithMetricFamilies(families).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}
