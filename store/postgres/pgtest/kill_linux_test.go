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

// TestServerEndsWithItsProcess kills a process that has started a server. The
// server ends by itself; its directory goes when the next cluster is made.
func TestServerEndsWithItsProcess(t *testing.T) {
	victim := exec.Command(os.Args[0], "-test.run=^$")
	victim.Env = append(os.Environ(), envVictim+"=1")
	out, err := victim.StdoutPipe()
	must(t, err)
	must(t, victim.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	var pid int
	var dir string
	if _, err := fmt.Sscan(line, &pid, &dir); err != nil {
		t.Fatalf("it said %q: %v", line, err)
	}
	family := append(childrenOf(pid), pid)
	must(t, victim.Process.Kill())
	_ = victim.Wait()
	for deadline := time.Now().Add(patience); slices.ContainsFunc(family, alive); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("of the processes %v some are still there", family)
		}
	}
	if _, err := os.Stat(dir); err != nil {
		t.Fatalf("its directory: %v", err)
	}
	h, err := newHome()
	must(t, err)
	defer h.remove()
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Errorf("its directory is still there: %v", err)
	}
}

// TestKillLeavesNothing: no process, and once it is closed no file and no memory.
func TestKillLeavesNothing(t *testing.T) {
	c, err := Start("", Options{})
	must(t, err)
	family := append(childrenOf(c.Pid()), c.Pid())
	if len(family) < 4 { // a checkpointer, two writers and more
		t.Fatalf("a server is only %v", family)
	}
	id, found := memoryOf(c.data)
	if !found || !held(t, id) {
		t.Fatalf("a server has no memory: %d", id)
	}
	c.Kill()
	for _, pid := range family {
		if alive(pid) {
			t.Errorf("process %d is still there", pid)
		}
	}
	if _, err := os.Stat(c.data); err != nil {
		t.Errorf("its data: %v", err)
	}
	c.Close()
	if _, err := os.Stat(c.home.dir); !os.IsNotExist(err) {
		t.Errorf("its directory is still there: %v", err)
	}
	if held(t, id) {
		t.Errorf("its memory %d is still there", id)
	}
}

// held says whether there is a piece of System V memory.
func held(t *testing.T, id int) bool {
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
