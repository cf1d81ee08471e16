package pgtest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestKilledProcessEndsItsServer kills a process that has started a server. The server must end,
// and the next cluster must remove its directory.
func TestKilledProcessEndsItsServer(t *testing.T) {
	victim := exec.Command(os.Args[0], "-test.run=^$")
	victim.Env = append(os.Environ(), envVictim+"=1")
	out, err := victim.StdoutPipe()
	must(t, err)
	must(t, victim.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pid int
	var dir string
	if _, err := fmt.Sscan(line, &pid, &dir); err != nil {
		t.Fatalf("the process wrote %q: %v", line, err)
	}
	tree := append(childrenOf(pid), pid)
	must(t, victim.Process.Kill())
	_ = victim.Wait()
	for deadline := time.Now().Add(timeout); slices.ContainsFunc(tree, alive); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("some of the processes %v still run", tree)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("the directory of the server is gone: %v", err)
	}
	h, err := newClusterDir()
	must(t, err)
	defer h.remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("the directory still exists: %v", err)
	}
}

// TestKillLeavesNoProcessFileOrMemory checks that Kill ends all processes, and Close removes files
// and shared memory.
func TestKillLeavesNoProcessFileOrMemory(t *testing.T) {
	c, err := Start("", Options{})
	must(t, err)
	tree := append(childrenOf(c.Pid()), c.Pid())
	if len(tree) < 4 { // the main process, a checkpointer, two writers and more
		t.Fatalf("the server has only the processes %v", tree)
	}
	id, found := sharedMemoryOf(c.data)
	if !found || !hasSharedMemory(t, id) {
		t.Fatalf("the server has no shared memory: %d", id)
	}
	c.Kill()
	for _, pid := range tree {
		if alive(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
	if _, err := os.Stat(c.data); err != nil {
		t.Errorf("the data directory is gone: %v", err)
	}
	c.Close()
	if _, err := os.Stat(c.dir.path); !os.IsNotExist(err) {
		t.Errorf("the directory still exists: %v", err)
	}
	if hasSharedMemory(t, id) {
		t.Errorf("the shared memory %d still exists", id)
	}
}

// hasSharedMemory reports whether a System V shared memory segment exists.
func hasSharedMemory(t *testing.T, id int) bool {
	t.Helper()
	table, err := os.ReadFile("/proc/sysvipc/shm")
	must(t, err)
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[1] == strconv.Itoa(id) {
			return true
		}
	}
	return false
}
