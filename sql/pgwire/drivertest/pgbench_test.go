package drivertest

import (
	"regexp"
	"testing"
)

var (
	processed = regexp.MustCompile(`number of transactions actually processed: 250/250\n`)
	noneFail  = regexp.MustCompile(`number of failed transactions: 0 \(0\.000%\)\n`)
)

// In each query mode of pgbench, 50 concurrent clients create, run and query jobs.
func TestPgbenchModes(t *testing.T) {
	pgbench := findProgram(t, "pgbench", "postgresql-contrib")
	for _, test := range []struct{ mode, script string }{
		{"simple", "testdata/bench_simple.sql"}, {"extended", "testdata/bench_extended.sql"}, {"prepared", "testdata/bench_extended.sql"},
	} {
		t.Run(test.mode, func(t *testing.T) {
			s := startNode(t)
			out, err := s.run(t, "", pgbench, "-n", "-f", test.script, "-M", test.mode, "-c", "50", "-j", "2", "-t", "5")
			if err != nil || !processed.MatchString(out) || !noneFail.MatchString(out) {
				t.Fatalf("%v\n%s", err, out)
			}
			s.await(t, "SELECT count(*) = 250 FROM sys.job_runs")
			s.await(t, "SELECT count(*) BETWEEN 1 AND 20 FROM sys.jobs")
		})
	}
}
