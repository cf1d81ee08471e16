//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd

package main

import (
	"os"

	"golang.org/x/term"
)

// hideInput does nothing: the terminal hides what is typed as soon as the password is read.
func hideInput(int) {}

func readHidden(terminal *os.File) ([]byte, error) { return term.ReadPassword(int(terminal.Fd())) }
