package main

import (
	"strings"
	"testing"
)

// TestWatchedStatsRedrawTerminal: a terminal is erased for each sample, and other output gets one line or document.
func TestWatchedStatsRedrawTerminal(t *testing.T) {
	s := startServer(t)
	out, errs, code := s.runWith("stats --watch --every 100ms --count 2", terminal{out: true, width: 80}, nil)
	if code != exitDone || strings.Count(out, clearScreen) != 2 || strings.Count(out, "dead letters") != 2 {
		t.Errorf("exit %d: %q%s", code, out, errs)
	}
	if out := s.must("status -w --every 100ms --count 3 -o json"); strings.Count(out, "\n") != 3 || strings.Count(out, `"queued":0`) != 3 {
		t.Errorf("%s", out)
	}
	if out := s.must("stats --watch --count 1 -o yaml"); !strings.HasPrefix(out, "---\n") || !strings.Contains(out, "\nqueued: 0\n") {
		t.Errorf("%s", out)
	}
}
