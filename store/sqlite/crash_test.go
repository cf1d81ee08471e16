package sqlite

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite/sqlitetest"
	"github.com/rotajobs/rota/store/storetest"
)

// TestCrashBetweenStatementsLeavesWholeCommands copies the files before each statement that a
// command writes, as a power cut would leave them. Each copy must open, verify, and have the state
// from before the command.
func TestCrashBetweenStatementsLeavesWholeCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("make test runs it")
	}
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			var copies []string
			var path string
			armed := false
			s := openTest(t, Config{injectFault: func(int) error {
				if armed {
					copies = append(copies, copyFiles(t, path))
				}
				return nil
			}})
			path = s.path
			batch := sc.prepare(t, s)
			before := dump(t, s)
			armed = true
			apply(t, s, batch)
			armed = false
			after := dump(t, s)
			if before == after || len(copies) == 0 {
				t.Fatalf("the scenario changes nothing; %d statements", len(copies))
			}
			for i, dir := range copies {
				if got := reopenAndDump(t, dir); got != before {
					t.Errorf("a crash before statement %d of %d left part of the command; before:\n%s\nafter the crash:\n%s", i+1, len(copies), before, got)
				}
			}
			if got := reopenAndDump(t, copyFiles(t, path)); got != after {
				t.Errorf("a crash after the commit lost it; before:\n%s\nafter the crash:\n%s", after, got)
			}
		})
	}
}

// TestFailedStatementChangesNothing lets each statement of a command fail in turn. The state stays
// the same, and the repeated command succeeds.
func TestFailedStatementChangesNothing(t *testing.T) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			broken := errors.New("broken on purpose")
			failAt, seen := 0, 0
			s := openTest(t, Config{injectFault: func(int) error {
				seen++
				if seen == failAt {
					return broken
				}
				return nil
			}})
			batch := sc.prepare(t, s)
			before := dump(t, s)
			for failAt = 1; ; failAt++ {
				seen = 0
				_, err := s.Apply(context.Background(), batch)
				if err == nil {
					break
				}
				if !errors.Is(err, broken) {
					t.Fatal(err)
				}
				if got := dump(t, s); got != before {
					t.Fatalf("a failure of statement %d left part of the command; before:\n%s\nafter:\n%s", failAt, before, got)
				}
			}
			if failAt == 1 || dump(t, s) == before {
				t.Fatal("the scenario writes nothing")
			}
			verifyClean(t, s)
		})
	}
}

// copyFiles copies the files of a store as they are on disk.
func copyFiles(t testing.TB, path string) string {
	t.Helper()
	dir := sqlitetest.MemoryDir(t)
	for _, suffix := range []string{"", "-wal"} {
		from, err := os.Open(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		to, err := os.OpenFile(filepath.Join(dir, filepath.Base(path)+suffix), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		must(t, err)
		_, err = io.Copy(to, from)
		must(t, err)
		must(t, errors.Join(from.Close(), to.Close()))
	}
	return filepath.Join(dir, filepath.Base(path))
}

// reopenAndDump opens the files of a crash, verifies the store, and dumps it.
func reopenAndDump(t testing.TB, path string) string {
	t.Helper()
	s, err := OpenWith(path, Config{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	verifyClean(t, s)
	return dump(t, s)
}

var quiet = slog.New(slog.DiscardHandler)

func dump(t testing.TB, s rota.Store) string {
	t.Helper()
	text, err := storetest.Dump(context.Background(), s)
	must(t, err)
	if store, is := s.(*Store); is { // rota.Store has no method that lists idempotency keys
		conn := rawConn(t, store.path)
		defer conn.Close()
		text += strings.Join(column(t, conn, `SELECT actor || ' ' || key || ' ' || at || ' ' || hex(command_id) FROM rota_requests`), "\n")
	}
	return text
}

func verifyClean(t testing.TB, s rota.Store) {
	t.Helper()
	for v, err := range s.Verify(context.Background()) {
		must(t, err)
		t.Errorf("%s: %s %v", v.Check, v.Detail, v.Rows)
	}
}

func apply(t testing.TB, s rota.Store, b rota.Batch) []rota.Result {
	t.Helper()
	results, err := s.Apply(context.Background(), b)
	must(t, err)
	for i, r := range results {
		if r.Err != nil {
			t.Fatalf("%s: %v", b.Commands[i].Verb(), r.Err)
		}
	}
	return results
}
