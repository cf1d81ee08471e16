package mariatest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"syscall"
)

// configureProcess makes a program end with the thread that starts it, and run as an
// unprivileged user: MariaDB does not run as root.
func configureProcess(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return err
}

// chownToServer changes the owner of a directory to the user that the server runs as.
func chownToServer(dir string) error {
	if os.Getuid() != 0 {
		return nil
	}
	uid, gid, err := unprivileged()
	if err != nil {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// processEnded reports whether no process has this process id.
func processEnded(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// unprivileged returns the user for programs that must not run as root.
func unprivileged() (uid, gid int, err error) {
	account, err := user.Lookup("mysql")
	if err != nil {
		account, err = user.Lookup("nobody")
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%w; MariaDB does not run as root: run the tests as another user, or apt-get install mariadb-server", err)
	}
	if uid, err = strconv.Atoi(account.Uid); err != nil {
		return 0, 0, err
	}
	gid, err = strconv.Atoi(account.Gid)
	return uid, gid, err
}
