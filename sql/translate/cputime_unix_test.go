//go:build unix

package translate_test

import (
	"syscall"
	"testing"
	"time"
)

// cpuTime is the processor time that this process has had. It does not grow while
// others have the machine.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
