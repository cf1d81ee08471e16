//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// killSession kills the processes of a session whose first process, the shim, was killed. Nobody may have waited for the shim yet:
// until then the kernel does not use its number again. A process that cannot be killed is left.
func killSession(shim int) {
	pause := time.Millisecond
	for end := time.Now().Add(endMax); time.Now().Before(end); pause = min(2*pause, 100*time.Millisecond) {
		members, killed := sessionMembers(shim), 0
		for _, pid := range members {
			if killMember(pid, shim) {
				killed++
			}
		}
		if killed == 0 {
			return
		}
		time.Sleep(pause)
	}
}

func sessionMembers(session int) (pids []int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil && pid != session && inSession(pid, session) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMember kills a process if it is in the session: its number may belong to another process by now.
func killMember(pid, session int) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	return inSession(pid, session) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil
}

// inSession says whether a process is in a session and has not ended.
func inSession(pid, session int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// The name of the program is in parentheses and may contain some. State, parent, process group and session follow.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return len(fields) > 3 && fields[3] == strconv.Itoa(session) && fields[0] != "Z" && fields[0] != "X"
}
