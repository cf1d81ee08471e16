package sqlite

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
)

// checkError checks the code of an error and that its text contains some words.
func checkError(t *testing.T, err error, code rota.Code, words ...string) {
	t.Helper()
	if rota.CodeOf(err) != code {
		t.Fatalf("answered with %v (%s), want %s", err, rota.CodeOf(err), code)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not contain %q", err, word)
		}
	}
}

func TestOpenRefusesNewerSchema(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, rawConn(t, s.path), `UPDATE rota_meta SET value = '99' WHERE key = 'version'`)
	for _, config := range []Config{{}, {ReadOnly: true}} {
		_, err := OpenWith(s.path, config)
		checkError(t, err, rota.Conflict, "newer version of Rota", "schema version 99", "upgrade this program")
	}
}

func TestOpenRefusesNonNumericSchemaVersion(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, rawConn(t, s.path), `UPDATE rota_meta SET value = 'seven' WHERE key = 'version'`)
	_, err := Open(s.path)
	checkError(t, err, rota.Internal, `"seven"`, "restore a backup")
}

func TestOpenReadOnlyRefusesOlderSchema(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, rawConn(t, s.path), `UPDATE rota_meta SET value = '0' WHERE key = 'version'`)
	_, err := OpenWith(s.path, Config{ReadOnly: true})
	checkError(t, err, rota.Conflict, "older version of Rota", "migrates it")
}

func TestOpenRefusesDirectoryAndTextFile(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(text, bytes.Repeat([]byte("buy milk\n"), 1000), 0o600))
	for _, test := range []struct {
		name, path string
		code       rota.Code
		words      []string
	}{
		{"a directory", dir, rota.Unavailable, []string{"directory", "path of a file"}},
		{"a missing directory", filepath.Join(dir, "none", "rota.db"), rota.Unavailable, []string{"directory exists"}},
		{"a text file", text, rota.Internal, []string{"not an SQLite database", "open another file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(test.path)
			checkError(t, err, test.code, test.words...)
		})
	}
	if content, err := os.ReadFile(text); err != nil || !bytes.HasPrefix(content, []byte("buy milk")) {
		t.Errorf("the text file was changed: %v", err)
	}
}

// TestDamagedFileIsReported damages the file in several places: the error names the damage and the
// remedy, whichever call detects it.
func TestDamagedFileIsReported(t *testing.T) {
	s := openTest(t, Config{})
	for range 20 {
		apply(t, s, at(0, enqueue(make50()...)))
	}
	must(t, s.Close())
	healthy, err := os.ReadFile(s.path)
	must(t, err)
	damaged := func(t *testing.T, change func([]byte)) string {
		t.Helper()
		content := bytes.Clone(healthy)
		change(content)
		path := filepath.Join(t.TempDir(), "rota.db")
		must(t, os.WriteFile(path, content, 0o600))
		return path
	}
	t.Run("in its header", func(t *testing.T) {
		_, err := Open(damaged(t, func(b []byte) { copy(b, "garbage garbage garbage") }))
		checkError(t, err, rota.Internal, "not an SQLite database")
	})
	t.Run("in the middle", func(t *testing.T) {
		path := damaged(t, func(b []byte) {
			for page := len(b) / 2 / 4096; page < len(b)/4096; page++ {
				copy(b[page*4096:], bytes.Repeat([]byte{0xa5}, 64)) // overwrites its header
			}
		})
		found := violationsOf(t, path)
		if len(found[rota.CheckFile]) == 0 {
			t.Errorf("found %v", found)
		}
		s, err := OpenWith(path, Config{Logger: quiet})
		if err == nil {
			defer s.Close()
			_, err = s.Apply(t.Context(), at(time.Second, claim(10)))
		}
		checkError(t, err, rota.Internal, "the file is damaged", "restore a backup")
	})
	t.Run("truncated", func(t *testing.T) {
		content := healthy[:len(healthy)/2/4096*4096]
		path := filepath.Join(t.TempDir(), "rota.db")
		must(t, os.WriteFile(path, content, 0o600))
		for _, config := range []Config{{}, {ReadOnly: true}} {
			_, err := OpenWith(path, config)
			checkError(t, err, rota.Internal, "the file is damaged", "restore a backup")
		}
	})
}

