package dyntest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// envVictim is set in a process that starts servers and waits to be killed.
const envVictim = "ROTA_DYNTEST_VICTIM"

// TestKilledProcessEndsItsServers kills a process that has started servers. They must end.
func TestKilledProcessEndsItsServers(t *testing.T) {
	if os.Getenv(envVictim) != "" {
		fmt.Println(Start(t, Dynoxide).process.cmd.Process.Pid, Start(t, Dynalite).process.cmd.Process.Pid)
		select {}
	}
	victim := exec.Command(os.Args[0], "-test.run=^TestKilledProcessEndsItsServers$")
	victim.Env = append(os.Environ(), envVictim+"=1")
	out, err := victim.StdoutPipe()
	must(t, err)
	must(t, victim.Start())
	line, _ := bufio.NewReader(out).ReadString('\n')
	must(t, victim.Process.Kill())
	_ = victim.Wait()
	pids := make([]int, 2)
	if _, err := fmt.Sscan(line, &pids[0], &pids[1]); err != nil {
		t.Fatalf("the process wrote %q: %v", line, err)
	}
	for _, pid := range pids {
		for deadline := time.Now().Add(timeout); alive(pid); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("process %d still runs", pid)
			}
		}
	}
}

// alive reports whether a process exists and is no zombie, which remains where no process waits for orphans.
func alive(pid int) bool {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	var id int
	var name, state string
	_, _ = fmt.Sscan(string(text), &id, &name, &state)
	return err == nil && syscall.Kill(pid, 0) == nil && state != "Z"
}
