package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal opens a pseudo-terminal: user is the side of the keyboard and display, program the side of the program.
func openTerminal(t *testing.T) (user, program *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this machine has no pseudo-terminals: ", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	if err := unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprint("/dev/pts/", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return user, program
}

// TestConsoleOnPseudoTerminal runs the console on a pseudo-terminal: Ctrl-C cancels a running statement, and the
// settings of the terminal are restored at the end.
func TestConsoleOnPseudoTerminal(t *testing.T) {
	s := startServer(t)
	user, program := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "sql", "--data", s.data)
	cmd.Env = []string{"ROTA_TEST_PROGRAM=1", "HOME=" + t.TempDir(), "TERM=xterm"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	shown := &lockedBuffer{}
	go func() { _, _ = io.Copy(shown, user) }() // ends when the terminal is closed
	step := func(keys, until string) {
		t.Helper()
		if _, err := io.WriteString(user, keys); err != nil {
			t.Fatal(err)
		}
		select {
		case <-shown.waitFor(until):
		case <-time.After(20 * time.Second):
			_ = cmd.Process.Kill()
			t.Fatalf("no %q after %q:\n%s", until, keys, shown)
		}
	}
	step("", promptReady)
	step("SEL\t1 AS num\x7f\x7f\x7fone;\r", "one\r\n-----\r\n   1\r\n(1 row)\r\n\r\n"+promptReady)
	step("WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t;\r", "count(*) FROM t;\r\n")
	waitCooked(t, program)
	step("\x03", colourBad+"ERROR:"+colourOff+"  57014: the statement was cancelled\r\n"+promptReady)
	step("SELECT 'still' || ' here' AS v;\r", " still here\r\n(1 row)\r\n\r\n"+promptReady)
	step("\x04", "")
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("the console ends with %v:\n%s", err, shown)
		}
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		t.Fatalf("Ctrl-D does not end the console:\n%s", shown)
	}
	after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil || *after != *before {
		t.Errorf("the terminal has the settings %+v, want %+v: %v", after, before, err)
	}
	_ = program.Close()
}

// waitCooked waits until the terminal turns Ctrl-C into a signal, as it does while a statement runs.
func waitCooked(t *testing.T, terminal *os.File) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		state, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		if state.Lflag&unix.ISIG != 0 {
			return
		}
	}
	t.Fatal("the terminal stays raw")
}
