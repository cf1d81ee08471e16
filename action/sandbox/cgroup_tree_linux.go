//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	groupPrefix = "rota-"
	serverGroup = "rota.server"
)

// tree is the cgroup below which groups of programs are created.
type tree struct {
	path        string
	controllers []string // that its groups have
	canKill     bool     // whether its groups have cgroup.kill
}

var findTree = sync.OnceValue(func() *tree {
	own := ownGroup()
	if own == "" {
		return nil
	}
	for _, choose := range []func(string) *tree{parentTree, delegatedTree, plainTree} {
		if t := choose(own); t != nil {
			t.sweep()
			return t
		}
	}
	return nil
})

// ownGroup returns the directory of the cgroup of this process, in version 2.
func ownGroup() string {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(groups)) {
		if path, is := strings.CutPrefix(strings.TrimSpace(line), "0::"); is {
			return mounted(string(table), path)
		}
	}
	return ""
}

// mounted returns where a path of the cgroup file system is mounted.
func mounted(table, path string) string {
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		fields := strings.Fields(before)
		if !strings.HasPrefix(after, "cgroup2 ") || len(fields) < 5 {
			continue
		}
		rel, err := filepath.Rel(fields[3], path)
		if err == nil && (rel == "." || filepath.IsLocal(rel)) {
			return filepath.Join(fields[4], rel)
		}
	}
	return ""
}

// parentTree is for servers that a service manager has put in a group of their own below the one that it delegates.
func parentTree(own string) *tree {
	if parent := filepath.Dir(own); delegated(parent) {
		if found := words(filepath.Join(parent, "cgroup.subtree_control")); len(found) > 0 {
			return newTree(parent, found)
		}
	}
	return nil
}

// delegatedTree moves this process into a group of its own, because a group with processes cannot give controllers to others.
func delegatedTree(own string) *tree {
	if !delegated(own) {
		return nil
	}
	server := filepath.Join(own, serverGroup)
	if err := os.Mkdir(server, 0o755); err != nil && !os.IsExist(err) {
		return nil
	}
	if os.WriteFile(filepath.Join(server, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0) != nil {
		return nil
	}
	var got []string
	for _, controller := range words(filepath.Join(own, "cgroup.controllers")) {
		if !slices.Contains([]string{"memory", "pids", "cpu"}, controller) {
			continue
		}
		if os.WriteFile(filepath.Join(own, "cgroup.subtree_control"), []byte("+"+controller), 0) == nil {
			got = append(got, controller)
		}
	}
	return newTree(own, got)
}

// plainTree is for killing only: the group of this process, if groups can be created in it.
func plainTree(own string) *tree { return newTree(own, nil) }

func newTree(path string, controllers []string) *tree {
	t := &tree{path: path, controllers: controllers}
	probe := filepath.Join(path, groupPrefix+strconv.Itoa(os.Getpid())+"-0")
	if os.Mkdir(probe, 0o755) != nil {
		return nil
	}
	_, err := os.Stat(filepath.Join(probe, "cgroup.kill"))
	t.canKill = err == nil
	_ = os.Remove(probe)
	return t
}

// delegated says whether the service manager has left a group to this process. A server that runs as root could write to any group.
func delegated(path string) bool {
	for _, name := range []string{"user.delegate", "trusted.delegate"} {
		var value [4]byte
		if n, err := unix.Getxattr(path, name, value[:]); err == nil && string(value[:n]) == "1" {
			return unix.Access(filepath.Join(path, "cgroup.procs"), unix.W_OK) == nil
		}
	}
	return false
}

// sweep removes the groups of servers that have died. It is called before this process has created any, so a group with its number
// belongs to an earlier process: in a container, the server often has the same number after a restart.
func (t *tree) sweep() {
	dirs, _ := filepath.Glob(filepath.Join(t.path, groupPrefix+"*-*"))
	for _, dir := range dirs {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), groupPrefix), "-")
		if _, err := os.Stat("/proc/" + pid); os.IsNotExist(err) || pid == strconv.Itoa(os.Getpid()) {
			_ = os.Remove(dir)
		}
	}
}

// limitWarnings names the limits for which there is no controller.
func limitWarnings(isolation Isolation) (all []string) {
	const remedy = "; with systemd, Delegate=yes and DelegateSubgroup=server in the unit delegates it"
	t := findTree()
	if !t.has("memory") {
		all = append(all, "memory: no cgroup controller is delegated to the server, so the limit holds for the private memory of each "+
			"process by itself (RLIMIT_DATA)"+remedy)
	}
	if !t.has("cpu") {
		all = append(all, "cpu: no cgroup controller is delegated to the server, so each process by itself may use processors × time-out "+
			"of processor time (RLIMIT_CPU)"+remedy)
	}
	if !t.has("pids") {
		all = append(all, processWarning(isolation)+remedy)
	}
	return all
}

func processWarning(isolation Isolation) string {
	const missing = "processes: no cgroup controller is delegated to the server, so "
	switch {
	case isolation == Full && os.Geteuid() != 0:
		return missing + "threads of the shim count, too (RLIMIT_NPROC in the namespace)"
	case isolation == Full && hasOwnPIDMax():
		return missing + "programs that run as root may have up to 300 more (kernel.pid_max of the namespace)"
	case isolation == Full:
		return missing + "programs that run as root are not limited before Linux 6.14; set user"
	case os.Geteuid() != 0:
		return missing + "all other processes of the user count, too (RLIMIT_NPROC)"
	}
	return missing + "programs that run as root are not limited; set user"
}
