//go:build !linux

package pgtest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// On other systems servers run as the user of the test, and the files of killed tests stay.

func setProcAttr(*exec.Cmd) error { return nil }

func chownToServerUser(string) error { return nil }

func tryLock(*os.File) error { return errors.ErrUnsupported }

func killTree(c *process) {
	c.signal(syscall.SIGKILL) // the other processes of the server notice and exit
	<-c.exited
}

func removeSharedMemory(string) {}
