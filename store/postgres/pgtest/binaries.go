package pgtest

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// findServerProgram finds a program of the PostgreSQL server. Debian installs these in a directory
// for each version, outside PATH.
func findServerProgram(name string) (string, error) {
	for _, dir := range serverDirs() {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not installed; install PostgreSQL 15 or later: make postgres, or apt-get install postgresql", name)
}

// serverDirs returns the directories that may contain the server's programs, newest version first.
var serverDirs = sync.OnceValue(func() (dirs []string) {
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // its only error is a bad pattern
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return append(dirs, found...)
})

func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // a name without a number counts as the oldest
	return n
}

// findBouncer finds PgBouncer. Debian installs it in a directory that only root has in PATH.
func findBouncer() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("pgbouncer is not installed; run make postgres, or apt-get install pgbouncer")
}
