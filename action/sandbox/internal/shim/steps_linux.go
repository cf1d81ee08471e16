//go:build amd64 || arm64

package shim

import (
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	prSetSecurebits   = 28
	noRootLocked      = 0x3 // root has no capabilities after exec, for good
	secureMode        = 1   // of seccomp: install a filter
	restrictNoNewPriv = 1
)

// prepare lists what the child does. The filter of system calls comes last, because it would stop the other steps.
func (c *child) prepare(s *Settings, ruleset int) error {
	c.add("create a process group", syscall.SYS_SETPGID, 0, 0)
	c.add("end with the shim", syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL))
	if err := c.enterDir(s); err != nil {
		return err
	}
	path, err := c.files(s)
	if err != nil {
		return err
	}
	c.becomeUser(s)
	for i := range s.Limits {
		l := &s.Limits[i]
		hard := l.Value
		if l.Resource == unix.RLIMIT_CPU {
			hard++ // the kernel sends SIGXCPU at the soft limit, and SIGKILL at the hard one
		}
		value := c.pointer(unsafe.Pointer(&[2]uint64{l.Value, hard}))
		c.add("set resource limit "+strconv.FormatUint(l.Resource, 10), syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), value, 0)
	}
	action := c.pointer(unsafe.Pointer(&[8]uint64{}))
	for _, sig := range ignored {
		c.add("reset a signal", syscall.SYS_RT_SIGACTION, uintptr(sig), action, 0, 8)
	}
	return c.execute(s, path, ruleset)
}

func (c *child) enterDir(s *Settings) error {
	if s.SwitchUser {
		return nil // becomeUser does it later, with the rights of the user
	}
	return c.chdir(s.Dir)
}

func (c *child) chdir(dir string) error {
	p, err := c.text(dir)
	c.add("enter the working directory "+dir, syscall.SYS_CHDIR, p)
	return err
}

// files places the result at descriptor 3. It returns the path to execute. A script that is executed by its descriptor needs it open.
func (c *child) files(s *Settings) (path string, err error) {
	path = s.Path
	if !s.Namespaces || path == "" {
		const kept = 10
		c.add("keep the program open", syscall.SYS_DUP3, programFD, kept, 0)
		path = "/proc/self/fd/" + strconv.Itoa(kept)
	}
	if s.Result {
		c.add("pass the result", syscall.SYS_DUP3, resultFD, 3, 0)
	}
	return path, nil
}

// becomeUser gives up all capabilities, and all identities but one. The filter of system calls needs no capability, because no new
// privileges are allowed.
func (c *child) becomeUser(s *Settings) {
	if s.DropAll {
		c.add("lock the capabilities of root", syscall.SYS_PRCTL, prSetSecurebits, noRootLocked)
		for i := uintptr(0); i <= unix.CAP_LAST_CAP; i++ {
			c.add("drop a capability", syscall.SYS_PRCTL, unix.PR_CAPBSET_DROP, i)
		}
	}
	if s.SwitchUser {
		groups := make([]uint32, len(s.Groups)+1)
		for i, g := range s.Groups {
			groups[i] = uint32(g)
		}
		c.add("set the groups of the user", syscall.SYS_SETGROUPS, uintptr(len(s.Groups)), c.pointer(unsafe.Pointer(&groups[0])))
		c.add("become the group of the user", syscall.SYS_SETRESGID, uintptr(s.GID), uintptr(s.GID), uintptr(s.GID))
		c.add("become the user", syscall.SYS_SETRESUID, uintptr(s.UID), uintptr(s.UID), uintptr(s.UID))
		c.add("end with the shim", syscall.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL))
		_ = c.chdir(s.Dir)
	}
	if s.Confine {
		c.add("drop ambient capabilities", syscall.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL)
		header := c.pointer(unsafe.Pointer(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}))
		c.add("drop capabilities", syscall.SYS_CAPSET, header, c.pointer(unsafe.Pointer(&[2]unix.CapUserData{})))
	}
}

func (c *child) execute(s *Settings, path string, ruleset int) error {
	if s.Confine {
		c.add("refuse new privileges", syscall.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, restrictNoNewPriv)
		c.add("restrict by Landlock", unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(ruleset), 0)
		filter := unix.SockFprog{Len: uint16(len(s.Filter) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(unsafe.SliceData(s.Filter)))}
		c.keep = append(c.keep, s.Filter)
		c.add("filter system calls", unix.SYS_SECCOMP, secureMode, 0, c.pointer(unsafe.Pointer(&filter)))
	}
	if s.Probe {
		c.add("end", syscall.SYS_EXIT_GROUP, 0)
		return nil
	}
	name, err := c.text(path)
	if err != nil {
		return err
	}
	args, err := c.texts(append([]string{s.Name}, s.Args...)...)
	if err != nil {
		return err
	}
	env, err := c.texts(s.Env...)
	if err != nil {
		return err
	}
	c.add("unblock signals", syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, c.pointer(unsafe.Pointer(new(uint64))), 0, 8)
	c.add("execute", syscall.SYS_EXECVE, name, args, env)
	return nil
}
