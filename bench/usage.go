package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// usage is the cost of some work. The processor time is that of the whole process, including garbage collection. The
// bytes written are all that it passed to the system, including logs and checkpoints. Both are independent of the noise
// of the machine.
type usage struct {
	wall, processor time.Duration
	written         int64 // bytes
}

// measure adds the usage of a function.
func (s *usage) measure(work func() error) error {
	written, err := bytesWritten()
	if err != nil {
		return err
	}
	begun, used := time.Now(), processorUsed()
	if err := work(); err != nil {
		return err
	}
	s.add(usage{wall: time.Since(begun), processor: processorUsed() - used})
	after, err := bytesWritten()
	s.written += after - written
	return err
}

func (s *usage) add(other usage) {
	s.wall += other.wall
	s.processor += other.processor
	s.written += other.written
}

// processorUsed returns the processor time of this process so far.
func processorUsed() time.Duration { return usageOf(unix.RUSAGE_SELF) }

func usageOf(target int) time.Duration {
	var rusage unix.Rusage
	if err := unix.Getrusage(target, &rusage); err != nil {
		return 0
	}
	return time.Duration(rusage.Utime.Nano() + rusage.Stime.Nano())
}

// bytesWritten returns the bytes that this process has passed to the system so far.
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
	return 0, fmt.Errorf("/proc/self/io has no line wchar")
}
