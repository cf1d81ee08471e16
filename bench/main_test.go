package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestMain allows cases to start this binary as a child process. The tests check rows, not times, so their files are in
// memory if 4 GB are free there: on a disk, syncs take most of the time.
func TestMain(m *testing.M) {
	if task := childTask(); task != nil {
		exit(task())
	}
	const memory = "/dev/shm"
	var stat unix.Statfs_t
	if err := unix.Statfs(memory, &stat); err == nil && stat.Bavail*uint64(stat.Bsize) > 4e9 && os.Getenv("TMPDIR") == "" {
		_ = os.Setenv("TMPDIR", memory) // it fails only for an invalid name
	}
	os.Exit(m.Run())
}

func tiny(t *testing.T) config {
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o711); err != nil { // PostgreSQL runs as another user if this is root
		t.Fatal(err)
	}
	return config{
		filter: regexp.MustCompile(""), runs: 2, scale: 0.002, dir: dir, json: filepath.Join(t.TempDir(), "rows.json"),
	}
}

// Every case runs, audits its own work and reports a row per subject.
func TestEveryCaseReportsARow(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute")
	}
	b, err := newBench(t.Context(), tiny(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	all := slices.DeleteFunc(allBenchmarks(), func(m benchmark) bool { return m.keyword != "" })
	if err := b.measure(slices.Clone(all)); err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		for _, name := range m.cases {
			if !slices.ContainsFunc(b.report.rows, func(r *row) bool { return r.caseName == name }) {
				t.Errorf("%s left no row", name)
			}
		}
		for _, bar := range m.bars {
			if _, known := bar.value(b.report); !known {
				t.Errorf("a bar of %s was not measured: %+v", m.cases[0], bar)
			}
		}
	}
	var out strings.Builder
	b.report.print(&out)
	for _, want := range []string{"fsync ms", "steal %", "INSERT OR ROLLBACK INTO rota_jobs", "plan: SEARCH j USING INDEX rota_jobs_claim"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report does not contain %q", want)
		}
	}
	checkJSON(t, b)
}

func checkJSON(t *testing.T, b *bench) {
	t.Helper()
	if err := b.report.writeJSON(b.json); err != nil {
		t.Fatal(err)
	}
	doc, err := os.ReadFile(b.json)
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(doc, &rows); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, r := range rows {
		for _, field := range []string{"case", "subject", "metric", "value", "unit", "runs"} {
			if r[field] == nil {
				t.Errorf("%v has no %s", r, field)
			}
		}
		key := r["case"].(string) + " " + r["subject"].(string)
		if seen[key] {
			t.Errorf("two rows for %s", key)
		}
		seen[key] = true
	}
}

func TestMeasureRefusesFilterWithoutMatch(t *testing.T) {
	c := tiny(t)
	c.filter = regexp.MustCompile("^nothing$")
	b, err := newBench(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.measure(allBenchmarks()); err == nil {
		t.Error("a filter without a match is accepted")
	}
}

func TestConfigRefusesInvalidValue(t *testing.T) {
	for name, value := range map[string]string{"BENCH": "(", "BENCH_RUNS": "0", "BENCH_SCALE": "-1", "BENCH_CHURN": "1"} {
		_, err := configFromEnv(func(key string) string {
			if key == name {
				return value
			}
			return ""
		})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s=%s: %v", name, value, err)
		}
	}
}
