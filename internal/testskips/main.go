// Testskips runs go test and prints what it prints, then the tests that were skipped, with their reasons and their number. A test of a
// kernel feature that the machine lacks would otherwise be silent.
//
//	go run ./internal/testskips go test ./...
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "testskips: name the command: testskips go test ./...")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1:]))
}

// run runs the command with the flag -json, and returns its exit code.
func run(command []string) int {
	args := append([]string{"test", "-json"}, command[2:]...)
	cmd := exec.Command(command[0], args...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testskips:", err)
		return 1
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for sig := range signals {
			_ = cmd.Process.Signal(sig)
		}
	}()
	r := &report{out: os.Stdout, output: map[string][]string{}, skips: map[string][]string{}}
	r.read(out)
	err = cmd.Wait()
	r.print()
	var exited *exec.ExitError
	switch {
	case errors.As(err, &exited):
		return max(exited.ExitCode(), 1)
	case err != nil:
		fmt.Fprintln(os.Stderr, "testskips:", err)
		return 1
	}
	return 0
}

// event is a line of go test -json.
type event struct{ Action, Package, Test, Output string }

// report prints events as go test does without -v.
type report struct {
	out    io.Writer
	output map[string][]string // of tests that have not ended
	skips  map[string][]string // tests by reason
	count  int
}

func (r *report) read(lines io.Reader) {
	for in := bufio.NewReader(lines); ; {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil || e.Action == "" {
				_, _ = r.out.Write(line)
			} else {
				r.add(e)
			}
		}
		if err != nil {
			return
		}
	}
}

func (r *report) add(e event) {
	key := e.Package + " " + e.Test
	switch {
	case e.Action == "build-output", e.Action == "output" && e.Test == "" && e.Output != "PASS\n":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "output" && e.Test != "":
		r.output[key] = append(r.output[key], e.Output)
	case e.Action == "fail" && e.Test != "":
		fmt.Fprint(r.out, strings.Join(slices.DeleteFunc(r.output[key], isProgress), ""))
		delete(r.output, key)
	case e.Action == "skip" && e.Test != "":
		reason := reasonOf(r.output[key])
		r.skips[reason] = append(r.skips[reason], e.Package[strings.LastIndexByte(e.Package, '/')+1:]+"."+e.Test)
		r.count++
		delete(r.output, key)
	case e.Action == "pass":
		delete(r.output, key)
	}
}

// isProgress reports whether a line says that a test runs.
func isProgress(line string) bool {
	return slices.ContainsFunc([]string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME"}, func(word string) bool { return strings.HasPrefix(line, word) })
}

// reasonOf is the message of a skipped test, without file and line.
func reasonOf(lines []string) string {
	text := ""
	for _, line := range lines {
		if !isProgress(line) && !strings.Contains(line, "--- SKIP") {
			text += line
		}
	}
	if _, message, found := strings.Cut(text, ".go:"); found {
		if _, after, found := strings.Cut(message, ": "); found {
			text = after
		}
	}
	text = strings.TrimPrefix(strings.Join(strings.Fields(text), " "), "skipped: ")
	if text == "" {
		return "no reason"
	}
	return text
}

// print prints the skipped tests by reason.
func (r *report) print() {
	if r.count == 0 {
		return
	}
	fmt.Fprintf(r.out, "\n%d tests were skipped:\n", r.count)
	for _, reason := range slices.Sorted(maps.Keys(r.skips)) {
		tests := r.skips[reason]
		fmt.Fprintf(r.out, "%4d  %s\n", len(tests), reason)
		for _, test := range tests {
			fmt.Fprintf(r.out, "        %s\n", test)
		}
	}
}
