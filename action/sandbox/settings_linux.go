//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"math"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// newSettings computes what the shim has to do. limits are what no cgroup enforces.
func newSettings(c Command, limits Policy) (*shim.Settings, error) {
	p := c.Policy
	stat, err := c.Program.file.Stat()
	if err != nil {
		return nil, err
	}
	file := stat.Sys().(*syscall.Stat_t)
	s := &shim.Settings{
		Namespaces: p.isolation() == Full,
		Confine:    p.isolation() != None,
		Name:       c.Program.name,
		Path:       c.Program.path,
		Device:     file.Dev,
		Inode:      file.Ino,
		Args:       c.Args,
		Env:        c.Env,
		Dir:        p.Dir,
		Result:     c.Result != nil,
		Null:       nullDescriptors(c),
		TempMax:    uint64(p.TempMax),
	}
	if c.Dir != "" {
		s.Dir = c.Dir
	}
	if s.Result {
		s.Env = append(slices.Clone(s.Env), ResultVariable+"=3")
	}
	if s.TempMax == 0 {
		s.TempMax = tempMax
	}
	setUser(s, p)
	if err := setView(s, p); err != nil {
		return nil, err
	}
	return s, setLimits(s, limits, c.Timeout)
}

// nullDescriptors returns which of the first three descriptors are /dev/null, one bit each.
func nullDescriptors(c Command) (bits uint64) {
	for i, missing := range []bool{c.Stdin == nil, c.Stdout == nil, c.Stderr == nil} {
		if missing {
			bits |= 1 << i
		}
	}
	return bits
}

func setUser(s *shim.Settings, p Policy) {
	root := os.Geteuid() == 0
	s.DropAll = root && s.Confine
	if p.User == nil {
		return
	}
	s.SwitchUser, s.UID, s.GID = true, uint64(p.User.UID), uint64(p.User.GID)
	for _, g := range p.User.Groups {
		s.Groups = append(s.Groups, uint64(g))
	}
}

func setView(s *shim.Settings, p Policy) error {
	if !s.Confine {
		if s.Dir == "" {
			s.Dir = "/"
		}
		return nil
	}
	v, err := newView(p)
	if err != nil {
		return err
	}
	host := !s.Namespaces
	s.Filter = filterOf(filterKind{network: p.Network, host: host, truncate: host && landlockVersion() < landlockTruncate})
	s.Landlock = kernelRights(p.Network)
	if s.Namespaces {
		if s.Dir == "" {
			s.Dir = "/tmp"
		}
		s.Mounts, s.Landlock.Rules = v.withHidden(), v.rootRules()
	} else {
		if s.Dir == "" {
			s.Dir = "/"
		}
		if s.Landlock.Rules, err = v.hostRules(); err != nil {
			return err
		}
	}
	s.Landlock.Program = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	for i := range s.Landlock.Rules {
		s.Landlock.Rules[i].Access &= s.Landlock.Files
	}
	return nil
}

// setLimits expresses limits as resource limits of the kernel, which count each process by itself.
func setLimits(s *shim.Settings, p Policy, timeout time.Duration) error {
	limit := func(resource int, value uint64) {
		s.Limits = append(s.Limits, shim.Limit{Resource: uint64(resource), Value: value})
	}
	limit(unix.RLIMIT_CORE, 0)
	if p.Memory > 0 {
		limit(unix.RLIMIT_DATA, uint64(p.Memory))
	}
	if p.CPU > 0 && timeout > 0 {
		limit(unix.RLIMIT_CPU, uint64(max(1, math.Ceil(p.CPU*timeout.Seconds()))))
	}
	if p.FileMax > 0 {
		limit(unix.RLIMIT_FSIZE, uint64(p.FileMax))
	}
	if p.OpenFiles > 0 {
		limit(unix.RLIMIT_NOFILE, uint64(p.OpenFiles))
	}
	if p.Processes == 0 {
		return nil
	}
	return limitProcesses(s, p, limit)
}

// shimThreads is how many threads of the shim count as processes of the same user.
const shimThreads = 10

// limitProcesses sets a limit for the user in the namespace, where the program and the shim are alone. The kernel does not apply it to
// root. It has a limit for the namespace itself, but wraps process numbers to 300.
func limitProcesses(s *shim.Settings, p Policy, limit func(int, uint64)) error {
	uid := os.Geteuid()
	if p.User != nil {
		uid = int(p.User.UID)
	}
	switch {
	case s.Namespaces && uid == 0:
		if hasOwnPIDMax() {
			s.PIDMax = firstPID + uint64(p.Processes) + shimThreads
		}
	case s.Namespaces:
		limit(unix.RLIMIT_NPROC, uint64(p.Processes)+shimThreads)
	case uid != 0:
		running, err := countThreads(uid)
		if err != nil {
			return fmt.Errorf("count the processes of user %d: %w", uid, err)
		}
		limit(unix.RLIMIT_NPROC, uint64(p.Processes+running)+shimThreads)
	}
	return nil
}

const firstPID = 300 // the kernel keeps lower numbers for the time before the first wrap
