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

// serverProgram finds one of PostgreSQL's own programs, which Debian keeps out
// of the way: several versions can be there.
func serverProgram(name string) (string, error) {
	for _, dir := range serverDirs() {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return "", fmt.Errorf("%s is not on this machine; install PostgreSQL 15 or later: make postgres, or apt-get install postgresql", name)
}

// serverDirs are where the programs of servers may be.
var serverDirs = sync.OnceValue(func() (dirs []string) {
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // its only error is a bad pattern
	slices.SortFunc(found, func(a, b string) int { return cmp.Compare(version(b), version(a)) })
	return append(dirs, found...)
})

func version(dir string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(dir))) // what is no number is old
	return n
}

// bouncerProgram finds PgBouncer. Debian puts it where only root looks.
func bouncerProgram() (string, error) {
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("pgbouncer is not on this machine; install it: make postgres, or apt-get install pgbouncer")
}
