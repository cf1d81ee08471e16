package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBenchMeasuresEachCaseAndRemovesItsStore runs a small benchmark.
func TestBenchMeasuresEachCaseAndRemovesItsStore(t *testing.T) {
	dir := t.TempDir()
	out, errs, code := runLine("bench --jobs 200 --fire 1500ms -o json --store sqlite:" + dir + "/bench.db")
	var view benchView
	if err := json.Unmarshal([]byte(out), &view); err != nil || code != exitDone {
		t.Fatalf("exit %d, %v: %s%s", code, err, out, errs)
	}
	cases := map[string]int{}
	for _, row := range view.Rows {
		cases[row.Case]++
		if row.Value <= 0 || row.Unit == "" || row.Metric == "" {
			t.Errorf("the row has no measurement: %+v", row)
		}
	}
	for name, want := range map[string]int{"disk": 1, "enqueue": 3, "run": 1, "latency": 2, "fire": 2} {
		if cases[name] != want {
			t.Errorf("%s has %d rows, want %d", name, cases[name], want)
		}
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
		t.Errorf("files remain: %s", left)
	}
}

// TestBenchRefusesExistingStore checks also that the existing store does not change.
func TestBenchRefusesExistingStore(t *testing.T) {
	verifyFixture(t)
	before, err := os.ReadFile("healthy.db")
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]int{
		"bench --store sqlite:healthy.db":   exitFailed,
		"bench --store sqlite:folder":       exitFailed,
		"bench --store postgres://x":        exitUsage,
		"bench --jobs 0":                    exitUsage,
		"bench --workers -1":                exitUsage,
		"bench --fire -1s":                  exitUsage,
		"bench --store sqlite:missing/x.db": exitUnavailable,
	} {
		if out, errs, code := runLine(line); code != want || !strings.HasPrefix(errs, "rota: ") {
			t.Errorf("%s exits with %d, want %d: %s%s", line, code, want, out, errs)
		}
	}
	if after, err := os.ReadFile("healthy.db"); err != nil || string(after) != string(before) {
		t.Errorf("the store was changed: %v", err)
	}
}
