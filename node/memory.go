package node

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

const (
	memoryLimitMin = 64 << 20
	memoryAutoMax  = 512 << 20
)

// GoMemoryLimit is the memory limit for package runtime/debug: the configured one, or else half of the memory that the
// machine or its control group has, at most 512 MiB. The other half is for SQLite, the page cache and other processes. A
// server keeps little memory alive, so that 512 MiB are enough for it.
func (c Config) GoMemoryLimit() int64 {
	if c.MemoryLimit > 0 {
		return c.MemoryLimit
	}
	return automaticLimit("/")
}

// automaticLimit is the limit for the system whose files are below root.
func automaticLimit(root string) int64 {
	most := min(machineMemory(root), groupMemory(root))
	if most == math.MaxInt64 {
		return memoryAutoMax
	}
	return max(memoryLimitMin, min(memoryAutoMax, most/2))
}

// machineMemory is the memory of the machine; math.MaxInt64 if the system does not report it.
func machineMemory(root string) int64 {
	text, err := os.ReadFile(filepath.Join(root, "proc/meminfo"))
	if err != nil {
		return math.MaxInt64
	}
	_, rest, _ := strings.Cut(string(text), "MemTotal:")
	if fields := strings.Fields(rest); len(fields) > 0 {
		if kilobytes, err := strconv.ParseInt(fields[0], 10, 53); err == nil {
			return kilobytes << 10
		}
	}
	return math.MaxInt64
}

// groupMemory is the smallest limit of the control groups of this process (version 2 or 1); math.MaxInt64 without one.
func groupMemory(root string) int64 {
	text, err := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	if err != nil {
		return math.MaxInt64
	}
	most := int64(math.MaxInt64)
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		dir, file := "", ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			dir, file = "sys/fs/cgroup", "memory.max"
		case strings.Contains(","+parts[1]+",", ",memory,"):
			dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for path := filepath.Clean("/" + parts[2]); ; path = filepath.Dir(path) { // a parent may have a lower limit
			most = min(most, readLimit(filepath.Join(root, dir, path, file)))
			if path == "/" {
				break
			}
		}
	}
	return most
}

func readLimit(path string) int64 {
	text, err := os.ReadFile(path)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 { // "max": no limit
		return math.MaxInt64
	}
	return n
}
