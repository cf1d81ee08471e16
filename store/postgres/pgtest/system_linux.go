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

// dress has a program end with the thread that starts it, and be nobody special:
// neither PostgreSQL nor PgBouncer runs as root.
func dress(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT, Setpgid: true}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return err
}

// giveAway gives a directory to the user that the server runs as.
func giveAway(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// unprivileged is who runs what root must not.
func unprivileged() (uid, gid int, err error) {
	who, err := user.Lookup("postgres")
	if err != nil {
		return 0, 0, fmt.Errorf("%w; PostgreSQL does not run as root: run the tests as another user, or apt-get install postgresql", err)
	}
	if uid, err = strconv.Atoi(who.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(who.Gid)
	return uid, gid, err
}

func tryLock(file *os.File) error { return unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// killFamily kills a process and those that it started, before any of them sees
// another go.
func killFamily(c *child) {
	c.signal(syscall.SIGSTOP) // so that it starts no more
	family := childrenOf(c.pid)
	for _, pid := range family {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	c.signal(syscall.SIGKILL)
	<-c.over
	for _, pid := range family {
		for deadline := time.Now().Add(patience); alive(pid) && time.Now().Before(deadline); {
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

func alive(pid int) bool {
	state, _ := stateOf(pid)
	return state != "" && state != "Z"
}

// stateOf is what a process does, and who its parent is. One that is gone does
// nothing.
func stateOf(pid int) (state string, parent int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text[bytes.LastIndexByte(text, ')')+1:]), " ") // after its name, which may be anything
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// freeMemory gives back the memory of a server that was killed.
func freeMemory(data string) {
	if id, found := memoryOf(data); found {
		_, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil)
	}
}

// memoryOf is the piece of System V memory by which servers tell that their data
// is in use, unless the server has given it back.
func memoryOf(data string) (id int, found bool) {
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
