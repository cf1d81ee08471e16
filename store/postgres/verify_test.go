package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

func verifyClean(t testing.TB, s rota.Store) {
	t.Helper()
	for v, err := range s.Verify(t.Context()) {
		must(t, err)
		t.Errorf("%s: %s %v", v.Check, v.Detail, v.Rows)
	}
}

func TestVerifyCountsCheckedRows(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillJobs(t, s)
	var last rota.Checked
	for range s.VerifyProgress(t.Context(), func(c rota.Checked) { last = c }) {
	}
	if want := (rota.Checked{Jobs: 12, Runs: 6, Keys: 4, Audit: 1}); last != want {
		t.Errorf("counted %+v, want %+v", last, want)
	}
}

// TestVerifyChecksEveryPage checks that Verify finds problems on the first and the last page of
// jobs.
func TestVerifyChecksEveryPage(t *testing.T) {
	const most = 2*storekit.CheckedEvery + 1
	s := openTest(t, Config{Poll: true, Logger: quiet})
	rows(t, s, fmt.Sprintf(`
INSERT INTO rota_jobs (id, position, created_at, backoff, timeout, priority, max_attempts, type, queued_at, params)
SELECT (lpad(to_hex(n), 12, '0') || '70008000000000000000')::uuid, n, 7, 1000000, 60000000, 0, 1, CASE n WHEN 1 THEN 'no type' WHEN %d THEN 'no type' ELSE 'mail' END, 7, '{}'
FROM generate_series(1, %d) n`, most, most))
	var reported []int
	found := 0
	for v, err := range s.VerifyProgress(t.Context(), func(c rota.Checked) { reported = append(reported, c.Jobs) }) {
		must(t, err)
		if found++; v.Check != rota.CheckOutOfRange || found > 2 {
			t.Fatalf("found %+v", v)
		}
	}
	if found != 2 {
		t.Errorf("found %d of 2", found)
	}
	if fmt.Sprint(reported) != fmt.Sprint([]int{0, storekit.CheckedEvery, 2 * storekit.CheckedEvery, most}) {
		t.Errorf("reported %v", reported)
	}
}

func TestVerifyStopsAndReleasesConnection(t *testing.T) {
	s := openTest(t, Config{Conns: 1, Poll: true, Logger: quiet})
	jobs := fillJobs(t, s)
	damage(t, s, []string{`UPDATE rota_jobs SET jitter = 1.5 WHERE status = 'QUEUED'`}, rota.ID{})
	t.Run("when the caller breaks its loop", func(t *testing.T) {
		for range 2 {
			for _, err := range s.Verify(t.Context()) {
				must(t, err)
				break
			}
		}
		_, err := s.Job(t.Context(), jobs["queued"])
		must(t, err)
	})
	t.Run("when the caller panics", func(t *testing.T) {
		for range 2 {
			func() {
				defer func() { _ = recover() }()
				for range s.Verify(t.Context()) {
					panic("gone")
				}
			}()
		}
		_, err := s.Job(t.Context(), jobs["queued"])
		must(t, err)
	})
	t.Run("when its context ends", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var last error
		for _, err := range s.Verify(ctx) {
			cancel()
			last = err
		}
		if !errors.Is(last, context.Canceled) {
			t.Errorf("ended with %v", last)
		}
		_, err := s.Job(t.Context(), jobs["queued"])
		must(t, err)
	})
	t.Run("when the store is closed", func(t *testing.T) {
		must(t, s.Close())
		var last error
		for _, err := range s.Verify(t.Context()) {
			last = err
		}
		if rota.CodeOf(last) != rota.Unavailable {
			t.Errorf("ended with %v", last)
		}
	})
}

// TestVerifyReportsDamage checks that an error about a damaged table becomes a violation.
func TestVerifyReportsDamage(t *testing.T) {
	for state, violation := range map[string]bool{"XX001": true, "XX002": true, "XX000": false, "57014": false} {
		var found []rota.Violation
		var failed error
		violations := storekit.Inspect(t.Context(), func(rota.Checked) {},
			func(use func(storekit.Verified) error) error { return use(verified{}) },
			func(*storekit.Inspection) error { return pgError(state) })
		for v, err := range violations {
			if failed = err; err == nil {
				found = append(found, v)
			}
		}
		if (failed == nil) != violation {
			t.Errorf("%s: %v", state, failed)
		}
		if violation && (len(found) != 1 || found[0].Check != rota.CheckFile) {
			t.Errorf("%s is reported as %+v", state, found)
		}
	}
}