func make50() []rota.NewJob {
	jobs := make([]rota.NewJob, 50)
	for i := range jobs {
		jobs[i] = rota.NewJob{Type: "mail", Params: []byte(`{"text":"` + strings.Repeat("x", 200) + `"}`)}
	}
	return jobs
}

func TestUncleanStopIsLoggedOnce(t *testing.T) {
	s := openTest(t, Config{})
	jobs := fillJobs(t, s)
	corrupt(t, s.path, jobs, []string{sqlitetest.WithoutRun(":running")})
	crashed := copyFiles(t, s.path)
	open := func() string {
		t.Helper()
		var logged bytes.Buffer
		again, err := OpenWith(crashed, Config{Logger: slog.New(slog.NewTextHandler(&logged, nil))})
		must(t, err)
		must(t, again.Close())
		return logged.String()
	}
	first := open()
	for _, words := range []string{"not closed cleanly", "running_without_run", jobs["running"].String(), "violations=1"} {
		if strings.Count(first, words) != 1 {
			t.Errorf("%q is not logged once:\n%s", words, first)
		}
	}
	if second := open(); second != "" {
		t.Errorf("the store logs after a clean stop:\n%s", second)
	}
}

func TestClosedStoreRefusesEveryCall(t *testing.T) {
	s := openTest(t, Config{})
	jobs := fillJobs(t, s)
	must(t, s.Close())
	if err := s.Close(); err != nil {
		t.Errorf("the second Close answers with %v", err)
	}
	_, err := s.Apply(t.Context(), at(0, claim(1)))
	checkError(t, err, rota.Unavailable, "closed")
	reads := map[string]func() error{
		"Job":       func() error { _, err := s.Job(t.Context(), jobs["queued"]); return err },
		"Jobs":      func() error { _, err := s.Jobs(t.Context(), rota.JobQuery{}); return err },
		"Queue":     func() error { _, err := s.Queue(t.Context(), rota.ID{}, 1); return err },
		"Execution": func() error { _, err := s.Execution(t.Context(), jobs["queued"]); return err },
		"NextDue":   func() error { _, err := s.NextDue(t.Context()); return err },
		"Audit":     func() error { _, err := s.Audit(t.Context(), rota.AuditQuery{}); return err },

		"Type":         func() error { _, err := s.Type(t.Context(), "mail"); return err },
		"Types":        func() error { _, err := s.Types(t.Context(), rota.NameQuery{}); return err },
		"Template":     func() error { _, err := s.Template(t.Context(), "digest"); return err },
		"Templates":    func() error { _, err := s.Templates(t.Context(), rota.NameQuery{}); return err },
		"Schedule":     func() error { _, err := s.Schedule(t.Context(), "nightly"); return err },
		"Schedules":    func() error { _, err := s.Schedules(t.Context(), rota.ScheduleQuery{}); return err },
		"DueSchedules": func() error { _, err := s.DueSchedules(t.Context(), 1); return err },
		"Group":        func() error { _, err := s.Group(t.Context(), jobs["queued"]); return err },
		"Groups":       func() error { _, err := s.Groups(t.Context(), rota.ID{}, 1); return err },
		"Throttle":     func() error { _, err := s.Throttle(t.Context()); return err },
		"Reservations": func() error { _, err := s.Reservations(t.Context(), rota.ID{}, 1); return err },
		"Prunable":     func() error { _, err := s.Prunable(t.Context(), rota.PruneQuery{}); return err },
		"Explain":      func() error { _, err := s.Explain(t.Context(), jobs["queued"]); return err },
	}
	for name, read := range reads {
		t.Run(name, func(t *testing.T) { checkError(t, read(), rota.Unavailable, "closed") })
	}
}

