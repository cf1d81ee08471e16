//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/store/postgres/pgtest"
)

// Roles of a process that is started by these tests.
const (
	envRole     = "ROTA_WITHPOSTGRES_ROLE"
	roleCommand = "withpostgres"
	roleTests   = "tests" // run by withpostgres, as go test is
)

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case roleCommand:
		_ = os.Setenv(envRole, roleTests)
		main()
	case roleTests:
		runAsTests()
	default:
		m.Run()
	}
}

// runAsTests uses the server, prints the path of its description and its own process id, and ends
// as the last argument says.
func runAsTests() {
	testing.Init()
	t := &noTest{}
	server := pgtest.Shared(t)
	template := server.Template(t, "stock", func(string) error { return nil })
	pgtest.Query(t, server.URL(server.NewDatabase(t, template)), "SELECT 1")
	fmt.Println(os.Getenv(pgtest.RunVar), os.Getpid())
	switch os.Args[len(os.Args)-1] {
	case "fail":
		os.Exit(3)
	case "wait":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

// noTest is a testing.TB outside of a test.
type noTest struct{ testing.TB }

func (*noTest) Helper()        {}
func (*noTest) Cleanup(func()) {}
func (*noTest) Fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(9)
}

func (t *noTest) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }

// TestServerEndsWithCommand checks that the server ends when the command succeeds, fails or is
// ended by a signal, and that the exit code is that of the command.
func TestServerEndsWithCommand(t *testing.T) {
	for ending, want := range map[string]int{"done": 0, "fail": 3, "wait": 1} {
		t.Run(ending, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], os.Args[0], ending)
			cmd.Env, cmd.Dir, cmd.Stderr = append(os.Environ(), envRole+"="+roleCommand, pgtest.RunVar+"="), t.TempDir(), os.Stderr
			out, err := cmd.StdoutPipe()
			must(t, err)
			must(t, cmd.Start())
			line, _ := bufio.NewReader(out).ReadString('\n')
			var path string
			var pid int
			if _, err := fmt.Sscan(line, &path, &pid); err != nil {
				t.Fatalf("the command wrote %q: %v", line, err)
			}
			var dir string
			if ending == "wait" {
				dir = clusterDirOf(t, path)
				must(t, cmd.Process.Signal(syscall.SIGTERM))
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
			for _, left := range []string{path, dir} {
				if _, err := os.Stat(left); left != "" && !os.IsNotExist(err) {
					t.Errorf("%s still exists: %v", left, err)
				}
			}
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

// clusterDirOf returns the cluster directory that a description file names.
func clusterDirOf(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	must(t, err)
	var d struct{ Dir string }
	must(t, json.Unmarshal(text, &d))
	if !strings.Contains(d.Dir, "rota-pg-") {
		t.Fatalf("%s says %s", path, text)
	}
	return d.Dir
}

func TestRunWithoutCommandFails(t *testing.T) {
	if code, err := run(nil); code == 0 || err == nil {
		t.Errorf("without a command: %d, %v", code, err)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
