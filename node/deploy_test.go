package node

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestDashboardQueriesExistingMetrics checks that the queries of the dashboard use
// existing metrics and labels.
func TestDashboardQueriesExistingMetrics(t *testing.T) {
	text, err := os.ReadFile("../deploy/grafana/rota.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		UID    string
		Panels []struct {
			ID          int
			Type, Title string
			Description string
			GridPos     struct{ X, Y, W, H int }
			Targets     []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Name, Definition string }
		}
		Annotations struct{ List []struct{ Expr string } }
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	known := newCatalogue(t)
	ids := map[int]bool{}
	taken := map[[2]int]string{}
	asked := 0
	for _, panel := range board.Panels {
		if ids[panel.ID] || panel.ID == 0 || panel.Title == "" || panel.Type != "row" && (panel.Description == "" || len(panel.Targets) == 0) {
			t.Errorf("panel %d %q has no unique id, no title, no description or no query", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for x := panel.GridPos.X; x < panel.GridPos.X+panel.GridPos.W; x++ {
			for y := panel.GridPos.Y; y < panel.GridPos.Y+panel.GridPos.H; y++ {
				if at := [2]int{x, y}; taken[at] != "" || x >= 24 {
					t.Fatalf("%q overlaps %q, or exceeds the grid", panel.Title, taken[at])
				} else {
					taken[at] = panel.Title
				}
			}
		}
		for _, target := range panel.Targets {
			asked += known.check(t, panel.Title, target.Expr)
		}
	}
	for _, v := range board.Templating.List {
		known.check(t, v.Name, strings.TrimSuffix(strings.TrimPrefix(v.Definition, "label_values("), ")"))
	}
	for _, a := range board.Annotations.List {
		known.check(t, "annotation", a.Expr)
	}
	if asked < 40 || board.UID != "rota" {
		t.Errorf("the dashboard queries %d metrics", asked)
	}
	for _, d := range allMetrics() {
		if !strings.Contains(string(text), d.name) {
			t.Errorf("the dashboard does not show %s", d.name)
		}
	}
}

// TestAlertsQueryExistingMetrics checks the alert rules the same way, and that each
// has a summary and a description.
func TestAlertsQueryExistingMetrics(t *testing.T) {
	text, err := os.ReadFile("../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	if err := yaml.UnmarshalWithOptions(text, &file, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/observability.md")
	if err != nil {
		t.Fatal(err)
	}
	known := newCatalogue(t)
	seen := map[string]bool{}
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			if seen[rule.Alert] || known.check(t, rule.Alert, rule.Expr) == 0 {
				t.Errorf("%s is declared twice, or has no expression", rule.Alert)
			}
			seen[rule.Alert] = true
			if !slices.Contains([]string{"page", "ticket"}, rule.Labels["severity"]) {
				t.Errorf("%s has the severity %q", rule.Alert, rule.Labels["severity"])
			}
			for _, part := range []string{"summary", "description", "runbook"} {
				if rule.Annotations[part] == "" {
					t.Errorf("%s has no %s", rule.Alert, part)
				}
			}
			if !strings.Contains(string(page), "`"+rule.Alert+"`") {
				t.Errorf("%s is not in the documentation", rule.Alert)
			}
		}
	}
	if len(seen) < 10 {
		t.Errorf("there are %d alerts", len(seen))
	}
}

// TestPromtoolAcceptsAlerts checks the rules and runs their tests with promtool, if it
// is installed.
func TestPromtoolAcceptsAlerts(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	for _, args := range [][]string{{"check", "config", "prometheus.yml"}, {"test", "rules", "alerts_test.yml"}} {
		cmd := exec.CommandContext(t.Context(), tool, args...)
		cmd.Dir = "../deploy/prometheus"
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// catalogue maps the metrics that queries may use to their labels.
type catalogue map[string][]string

func newCatalogue(t *testing.T) catalogue {
	known := catalogue{"up": {}}
	for name, family := range gathered(t) {
		var labels []string
		for _, pair := range family.Metric[0].Label {
			labels = append(labels, pair.GetName())
		}
		if family.GetType().String() == "HISTOGRAM" {
			known[name+"_bucket"], known[name+"_sum"], known[name+"_count"] = append(labels, "le"), labels, labels
			continue
		}
		known[name] = labels
	}
	return known
}

var (
	quotedText = regexp.MustCompile(`"[^"]*"`)
	selector   = regexp.MustCompile(`([a-z_]\w*)\{([^}]*)\}`)
	grouping   = regexp.MustCompile(`\b(by|without|on|ignoring)\s*\(([^)]*)\)`)
	word       = regexp.MustCompile(`[A-Za-z_]\w*\b\s*\(?`)
	labelName  = regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`)
	duration   = regexp.MustCompile(`\[[^\]]*\]`)
)

// check checks one query and returns how many metrics it uses.
func (c catalogue) check(t *testing.T, where, query string) (metrics int) {
	t.Helper()
	metrics, problems := c.read(query)
	for _, p := range problems {
		t.Errorf("%s %s", where, p)
	}
	return metrics
}

func (c catalogue) read(query string) (metrics int, problems []string) {
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	query = duration.ReplaceAllString(quotedText.ReplaceAllString(query, ""), "")
	targets := []string{"job", "instance"} // what Prometheus adds
	usable := slices.Clone(targets)
	for _, found := range selector.FindAllStringSubmatch(query, -1) {
		for _, label := range labelName.FindAllStringSubmatch(found[2], -1) {
			if !slices.Contains(c[found[1]], label[1]) && !slices.Contains(targets, label[1]) {
				complain("asks for the label %s of %s, which has none", label[1], found[1])
			}
		}
	}
	plain := grouping.ReplaceAllString(selector.ReplaceAllString(query, "$1 "), " ")
	for _, name := range word.FindAllString(plain, -1) {
		if strings.HasSuffix(name, "(") || slices.Contains([]string{"and", "or", "unless", "job", "type"}, strings.TrimSpace(name)) {
			continue // a function, an operator, or the label of label_values
		}
		name = strings.TrimSpace(name)
		labels, found := c[name]
		if !found {
			complain("asks for %s, which is not there", name)
		}
		metrics++
		usable = append(usable, labels...)
	}
	for _, found := range grouping.FindAllStringSubmatch(query, -1) {
		for label := range strings.SplitSeq(found[2], ",") {
			if label = strings.TrimSpace(label); !slices.Contains(usable, label) {
				complain("groups by %s, which none of its metrics has", label)
			}
		}
	}
	return metrics, problems
}

func TestCatalogueReportsUnknownMetricsAndLabels(t *testing.T) {
	known := newCatalogue(t)
	for _, query := range []string{
		`rota_nothing`, `sum(rate(rota_nothing[5m]))`, `max(rota_jobs{colour="red"})`, `sum by (colour) (rota_jobs)`,
		`rota_run_seconds`, `rota_jobs_total + 1`, `sum(rota_jobs) / sum(rota_slots{job="x"})`,
	} {
		if _, problems := known.read(query); len(problems) != 1 {
			t.Errorf("%s: problems %q", query, problems)
		}
	}
}
