//go:build !linux

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// Elsewhere servers are started as who we are, and what a test that was killed
// leaves is left.

func dress(*exec.Cmd) error { return nil }

func giveAway(string) error { return nil }

func tryLock(*os.File) error { return errors.ErrUnsupported }

func killFamily(c *child) {
	c.signal(syscall.SIGKILL) // the others see that it is gone, and go
	<-c.over
}

func freeMemory(string) {}
