package mariatest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// homePrefix begins the names of the directories that servers live in.
const homePrefix = "rota-maria-"

// pidName is the file in a home that names the process of its server.
const pidName = "pid"

// parentMax leaves room for the rest of the path of a socket, of about 100
// characters in all.
const parentMax = 60

// homeAge is how old a home is that no test uses any more, if it does not tell
// whose it was.
const homeAge = 24 * time.Hour

// newHome makes the directory of a server, whose path is short, since that of a
// socket has to be.
func newHome() (string, error) {
	parent := os.TempDir()
	if len(parent) > parentMax {
		parent = "/tmp"
	}
	sweep(parent)
	dir, err := os.MkdirTemp(parent, homePrefix)
	if err != nil {
		return "", err
	}
	if err := giveAway(dir); err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

// sweep removes homes that were left by tests that were killed. What it cannot
// remove is left for the next one.
func sweep(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, homePrefix+"*")) // its only error is a bad pattern
	for _, dir := range found {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether the server of a home has ended, which its own process
// would have removed.
func abandoned(dir string) bool {
	if text, err := os.ReadFile(filepath.Join(dir, pidName)); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && gone(pid)
	}
	info, err := os.Stat(dir)
	return err == nil && time.Since(info.ModTime()) > homeAge
}
