package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite/sqlitex"
)

// backupOf writes a backup of a new store.
func backupOf(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	s, err := Open(filepath.Join(dir, "rota.db"))
	must(t, err)
	path := filepath.Join(dir, "backup.db")
	must(t, s.Backup(t.Context(), path, nil))
	must(t, s.Close())
	return path
}

// attach attaches files to a backup.
func attach(t *testing.T, path string, files map[string][]byte) {
	t.Helper()
	a, err := OpenAttachments(path)
	must(t, err)
	for name, content := range files {
		size, err := a.Add(t.Context(), name, bytes.NewReader(content), func(int64) {})
		must(t, err)
		if size != int64(len(content)) {
			t.Errorf("%s: %d of %d bytes", name, size, len(content))
		}
	}
	must(t, a.Close(&Contents{Version: "test", Included: []Content{{What: "files", Files: len(files)}}}))
}

// TestAttachedFilesComeBack attaches files of several sizes. The backup is still a store, and after
// Detach it has no table and no page of the files.
func TestAttachedFilesComeBack(t *testing.T) {
	path, dir := backupOf(t), t.TempDir()
	before, err := os.Stat(path)
	must(t, err)
	files := map[string][]byte{"logs/2026-11-15/a.log": []byte("one\n"), "empty": nil, "main.db": bytes.Repeat([]byte("x"), partSize*2+1)}
	attach(t, path, files)
	s, err := OpenWith(path, Config{ReadOnly: true})
	must(t, err)
	for v, err := range s.Verify(t.Context()) {
		t.Errorf("a backup with files violates %v, %v", v, err)
	}
	must(t, s.Close())
	contents, names, err := Detach(t.Context(), path, dir)
	must(t, err)
	if len(names) != 3 || contents.Included[0].Files != 3 {
		t.Errorf("detached %v, %+v", names, contents)
	}
	for name, want := range files {
		is, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if !bytes.Equal(is, want) {
			t.Errorf("%s has %d bytes, want %d", name, len(is), len(want))
		}
	}
	after, err := os.Stat(path)
	must(t, err)
	if after.Size() > before.Size() {
		t.Errorf("the store has %d bytes, before it had %d", after.Size(), before.Size())
	}
	if contents, err := ReadContents(path); err != nil || contents != nil {
		t.Errorf("contents %+v, %v", contents, err)
	}
}

// TestDetachRefusesPathsOutside restores a backup that was changed to write elsewhere.
func TestDetachRefusesPathsOutside(t *testing.T) {
	for _, name := range []string{"../escaped", "/tmp/escaped", "logs/../../escaped", ""} {
		path, dir := backupOf(t), filepath.Join(t.TempDir(), "inner")
		must(t, os.Mkdir(dir, 0o700))
		attach(t, path, map[string][]byte{name: []byte("x")})
		if _, _, err := Detach(t.Context(), path, dir); rota.CodeOf(err) != rota.Invalid {
			t.Errorf("%q: %v", name, err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(dir), "escaped")); len(left) > 0 {
			t.Errorf("%q wrote %v", name, left)
		}
	}
}

// TestCopyDatabaseOfWriter copies a database while a transaction of another connection is open.
func TestCopyDatabaseOfWriter(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "main.db"), filepath.Join(dir, "copy.db")
	conn := rawConn(t, from)
	for _, sql := range []string{"PRAGMA journal_mode = WAL", "CREATE TABLE t (x)", "INSERT INTO t VALUES (1)", "BEGIN", "INSERT INTO t VALUES (2)"} {
		execute(t, conn, sql)
	}
	must(t, CopyDatabase(t.Context(), from, to, nil))
	copied := rawConn(t, to)
	n, err := sqlitex.ResultInt64(copied.Prep("SELECT count(*) FROM t"))
	must(t, err)
	if n != 1 {
		t.Errorf("the copy has %d rows, want the committed one", n)
	}
	if err := CopyDatabase(t.Context(), from, to, nil); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("a copy over a file: %v", err)
	}
}

// TestCopyDatabaseStopsWhenCancelled cancels the copy of a database after its first step.
func TestCopyDatabaseStopsWhenCancelled(t *testing.T) {
	dir := t.TempDir()
	from := filepath.Join(dir, "main.db")
	conn := rawConn(t, from)
	execute(t, conn, "CREATE TABLE t (x)")
	execute(t, conn, "INSERT INTO t VALUES (randomblob(10000000))") // more than one step
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	err := CopyDatabase(ctx, from, filepath.Join(dir, "copy.db"), func(done, total int64) {
		if steps++; done >= total || total < 10_000_000 {
			t.Errorf("step %d: %d of %d bytes", steps, done, total)
		}
		cancel()
	})
	if !errors.Is(err, context.Canceled) || steps != 1 {
		t.Errorf("%d steps, %v", steps, err)
	}
}
