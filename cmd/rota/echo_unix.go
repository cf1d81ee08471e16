//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideInput lets a terminal show nothing of what is typed, and pass on each character at once: a line that the terminal
// collects itself is cut after 4,095 bytes. It does nothing if that fails.
func hideInput(fd int) {
	if state, err := unix.IoctlGetTermios(fd, getTerminal); err == nil {
		state.Lflag &^= unix.ECHO | unix.ICANON
		state.Cc[unix.VMIN], state.Cc[unix.VTIME] = 1, 0
		_ = unix.IoctlSetTermios(fd, setTerminal, state)
	}
}

// readHidden reads a line from a terminal after hideInput.
func readHidden(terminal *os.File) ([]byte, error) { return readHiddenLine(terminal) }
