package dyntest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// installDir is the directory in the checkout where make dynamo installs the servers.
const installDir = "bin/dynamo/node_modules"

// command returns the program of a server with its arguments. An empty data keeps the tables in memory.
func command(kind Kind, port int, data string) ([]string, error) {
	switch kind {
	case Dynoxide:
		program, err := findInstalled("@dynoxide/linux-x64/dynoxide")
		if err != nil {
			return nil, err
		}
		args := []string{program, "serve", "--host", host, "--port", fmt.Sprint(port)}
		if data != "" {
			args = append(args, "--db-path", filepath.Join(data, "dynoxide.db"))
		}
		return args, nil
	case Dynalite:
		script, err := findInstalled("dynalite/cli.js")
		if err != nil {
			return nil, err
		}
		node, err := exec.LookPath("node")
		if err != nil {
			return nil, fmt.Errorf("node is not installed, which runs dynalite; run make dynamo")
		}
		args := []string{node, "-e", keepRunning, script, "--host", host, "--port", fmt.Sprint(port), "--createTableMs", tableDelay, "--deleteTableMs", tableDelay}
		if data != "" {
			args = append(args, "--path", data)
		}
		return args, nil
	}
	return nil, fmt.Errorf("no program is a server of the kind %q; use %s or %s", kind, Dynoxide, Dynalite)
}

// keepRunning starts the script of the next argument. Dynalite would end at an error that it does not handle, such as
// one of a connection that its client closes in the middle of a request.
const keepRunning = `process.on("uncaughtException", e => console.error(e)); require(process.argv[1])`

// tableDelay is how many milliseconds a table of dynalite is being created or deleted. Its default is 500.
const tableDelay = "20"

// skipUnsupported skips a test whose server does not run on this system.
func skipUnsupported(t testing.TB, kind Kind) {
	t.Helper()
	if system := runtime.GOOS + "/" + runtime.GOARCH; kind == Dynoxide && system != "linux/amd64" {
		t.Skipf("%s runs on linux/amd64 only, not on %s", kind, system)
	}
}

// findInstalled finds a file of the installed servers, in the checkout that contains the working directory.
func findInstalled(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, installDir, name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", fmt.Errorf("%s is not installed; run make dynamo", name)
		}
		dir = parent
	}
}
