// Command hours runs tests at other hours, on other dates and in other time zones than
// the machine has:
//
//	go run ./internal/hours                  the quick packages at all moments
//	go run ./internal/hours -at 'leap|kiri' ./engine ./cron
//	go run ./internal/hours -list            the moments
//
// It builds the tests once, with a package time that adds an offset to the wall clock
// (see overlay.go), and starts them again for each moment. The monotonic clock is not changed.
// Processes that the tests start have the same offset: programs in Go by the same package
// time, other programs, such as PostgreSQL, MariaDB, Python and Java, by a library that
// they are started with (see preload/clock.c). It needs Linux, glibc and a C compiler.
//
// SQLite's own clock, such as strftime('now'), stays that of the machine, since its driver
// asks the kernel.
package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() {
	at := flag.String("at", "", "run only the moments whose name matches this regular expression")
	run := flag.String("run", "", "run only the tests that match this regular expression, as go test -run does")
	skip := flag.String("skip", "", "do not run the tests that match this regular expression, as go test -skip does")
	short := flag.Bool("short", false, "run fewer rounds of tests, as go test -short does")
	timeout := flag.Duration("timeout", 20*time.Minute, "how long the tests of a package may take at one moment")
	parallel := flag.Int("p", runtime.GOMAXPROCS(0), "how many packages are tested at once")
	list := flag.Bool("list", false, "list the moments and quit")
	verbose := flag.Bool("v", false, "print the output of tests that pass, too")
	flag.Parse()
	chosen, err := choose(*at)
	if err == nil && *list {
		for _, m := range chosen {
			fmt.Println(m)
		}
		return
	}
	if err == nil {
		args := []string{"-test.timeout=" + timeout.String(), "-test.run=" + *run, "-test.skip=" + *skip}
		if *short {
			args = append(args, "-test.short")
		}
		if *verbose {
			args = append(args, "-test.v")
		}
		err = testAll(chosen, flag.Args(), args, *parallel, *verbose)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "hours:", err)
		os.Exit(1)
	}
}

func choose(pattern string) (chosen []moment, err error) {
	match, err := regexp.Compile(pattern)
	if err != nil {
		return nil, err
	}
	for _, m := range moments {
		if match.MatchString(m.String()) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return nil, fmt.Errorf("no moment matches %q; see -list", pattern)
	}
	return chosen, nil
}

// testAll builds the tests of the packages and runs them at the moments, one moment
// after the other.
func testAll(at []moment, patterns, args []string, parallel int, verbose bool) error {
	dir, err := os.MkdirTemp("", "rota-hours-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ctx, done := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer done()
	overlay, err := writeOverlay()
	if err != nil {
		return err
	}
	library, err := buildLibrary(ctx, dir)
	if err != nil {
		return err
	}
	suites, err := build(ctx, dir, overlay, patterns)
	if err != nil {
		return err
	}
	failed := 0
	for _, m := range at {
		fmt.Printf("%s\n", m)
		env := append(os.Environ(), "GOFLAGS=-overlay="+overlay, "LD_PRELOAD="+library, "TZ="+m.zone)
		var wait sync.WaitGroup
		var mu sync.Mutex // over failed, and one report at a time
		slots := make(chan struct{}, parallel)
		for _, s := range suites {
			slots <- struct{}{}
			wait.Go(func() {
				began := time.Now()
				out, err := s.run(ctx, m, env, args)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					failed++
				}
				if err != nil || verbose {
					fmt.Printf("%s", out)
				}
				fmt.Printf("  %-5s %-24s %7.1fs\n", verdict(err), s.name, time.Since(began).Seconds())
				<-slots
			})
		}
		wait.Wait()
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d runs failed", failed, len(at)*len(suites))
	}
	return nil
}

func verdict(err error) string {
	if err != nil {
		return "FAIL"
	}
	return "ok"
}

// suite is the built tests of a package.
type suite struct {
	name   string // of the package, from the module on
	dir    string // where they run
	binary string
}

func (s suite) run(ctx context.Context, m moment, env, args []string) (out []byte, err error) {
	cmd := exec.CommandContext(ctx, s.binary, args...)
	cmd.Dir = s.dir
	cmd.Env = append(env, "CLOCK_OFFSET="+offset(m.at, time.Now()))
	out, err = cmd.CombinedOutput()
	if err != nil {
		out = fmt.Appendf(out, "%s: %v\n", s.name, err)
	}
	return out, err
}

// offset is how many seconds lie between two times.
func offset(to, from time.Time) string { return fmt.Sprintf("%d", to.Unix()-from.Unix()) }

// build builds the tests of all packages that have some.
func build(ctx context.Context, dir, overlay string, patterns []string) (suites []suite, err error) {
	if len(patterns) == 0 {
		patterns = quick
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-f", "{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}} {{.Module.Path}}{{end}}"}, patterns...)...)
	cmd.Stderr = os.Stderr
	list, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for i, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		fields := strings.Fields(line)
		if len(fields) != 3 {
			return nil, errors.New("no package has tests")
		}
		name := "." + strings.TrimPrefix(fields[0], fields[2])
		binary := filepath.Join(dir, fmt.Sprint(i, ".test"))
		if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", binary, fields[0]).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go test -c %s: %w:\n%s", name, err, out)
		}
		suites = append(suites, suite{name, fields[1], binary})
	}
	return suites, nil
}

//go:embed preload/clock.c
var librarySource string

// buildLibrary builds what shifts the clock of programs in C. Those of other users, such
// as the server of PostgreSQL, read it, too.
func buildLibrary(ctx context.Context, dir string) (library string, err error) {
	if err := os.Chmod(dir, 0o755); err != nil {
		return "", err
	}
	library = filepath.Join(dir, "clock.so")
	cmd := exec.CommandContext(ctx, "cc", "-shared", "-fPIC", "-O2", "-o", library, "-x", "c", "-", "-ldl", "-lpthread")
	cmd.Stdin = strings.NewReader(librarySource)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("cc of preload/clock.c: %w: %s", err, out)
	}
	return library, nil
}
