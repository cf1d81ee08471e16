//go:build unix

package main

import (
	"os"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// This file contains tests of guarantees for several processes on one store that do not
// hold yet. Each test states the cause, and is skipped unless envKnownFailures is set.
// Once the guarantee holds, move the test to another file.

// skipKnownFailure skips a test of a guarantee that does not hold yet.
func skipKnownFailure(t *testing.T, why string) {
	t.Helper()
	if os.Getenv(envKnownFailures) == "" {
		t.Skipf("known failure: %s; set %s to run the test", why, envKnownFailures)
	}
}

// envKnownFailures is the environment variable that enables those tests.
const envKnownFailures = "ROTA_CRASH_KNOWN_FAILURES"

// TestServersWithoutFaultsLoseNothing runs three servers under load without any fault.
func TestServersWithoutFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	skipKnownFailure(t, "leases of two seconds get lost on a machine that is busy with other tests")
	cluster, err := pgtest.Start("", pgtest.Options{Durable: true})
	must(t, err)
	t.Cleanup(cluster.Close)
	f := newTestCluster(t, cluster, 3)
	f.startAll()
	f.declareLimitsAndSchedules()
	l := startLoad(f.caller, f.answers, clusterActions(), 10)
	time.Sleep(10 * time.Second)
	f.drain(l)
	a := f.audit()
	defer a.store.Close()
	for _, j := range a.jobs {
		if reaped(j) {
			t.Errorf("job %s lost its lease: %s", j.ID, j.Run.Error)
		}
	}
	rows := pgtest.Query(t, cluster.URL(f.postgres().database), "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
	if n := rows[0][0]; n != "0" {
		t.Errorf("%s deadlocks, with %d requests", n, f.caller.answered.Load())
	}
}
