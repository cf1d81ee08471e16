package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// spent is what something took. Processor time is the whole process's, with
// the collection of garbage; what was written is all that it passed to the
// system, logs and their writing back included. Both hold still when
// neighbours do not.
type spent struct {
	wall, processor time.Duration
	written         int64 // bytes
}

// measure adds what an act takes.
func (s *spent) measure(act func() error) error {
	written, err := bytesWritten()
	if err != nil {
		return err
	}
	begun, used := time.Now(), processorUsed()
	if err := act(); err != nil {
		return err
	}
	s.add(spent{wall: time.Since(begun), processor: processorUsed() - used})
	after, err := bytesWritten()
	s.written += after - written
	return err
}

func (s *spent) add(other spent) {
	s.wall += other.wall
	s.processor += other.processor
	s.written += other.written
}

// processorUsed is the processor time of this process so far.
func processorUsed() time.Duration { return usageOf(unix.RUSAGE_SELF) }

func usageOf(who int) time.Duration {
	var usage unix.Rusage
	if err := unix.Getrusage(who, &usage); err != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// bytesWritten is what this process has passed to the system so far.
func bytesWritten() (int64, error) {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if count, found := bytes.CutPrefix(line, []byte("wchar: ")); found {
			return strconv.ParseInt(string(bytes.TrimSpace(count)), 10, 64)
		}
	}
	return 0, fmt.Errorf("/proc/self/io does not say what was written")
}
