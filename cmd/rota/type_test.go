package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// claim claims jobs like a remote worker.
func (s *testServer) claim(body string) {
	s.t.Helper()
	token, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		s.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, readAddressFile(s.data).url()+"/api/v1/claim", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(string(token)))
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	if answer.Body.Close(); answer.StatusCode != http.StatusOK {
		s.t.Fatal(answer.Status)
	}
}

// TestRemoteWorkerIsCounted: with a remote worker job create prints no warning, and explain says that a waiting job
// waits for the worker.
func TestRemoteWorkerIsCounted(t *testing.T) {
	s := startServer(t)
	s.must("type put nap")
	if _, errs, _ := s.run("job create nap"); !strings.Contains(errs, "neither this server nor a remote worker handles type nap") {
		t.Errorf("no worker handles the type, and there is no warning: %s", errs)
	}
	s.claim(`{"worker": "napper-1", "types": ["nap"]}`)
	out, errs, _ := s.run("job create nap")
	if errs != "" {
		t.Errorf("a worker handles the type, and there is a warning: %s", errs)
	}
	if why := s.must("explain " + idShape.FindString(out)); !strings.Contains(why, "handled by 1 remote worker, busy with 1 job.") {
		t.Error(why)
	}
	if shown := strings.Fields(s.must("type show nap")); !strings.Contains(strings.Join(shown, " "), "handled by 1 worker ") {
		t.Error(shown)
	}
	if list := s.must("type list"); !strings.Contains(strings.Join(strings.Fields(list), " "), "nap active 1 worker any") {
		t.Error(list)
	}
}
