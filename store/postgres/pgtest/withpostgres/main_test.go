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

// What a process of these tests is, instead of the tests.
const (
	envRole   = "ROTA_WITHPOSTGRES_ROLE"
	roleItem  = "withpostgres"
	roleTests = "tests" // run by withpostgres, as go test is
)

func TestMain(m *testing.M) {
	switch os.Getenv(envRole) {
	case roleItem:
		_ = os.Setenv(envRole, roleTests)
		main()
	case roleTests:
		beTests()
	default:
		m.Run()
	}
}

// beTests uses the server, says where it is, and ends as the last argument says.
func beTests() {
	testing.Init()
	t := &outside{}
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

// outside is a test of a process that runs no tests.
type outside struct{ testing.TB }

func (*outside) Helper()        {}
func (*outside) Cleanup(func()) {}
func (*outside) Fatal(args ...any) {
	fmt.Println(args...)
	os.Exit(9)
}

func (t *outside) Fatalf(format string, args ...any) { t.Fatal(fmt.Sprintf(format, args...)) }

// TestServerEndsWithTheCommand: when it is done, when it fails, and when a signal ends
// it. The exit code is that of the command.
func TestServerEndsWithTheCommand(t *testing.T) {
	for ending, want := range map[string]int{"done": 0, "fail": 3, "wait": 1} {
		t.Run(ending, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], os.Args[0], ending)
			cmd.Env, cmd.Dir, cmd.Stderr = append(os.Environ(), envRole+"="+roleItem, pgtest.RunVar+"="), t.TempDir(), os.Stderr
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
				dir = homeOf(t, path)
				must(t, cmd.Process.Signal(syscall.SIGTERM))
			}
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != want {
				t.Errorf("exit code %d, want %d", got, want)
			}
			for _, left := range []string{path, dir} {
				if _, err := os.Stat(left); left != "" && !os.IsNotExist(err) {
					t.Errorf("%s is left: %v", left, err)
				}
			}
			if err := syscall.Kill(pid, 0); err == nil {
				t.Errorf("process %d still runs", pid)
			}
		})
	}
}

// homeOf is the directory of the server that a file describes.
func homeOf(t *testing.T, path string) string {
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

func TestACommandIsNeeded(t *testing.T) {
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
