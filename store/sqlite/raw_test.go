package sqlite

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var placeholder = regexp.MustCompile(`:[a-z]+\b`)

// namedIn returns the parameters of a statement that names jobs as :name.
func namedIn(sql string, jobs map[string]rota.ID) map[string]any {
	named := map[string]any{}
	for _, name := range placeholder.FindAllString(sql, -1) {
		if id, known := jobs[name[1:]]; known {
			named[name] = id[:]
		}
	}
	return named
}

// rawConn opens a connection without pragmas, as any other program does.
func rawConn(t testing.TB, path string) *sqlite.Conn {
	t.Helper()
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func execute(t testing.TB, conn *sqlite.Conn, sql string) {
	t.Helper()
	if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// column returns the first column of a query.
func column(t testing.TB, conn *sqlite.Conn, sql string) (all []string) {
	t.Helper()
	must(t, sqlitex.ExecuteTransient(conn, sql, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		all = append(all, s.ColumnText(0))
		return nil
	}}))
	return all
}

// fileDigests lists the files of a directory with their digests.
func fileDigests(t testing.TB, dir string) string {
	t.Helper()
	var list strings.Builder
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		must(t, err)
		fmt.Fprintf(&list, "%s %x\n", e.Name(), sha256.Sum256(content))
	}
	return list.String()
}
