package mariatest

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// dirPrefix is the prefix of the directories of servers.
const dirPrefix = "rota-maria-"

// pidName is the file in a server directory with the process id of the server.
const pidName = "pid"

// parentMax is the length of a parent directory that leaves enough of the about 100
// characters that the path of a socket may have.
const parentMax = 60

// dirAge is the age from which a directory without a pid file counts as abandoned.
const dirAge = 24 * time.Hour

// newServerDir creates the directory of a server with a short path, because the path of a
// socket has to be short.
func newServerDir() (string, error) {
	parent := os.TempDir()
	if len(parent) > parentMax {
		parent = "/tmp"
	}
	removeAbandoned(parent)
	dir, err := os.MkdirTemp(parent, dirPrefix)
	if err != nil {
		return "", err
	}
	if err := chownToServer(dir); err != nil {
		_ = os.RemoveAll(dir)
		return "", err
	}
	return dir, nil
}

// removeAbandoned removes the directories of killed tests. It leaves a directory that it
// cannot remove to the next call.
func removeAbandoned(parent string) {
	found, _ := filepath.Glob(filepath.Join(parent, dirPrefix+"*")) // its only error is a bad pattern
	for _, dir := range found {
		if abandoned(dir) {
			_ = os.RemoveAll(dir)
		}
	}
}

// abandoned reports whether the server of a directory has ended without removing it.
func abandoned(dir string) bool {
	if text, err := os.ReadFile(filepath.Join(dir, pidName)); err == nil {
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && processEnded(pid)
	}
	info, err := os.Stat(dir)
	return err == nil && time.Since(info.ModTime()) > dirAge
}
