package pgtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// setProcAttr has a program end with the thread that starts it, and run as an unprivileged user:
// PostgreSQL and PgBouncer refuse to run as root.
func setProcAttr(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return err
}

// chownToServerUser changes the owner of a directory to the user of the server.
func chownToServerUser(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// unprivileged returns the user that runs the server if this process runs as root.
func unprivileged() (uid, gid int, err error) {
	account, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, fmt.Errorf("%w; PostgreSQL does not run as root: run the tests as another user, or apt-get install postgresql", err)
	}
	if uid, err = strconv.Atoi(account.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(account.Gid)
	return uid, gid, err
}

func tryLock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// killTree kills a process and its children before any of them can react to the end of another.
func killTree(c *process) {
	c.signal(syscall.SIGSTOP) // so that it starts no more children
	for deadline := time.Now().Add(timeout); !stopped(c.pid) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond) // the signal takes effect after the call
	}
	tree := childrenOf(c.pid)
	for _, pid := range tree {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	c.signal(syscall.SIGKILL)
	<-c.exited
	for _, pid := range tree {
		for deadline := time.Now().Add(timeout); alive(pid) && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
	}
}

func childrenOf(parent int) (pids []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat") // its only error is a bad pattern
	for _, file := range stats {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if _, of := stateOf(pid); err == nil && of == parent {
			pids = append(pids, pid)
		}
	}
	return pids
}

// stopped reports whether a process is stopped or has ended.
func stopped(pid int) bool {
	state, _ := stateOf(pid)
	return state == "T" || !alive(pid)
}

func alive(pid int) bool {
	state, _ := stateOf(pid)
	return state != "" && state != "Z"
}

// stateOf returns the state and the parent of a process, or "" if it has ended.
func stateOf(pid int) (state string, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ") // after the name, which may contain spaces and parentheses
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// removeSharedMemory removes the shared memory segment of a killed server.
func removeSharedMemory(data string) {
	if id, found := sharedMemoryOf(data); found {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}

// sharedMemoryOf returns the System V segment that marks a data directory as in use, unless the
// server has removed it.
func sharedMemoryOf(data string) (id int, found bool) {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	lines := strings.Split(string(text), "\n")
	const line, idField = 6, 1
	if err != nil || len(lines) <= line {
		return 0, false
	}
	fields := strings.Fields(lines[line])
	if len(fields) <= idField {
		return 0, false
	}
	id, err = strconv.Atoi(fields[idField])
	return id, err == nil
}
