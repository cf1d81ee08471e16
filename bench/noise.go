package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// noise is the influence of the machine on a run. Runs with different noise are not comparable.
type noise struct {
	fsync time.Duration // median time of a write and sync of 4 KiB in the same directory
	steal float64       // percent of processor time taken by other virtual machines
	other float64       // percent of processor time used by other processes of this machine
}

const (
	fsyncBytes = 4 << 10
	fsyncCount = 31
)

// fsyncTime measures how long the disk takes to make a page durable.
func fsyncTime(dir string) (time.Duration, error) {
	file, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(file.Name())
	defer file.Close()
	page := make([]byte, fsyncBytes)
	times := make([]time.Duration, fsyncCount)
	for i := range times {
		begun := time.Now()
		if _, err := file.Write(page); err != nil {
			return 0, err
		}
		if err := unix.Fdatasync(int(file.Fd())); err != nil {
			return 0, err
		}
		times[i] = time.Since(begun)
	}
	slices.Sort(times)
	return times[len(times)/2], nil
}

// processors is the use of the processors so far, in ticks, from the first line of /proc/stat.
type processors struct {
	all, busy, steal float64
	own              time.Duration // processor time of this process and its children
}

// since returns the noise between two readings.
func (p processors) since(before processors) (n noise) {
	all := p.all - before.all
	if all == 0 {
		return n
	}
	own := (p.own - before.own).Seconds() * ticksPerSecond
	n.steal = 100 * (p.steal - before.steal) / all
	n.other = max(0, 100*(p.busy-before.busy-own)/all)
	return n
}

const ticksPerSecond = 100 // USER_HZ, the same on every Linux

// The columns of /proc/stat. The guest times that follow are already part of the user time.
const (
	columnIdle   = 3
	columnIOWait = 4
	columnSteal  = 7
)

func readProcessors() (p processors, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return p, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line)
	if len(fields) < columnSteal+2 || fields[0] != "cpu" {
		return p, fmt.Errorf("/proc/stat begins with %q", line)
	}
	for column, field := range fields[1 : columnSteal+2] {
		ticks, err := strconv.ParseFloat(field, 64)
		if err != nil {
			return p, fmt.Errorf("/proc/stat: %w", err)
		}
		p.all += ticks
		switch column {
		case columnIdle, columnIOWait:
		case columnSteal:
			p.steal = ticks
		default:
			p.busy += ticks
		}
	}
	p.own = usageOf(unix.RUSAGE_SELF) + usageOf(unix.RUSAGE_CHILDREN)
	return p, nil
}

// disk describes the file system of the benchmark files.
type disk struct {
	kind   string
	memory bool // nothing is written to a disk, so the figures mean nothing
}

func diskOf(dir string) (disk, error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return disk{}, err
	}
	switch int64(stat.Type) {
	case unix.TMPFS_MAGIC:
		return disk{kind: "tmpfs", memory: true}, nil
	case unix.RAMFS_MAGIC:
		return disk{kind: "ramfs", memory: true}, nil
	case unix.EXT4_SUPER_MAGIC:
		return disk{kind: "ext4"}, nil
	case unix.XFS_SUPER_MAGIC:
		return disk{kind: "xfs"}, nil
	case unix.BTRFS_SUPER_MAGIC:
		return disk{kind: "btrfs"}, nil
	case unix.OVERLAYFS_SUPER_MAGIC:
		return disk{kind: "overlayfs"}, nil
	}
	return disk{kind: fmt.Sprintf("filesystem %#x", stat.Type)}, nil
}
