package sqlite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TestNewFileEqualsMigratedFile opens a store in a missing file, which is written from the image,
// and one in an empty file, which is migrated.
func TestNewFileEqualsMigratedFile(t *testing.T) {
	dir := t.TempDir()
	written, stepped := filepath.Join(dir, "written.db"), filepath.Join(dir, "stepped.db")
	must(t, os.WriteFile(stepped, nil, 0o600))
	for _, path := range []string{written, stepped} {
		s, err := Open(path)
		must(t, err)
		must(t, s.Close())
	}
	a, b := contents(t, written), contents(t, stepped)
	if len(a) < 50 {
		t.Fatalf("%d rows are too few to compare", len(a))
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("row %d of %d and %d differs", i, len(a), len(b))
		}
	}
	if info, err := os.Stat(written); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// contents returns the schema of a file and the rows of all its tables, as text.
func contents(t *testing.T, path string) (rows []string) {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadOnly)
	must(t, err)
	defer conn.Close()
	selectAll := func(sql string) (all []string) {
		must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
			text := ""
			for i := range s.ColumnCount() {
				text += s.ColumnText(i) + "|"
			}
			all = append(all, text)
			return nil
		}}))
		return all
	}
	rows = selectAll("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY rowid")
	for _, table := range selectAll("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		name := table[:len(table)-1]
		rows = append(rows, name)
		rows = append(rows, selectAll(`SELECT * FROM "`+name+`" ORDER BY 1`)...)
	}
	return slices.DeleteFunc(rows, func(row string) bool { return strings.HasPrefix(row, "login_secret|") }) // it is random
}

// TestLeftoverLogIsNotAppliedToNewFile opens a store whose file was removed while its log stayed.
func TestLeftoverLogIsNotAppliedToNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.db")
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(conn, "PRAGMA journal_mode = WAL", nil))
	must(t, sqlitex.ExecuteTransient(conn, "CREATE TABLE other (a)", nil))
	log, err := os.ReadFile(path + "-wal")
	must(t, err)
	must(t, conn.Close())
	must(t, os.Remove(path))
	must(t, os.WriteFile(path+"-wal", log, 0o600))
	s, err := Open(path)
	must(t, err)
	must(t, s.Close())
	for _, row := range contents(t, path) {
		if row == "table|other|other|CREATE TABLE other (a)|" {
			t.Error("the new file has a table of the removed file")
		}
	}
}

// TestOpenDoesNotWriteThroughLinkBesideFile opens a store beside a link with a name like that of a
// temporary file.
func TestOpenDoesNotWriteThroughLinkBesideFile(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "rota.db"), filepath.Join(dir, "victim")
	must(t, os.WriteFile(victim, []byte("mine"), 0o644))
	must(t, os.Symlink(victim, path+".new"))
	s, err := Open(path)
	must(t, err)
	must(t, s.Close())
	if text, _ := os.ReadFile(victim); string(text) != "mine" {
		t.Errorf("the file behind the link holds %.20q", text)
	}
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(path + ".new-*"); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// TestOpenCreatesFileBehindLink opens a link to a missing file: the file is created, and the link
// stays.
func TestOpenCreatesFileBehindLink(t *testing.T) {
	dir := t.TempDir()
	link, path := filepath.Join(dir, "link.db"), filepath.Join(dir, "rota.db")
	must(t, os.Symlink(path, link))
	s, err := Open(link)
	must(t, err)
	must(t, s.Close())
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info.Mode(), err)
	}
	if len(contents(t, path)) < 50 {
		t.Error("the file behind the link holds no store")
	}
}
