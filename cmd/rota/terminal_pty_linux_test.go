package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// onTerminal runs the program on a pseudo-terminal and returns what the terminal shows, and the exit code. The output goes
// to a file if one is given. The answer is typed when the terminal shows a question.
func onTerminal(t *testing.T, output *os.File, answer string, args ...string) (shown string, code int) {
	t.Helper()
	return onTerminalAt(t, output, "[y/N] ", answer, args...)
}

// onTerminalAt is onTerminal for another question.
func onTerminalAt(t *testing.T, output *os.File, question, answer string, args ...string) (shown string, code int) {
	t.Helper()
	user, program := openTerminal(t)
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = []string{"ROTA_TEST_PROGRAM=1", "HOME=" + t.TempDir(), "TERM=xterm"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	if output != nil {
		cmd.Stdout, cmd.Stderr = output, output
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	screen, ended := &lockedBuffer{}, make(chan error, 1)
	go func() { // ends when both sides of the terminal are closed
		_, _ = io.Copy(screen, user)
		ended <- cmd.Wait()
	}()
	if answer != "" {
		select {
		case <-screen.waitFor(question):
		case <-time.After(20 * time.Second):
			t.Errorf("no question:\n%s", screen)
		}
		_, _ = io.WriteString(user, answer)
	}
	_ = program.Close()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("the program does not end:\n%s", screen)
	}
	return screen.String(), cmd.ProcessState.ExitCode()
}

// TestShortPasswordIsRefusedAtOnce: a password that is too short is not asked for again.
func TestShortPasswordIsRefusedAtOnce(t *testing.T) {
	shown, code := onTerminalAt(t, nil, "New password of bob: ", "short\n", "user", "create", "bob", "--data", t.TempDir())
	if code != exitUsage || !strings.Contains(shown, "use at least 12 characters") || strings.Contains(shown, "The same again") {
		t.Errorf("it exits with %d:\n%s", code, shown)
	}
}

// TestDeleteAsksOnTerminalWithRedirectedOutput: the question reaches the terminal if all output goes to a file.
func TestDeleteAsksOnTerminalWithRedirectedOutput(t *testing.T) {
	s := startServer(t)
	s.must("schedule create nightly --cron '0 2 1 1 *' --type noop")
	file, err := os.Create(filepath.Join(t.TempDir(), "output"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	shown, code := onTerminal(t, file, "n\n", "schedule", "delete", "nightly", "--data", s.data)
	if code != exitFailed || !strings.Contains(shown, "Delete schedule nightly? [y/N]") || !strings.Contains(s.must("schedule list"), "nightly") {
		t.Errorf("exit %d:\n%s", code, shown)
	}
	if shown, code = onTerminal(t, file, "y\n", "schedule", "delete", "nightly", "--data", s.data); code != exitDone || strings.Contains(s.must("schedule list"), "nightly") {
		t.Errorf("exit %d:\n%s", code, shown)
	}
}

// TestRawLogOnPseudoTerminal: a terminal gets escape sequences of a log only with --raw.
func TestRawLogOnPseudoTerminal(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "\x1b[31mred\x1b[0m\n") }))
	defer server.Close()
	for raw, want := range map[bool]string{false: "red\r\n", true: "\x1b[31mred\x1b[0m\r\n"} {
		args := []string{"job", "logs", sampleID, "--url", server.URL}
		if raw {
			args = append(args, "--raw")
		}
		if shown, code := onTerminal(t, nil, "", args...); code != exitDone || shown != want {
			t.Errorf("--raw %v: exit %d, %q", raw, code, shown)
		}
	}
}
