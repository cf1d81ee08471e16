package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

func TestVerifyIsCleanAfterRandomCommands(t *testing.T) {
	for seed := range uint64(3) {
		s := openTest(t, Config{})
		b := newRandomLoad(t, s, seed)
		for range 10 {
			b.run(60)
			verifyClean(t, s)
		}
		if len(b.jobs) < 100 || len(b.leases) < 50 {
			t.Fatalf("%d jobs and %d leases are too few for this test", len(b.jobs), len(b.leases))
		}
	}
}

func TestVerifyReadsOneSnapshotDuringWrites(t *testing.T) {
	s := openTest(t, Config{})
	b := newRandomLoad(t, s, 7)
	b.run(100)
	ctx, stop := context.WithCancel(t.Context())
	wrote := make(chan int)
	go func() {
		n := 0
		for ; ctx.Err() == nil; n++ {
			b.run(1)
		}
		wrote <- n
	}()
	for range 20 {
		verifyClean(t, s)
	}
	stop()
	if n := <-wrote; n == 0 {
		t.Error("nothing was written during Verify")
	}
}

func TestVerifyCountsCheckedRows(t *testing.T) {
	s := openTest(t, Config{})
	fillJobs(t, s)
	var last rota.Checked
	for range s.VerifyProgress(t.Context(), func(c rota.Checked) { last = c }) {
	}
	if want := (rota.Checked{Jobs: 14, Runs: 7, Keys: 4, Audit: 1}); last != want {
		t.Errorf("counted %+v, want %+v", last, want)
	}
}

func TestVerifyStopsAndReleasesConnection(t *testing.T) {
	s := openTest(t, Config{Logger: quiet, Readers: 1})
	jobs := fillJobs(t, s)
	corrupt(t, s.path, jobs, []string{`UPDATE rota_jobs SET jitter = 1.5`})
	t.Run("when the loop ends, and releases the connection", func(t *testing.T) {
		for range 2 {
			for _, err := range s.Verify(t.Context()) {
				must(t, err)
				break
			}
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

// TestVerifyOpenChecksOnlyOpenRows damages open and ended jobs. An unclean stop affects only open
// jobs, and Open must not read the whole history.
func TestVerifyOpenChecksOnlyOpenRows(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	jobs := fillJobs(t, s)
	corrupt(t, s.path, jobs, []string{
		`UPDATE rota_jobs SET jitter = 1.5 WHERE id = :completed`,
		sqlitetest.WithoutRun(":running"),
		`UPDATE rota_jobs SET sequel = NULL WHERE id = :kept`,
	})
	var found []string
	for v, err := range s.verifyOpen(t.Context()) {
		must(t, err)
		found = append(found, v.Check+" of "+v.Rows[0])
	}
	want := []string{
		"finished_without_sequel of job " + jobs["kept"].String(),
		"running_without_run of job " + jobs["running"].String(),
	}
	slices.Sort(found) // ids of one millisecond are in random order
	if !slices.Equal(found, want) {
		t.Errorf("found %v, want %v", found, want)
	}
}

func TestReadOnlyChangesNothing(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	fillJobs(t, s)
	crashed := copyFiles(t, s.path) // as after a crash: not closed, with a log
	for range 2 {
		readOnly, err := OpenWith(crashed, Config{ReadOnly: true, Logger: quiet})
		must(t, err)
		verifyClean(t, readOnly)
		if _, err := readOnly.Apply(t.Context(), at(time.Hour, enqueue(rota.NewJob{Type: "mail"}))); rota.CodeOf(err) != rota.Conflict {
			t.Errorf("a read-only store answers Apply with %v", err)
		}
		must(t, readOnly.Close())
	}
	logged := &strings.Builder{}
	again, err := OpenWith(crashed, Config{Logger: slog.New(slog.NewTextHandler(logged, nil))})
	must(t, err)
	defer again.Close()
	if dump(t, again) != dump(t, s) {
		t.Error("opening it read-only changed the store")
	}
	if !strings.Contains(logged.String(), "not closed cleanly") {
		t.Error("opening it read-only removed the mark of the unclean stop")
	}
}

func TestReadOnlyCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	must(t, os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("buy milk, and then some more, for the file must be longer than a header is; thanks a lot"), 0o600))
	conn := rawConn(t, foreign)
	execute(t, conn, `CREATE TABLE users (name TEXT)`)
	must(t, conn.Close())
	before := fileDigests(t, dir)
	for name, want := range map[string]rota.Code{
		"missing.db": rota.NotFound, "none/missing.db": rota.NotFound, "foreign.db": rota.NotFound,
		"notes.txt": rota.Internal, "": rota.Unavailable,
	} {
		_, err := OpenWith(filepath.Join(dir, name), Config{ReadOnly: true})
		if rota.CodeOf(err) != want {
			t.Errorf("%q answers with %v, want %s", name, err, want)
		}
	}
	if after := fileDigests(t, dir); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
}