func TestApplyEndsWithContext(t *testing.T) {
	s := openTest(t, Config{})
	t.Run("ended before Apply", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.Apply(ctx, at(0, claim(1))); !errors.Is(err, context.Canceled) {
			t.Errorf("answered with %v", err)
		}
	})
	t.Run("ended while it waits for the writer", func(t *testing.T) {
		w, err := s.acquire(t.Context())
		must(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		answer := make(chan error)
		go func() {
			_, err := s.Apply(ctx, at(0, enqueue(rota.NewJob{Type: "mail"})))
			answer <- err
		}()
		cancel()
		if err := <-answer; !errors.Is(err, context.Canceled) {
			t.Errorf("answered with %v", err)
		}
		s.release(w)
		if jobs, err := s.Jobs(t.Context(), rota.JobQuery{}); err != nil || len(jobs) != 0 {
			t.Errorf("the batch was applied: %v, %v", jobs, err)
		}
	})
	t.Run("the store is closed while it waits for the writer", func(t *testing.T) {
		w, err := s.acquire(t.Context())
		must(t, err)
		answer, closed := make(chan error, 1), make(chan error, 1)
		go func() { closed <- s.Close() }()
		go func() {
			_, err := s.Apply(t.Context(), at(0, claim(1)))
			answer <- err
		}()
		s.release(w)
		must(t, <-closed)
		if err := <-answer; err != nil { // Apply came after Close; before it is also correct
			checkError(t, err, rota.Unavailable, "closed")
		}
	})
}

// TestOpenThroughLinkOfOpenStoreIsBusy opens an open store a second time through a symbolic link.
func TestOpenThroughLinkOfOpenStoreIsBusy(t *testing.T) {
	s := openTest(t, Config{})
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(s.path, link); err != nil {
		t.Skip(err)
	}
	second, err := Open(link)
	if rota.CodeOf(err) != rota.Busy {
		t.Errorf("the second Open returned %v", err)
	}
	if err == nil {
		_ = second.Close()
	}
}

// TestOpenRefusesPathsWithoutFile opens paths for which SQLite would keep the data in memory or in
// a file of another name.
func TestOpenRefusesPathsWithoutFile(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, path := range []string{"", ":memory:", "file:x.db", "file::memory:?cache=shared"} {
		s, err := Open(path)
		if rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%q: %v", path, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
	if left := fileDigests(t, "."); left != "" {
		t.Errorf("files are left:\n%s", left)
	}
}

// TestOpenDetectsMissingIndex drops each index: Open must fail, not the first command that needs
// the index.
func TestOpenDetectsMissingIndex(t *testing.T) {
	for _, index := range []string{
		"rota_jobs_claim", "rota_jobs_order", "rota_jobs_due", "rota_jobs_open", "rota_jobs_run", "rota_jobs_schedule",
		"rota_jobs_live", "rota_jobs_counts", "rota_jobs_group", "rota_jobs_member", "rota_jobs_wait", "rota_jobs_lane",
		"rota_jobs_dead", "rota_jobs_redrive", "rota_schedules_due", "rota_schedules_template", "rota_edges_back",
		"rota_reservations_active", "rota_schedules_paused", "rota_jobs_ended",
	} {
		path := filepath.Join(t.TempDir(), "rota.db")
		s, err := Open(path)
		must(t, err)
		must(t, s.Close())
		conn := rawConn(t, path)
		execute(t, conn, "DROP INDEX "+index)
		must(t, conn.Close())
		s, err = Open(path)
		if rota.CodeOf(err) != rota.Internal || !strings.Contains(err.Error(), "rota verify") {
			t.Errorf("%s: %v", index, err)
		}
		if err == nil {
			_ = s.Close()
		}
	}
}
