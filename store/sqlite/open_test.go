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
)

// refused asserts what an error says: its code, the reason and the way out.
func refused(t *testing.T, err error, code rota.Code, words ...string) {
	t.Helper()
	if rota.CodeOf(err) != code {
		t.Fatalf("answered with %v (%s), want %s", err, rota.CodeOf(err), code)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}

func TestOpenRefusesANewerSchema(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, plainConn(t, s.path), `UPDATE rota_meta SET value = '99' WHERE key = 'version'`)
	for _, config := range []Config{{}, {ReadOnly: true}} {
		_, err := OpenWith(s.path, config)
		refused(t, err, rota.Conflict, "newer Rota", "schema 99", "upgrade this program")
	}
}

func TestOpenRefusesAVersionThatIsNoNumber(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, plainConn(t, s.path), `UPDATE rota_meta SET value = 'seven' WHERE key = 'version'`)
	_, err := Open(s.path)
	refused(t, err, rota.Internal, `"seven"`, "restore a backup")
}

func TestOpenReadOnlyRefusesAnOlderSchema(t *testing.T) {
	s := openTest(t, Config{})
	must(t, s.Close())
	execute(t, plainConn(t, s.path), `UPDATE rota_meta SET value = '0' WHERE key = 'version'`)
	_, err := OpenWith(s.path, Config{ReadOnly: true})
	refused(t, err, rota.Conflict, "older Rota", "up to date")
}

func TestOpenRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "notes.txt")
	must(t, os.WriteFile(text, bytes.Repeat([]byte("buy milk\n"), 1000), 0o600))
	for _, test := range []struct {
		name, path string
		code       rota.Code
		words      []string
	}{
		{"a directory", dir, rota.Unavailable, []string{"directory", "name a file"}},
		{"a directory that is not there", filepath.Join(dir, "none", "rota.db"), rota.Unavailable, []string{"directory exists"}},
		{"a text file", text, rota.Internal, []string{"not an SQLite database", "name another file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Open(test.path)
			refused(t, err, test.code, test.words...)
		})
	}
	if content, err := os.ReadFile(text); err != nil || !bytes.HasPrefix(content, []byte("buy milk")) {
		t.Errorf("the text file was changed: %v", err)
	}
}

// TestDamagedFile: the words "damaged" or "not an SQLite database" reach the
// person who has to act, from whatever notices first.
func TestDamagedFile(t *testing.T) {
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
		refused(t, err, rota.Internal, "not an SQLite database")
	})
	t.Run("in the middle", func(t *testing.T) {
		path := damaged(t, func(b []byte) {
			for page := len(b) / 2 / 4096; page < len(b)/4096; page++ {
				copy(b[page*4096:], bytes.Repeat([]byte{0xa5}, 64)) // over its head
			}
		})
		found := violated(t, path)
		if len(found[rota.CheckFile]) == 0 {
			t.Errorf("found %v", found)
		}
		s, err := OpenWith(path, Config{Logger: quiet})
		if err == nil {
			defer s.Close()
			_, err = s.Apply(t.Context(), at(time.Second, claim(10)))
		}
		refused(t, err, rota.Internal, "the file is damaged", "restore a backup")
	})
	t.Run("cut off", func(t *testing.T) {
		content := healthy[:len(healthy)/2/4096*4096]
		path := filepath.Join(t.TempDir(), "rota.db")
		must(t, os.WriteFile(path, content, 0o600))
		for _, config := range []Config{{}, {ReadOnly: true}} {
			_, err := OpenWith(path, config)
			refused(t, err, rota.Internal, "the file is damaged", "restore a backup")
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
	jobs := cast(t, s)
	corrupt(t, s.path, jobs, []string{withoutRun(":running")})
	torn := picture(t, s.path)
	open := func() string {
		t.Helper()
		var heard bytes.Buffer
		again, err := OpenWith(torn, Config{Logger: slog.New(slog.NewTextHandler(&heard, nil))})
		must(t, err)
		must(t, again.Close())
		return heard.String()
	}
	first := open()
	for _, words := range []string{"not closed cleanly", "running_without_run", jobs["running"].String(), "violations=1"} {
		if strings.Count(first, words) != 1 {
			t.Errorf("%q is not said once:\n%s", words, first)
		}
	}
	if second := open(); second != "" {
		t.Errorf("after a clean stop it says:\n%s", second)
	}
}

func TestClosed(t *testing.T) {
	s := openTest(t, Config{})
	jobs := cast(t, s)
	must(t, s.Close())
	if err := s.Close(); err != nil {
		t.Errorf("the second Close answers with %v", err)
	}
	_, err := s.Apply(t.Context(), at(0, claim(1)))
	refused(t, err, rota.Unavailable, "closed")
	reads := map[string]func() error{
		"Job":       func() error { _, err := s.Job(t.Context(), jobs["queued"]); return err },
		"Jobs":      func() error { _, err := s.Jobs(t.Context(), rota.JobQuery{}); return err },
		"Queue":     func() error { _, err := s.Queue(t.Context(), rota.ID{}, 1); return err },
		"Execution": func() error { _, err := s.Execution(t.Context(), jobs["queued"]); return err },
		"NextDue":   func() error { _, err := s.NextDue(t.Context()); return err },
		"Audit":     func() error { _, err := s.Audit(t.Context(), 0, 1); return err },

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
		t.Run(name, func(t *testing.T) { refused(t, read(), rota.Unavailable, "closed") })
	}
}

func TestApplyHeedsItsContext(t *testing.T) {
	s := openTest(t, Config{})
	t.Run("ended before", func(t *testing.T) {
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
			t.Errorf("it was applied all the same: %v, %v", jobs, err)
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
		if err := <-answer; err != nil { // it came after the Close; before it is right too
			refused(t, err, rota.Unavailable, "closed")
		}
	})
}
