//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// shimMemory is what the shim needs of the memory of a group.
const shimMemory = 16 << 20

// removeMax bounds the time until the kernel has no process in a killed group.
const removeMax = 5 * time.Second

// cgroup is the group of one program. The methods accept nil, for programs without one.
type cgroup struct {
	path string
	dir  *os.File
}

var groupCount atomic.Int64

// newCgroup creates a group with the limits of a policy, and returns the policy without those that the group enforces. Full isolation
// needs a group for limits only. Other isolations use it to kill everything at once.
func newCgroup(p Policy) (*cgroup, Policy, error) {
	t := findTree()
	limits := t.limits(p)
	if t == nil || len(limits) == 0 && (p.isolation() == Full || !t.canKill) {
		return nil, p, nil
	}
	path, err := t.create()
	if err != nil {
		return nil, p, fmt.Errorf("create a cgroup: %w", err)
	}
	g := &cgroup{path: path}
	err = g.set(limits)
	if err == nil {
		g.dir, err = os.Open(path)
	}
	if err != nil {
		return nil, p, errors.Join(fmt.Errorf("set the limits of a cgroup: %w", err), os.Remove(path))
	}
	for _, l := range limits {
		l.enforced(&p)
	}
	return g, p, nil
}

const createTries = 1000

// create creates a group. A number is in use if a process of an earlier server survives in the group.
func (t *tree) create() (path string, err error) {
	for range createTries {
		path = filepath.Join(t.path, fmt.Sprintf("%s%d-%d", groupPrefix, os.Getpid(), groupCount.Add(1)))
		if err = os.Mkdir(path, 0o755); !errors.Is(err, os.ErrExist) {
			break
		}
	}
	return path, err
}

func (g *cgroup) set(limits []groupLimit) error {
	for _, l := range limits {
		for _, f := range l.files {
			err := os.WriteFile(filepath.Join(g.path, f.name), []byte(f.value), 0)
			if err != nil && !(f.optional && errors.Is(err, os.ErrNotExist)) {
				return err
			}
		}
	}
	return nil
}

// kill ends every process of the group, the shim among them.
func (g *cgroup) kill() error {
	if g == nil {
		return nil
	}
	err := os.WriteFile(filepath.Join(g.path, "cgroup.kill"), []byte("1"), 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil // before Linux 5.14
	}
	return err
}

// endsAll says whether kill reaches every process of the group.
func (g *cgroup) endsAll() bool {
	if g == nil {
		return false
	}
	_, err := os.Stat(filepath.Join(g.path, "cgroup.kill"))
	return err == nil
}

func (g *cgroup) remove() error {
	if g == nil {
		return nil
	}
	_ = g.dir.Close()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		err := syscall.Rmdir(g.path)
		if err == nil || err == syscall.ENOENT {
			return nil
		}
		if err != syscall.EBUSY || time.Since(begin) > removeMax {
			return fmt.Errorf("remove the cgroup %s: %w", g.path, err)
		}
	}
}

// outOfMemory says whether the kernel has killed a process of the group for its memory.
func (g *cgroup) outOfMemory() bool {
	if g == nil {
		return false
	}
	events, err := os.ReadFile(filepath.Join(g.path, "memory.events"))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(events)) {
		if count, is := strings.CutPrefix(strings.TrimSpace(line), "oom_kill "); is {
			return count != "0"
		}
	}
	return false
}

// groupLimit is a limit that a group enforces.
type groupLimit struct {
	files    []groupFile
	enforced func(*Policy) // removes the limit from a policy
}

type groupFile struct {
	name, value string
	optional    bool // not on every kernel
}

// limits returns those limits of a policy for which the tree has a controller.
func (t *tree) limits(p Policy) (all []groupLimit) {
	if t.has("memory") && p.Memory > 0 {
		all = append(all, groupLimit{[]groupFile{
			{"memory.max", strconv.FormatInt(p.Memory+shimMemory, 10), false},
			{"memory.swap.max", "0", true},
			{"memory.oom.group", "1", true},
		}, func(p *Policy) { p.Memory = 0 }})
	}
	if t.has("pids") && p.Processes > 0 {
		all = append(all, groupLimit{[]groupFile{
			{"pids.max", strconv.Itoa(p.Processes + shimThreads), false},
		}, func(p *Policy) { p.Processes = 0 }})
	}
	if t.has("cpu") && p.CPU > 0 {
		const period = 100_000 // µs
		quota := max(1000, math.Ceil(p.CPU*period))
		all = append(all, groupLimit{[]groupFile{
			{"cpu.max", fmt.Sprintf("%.0f %d", quota, period), false},
		}, func(p *Policy) { p.CPU = 0 }})
	}
	return all
}

// has says whether groups of the tree have a controller.
func (t *tree) has(controller string) bool {
	return t != nil && slices.Contains(t.controllers, controller)
}

func words(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Fields(string(bytes.TrimSpace(text)))
}
