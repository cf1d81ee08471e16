package httpapi_test

import (
	"testing"

	"github.com/rotajobs/rota/api"
)

func wantLog(s *server, job api.ClaimedJob, want string) {
	s.Helper()
	if text := s.get("jobs/" + job.Job.ID.String() + "/log").is(200).text; text != want {
		s.Errorf("the log is %q, want %q", text, want)
	}
}

// TestExtendStoresPartsOfLog checks that parts appear while the job runs, once each, and that the end adds the rest.
func TestExtendStoresPartsOfLog(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	for range 2 {
		if lease := s.extend(job, `, "log": "one\n"`); lease.LogOffset == nil || *lease.LogOffset != 4 {
			t.Fatalf("%+v", lease)
		}
		wantLog(s, job, "one\n")
	}
	s.extend(job, `, "log": "two\n", "log_offset": 4`)
	wantLog(s, job, "one\ntwo\n")
	if lease := s.extend(job, ``); lease.LogOffset != nil {
		t.Errorf("without a log: %+v", lease)
	}
	for range 2 {
		if code := s.finish(job, `, "outcome": "completed", "log": "three\n", "log_offset": 8`); code != "ok" {
			t.Fatal(code)
		}
		wantLog(s, job, "one\ntwo\nthree\n")
	}
	if path := s.show(job.Job.ID).Run.LogPath; path == "" {
		t.Error("the run has no log path")
	}
}

// TestExtendWithLostLeaseStoresNothing also checks parts that have no place.
func TestExtendWithLostLeaseStoresNothing(t *testing.T) {
	s := newServer(t, withLogWriter)
	s.declare("a")
	s.enqueue(`{"type": "a"}`)
	job := s.claimOne("a")
	s.extend(job, `, "log": "one\n"`)
	forged := job
	forged.LeaseToken = "000102030405060708090a0b0c0d0e0f"
	if lease := s.extend(forged, `, "log": "forged\n", "log_offset": 4`); lease.Code != "lease_lost" || lease.LogOffset != nil {
		t.Errorf("%+v", lease)
	}
	if code := s.finish(job, `, "outcome": "completed", "log_offset": 4`); code != "ok" {
		t.Fatal(code)
	}
	if lease := s.extend(job, `, "log": "late\n", "log_offset": 4`); lease.Code != "lease_lost" {
		t.Errorf("%+v", lease)
	}
	wantLog(s, job, "one\n")
	s.post("extend", `{"items": [`+lease(job, `, "log": "x", "log_offset": -1`)+`]}`).is(422)
}
