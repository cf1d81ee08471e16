//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// Probe is ProbePolicy for an isolation without the network and hidden paths.
func Probe(isolation Isolation) (warnings []string, err error) {
	return ProbePolicy(Policy{Isolation: isolation})
}

// ProbePolicy returns an error that names what this system lacks for a policy, and warnings that name what it does in a weaker form. It
// reads Isolation and Network, and refuses Hidden as [Policy.Resolve] does. The error wraps errors.ErrUnsupported if a part is missing
// that another kernel or setting has.
//
// Call it at start for each isolation that occurs. It starts a process for some milliseconds and changes nothing.
func ProbePolicy(p Policy) (warnings []string, err error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if _, err := p.Resolve(); err != nil {
		return nil, err
	}
	isolation := p.isolation()
	if isolation != None {
		if err := probeConfinement(isolation); err != nil {
			return nil, err
		}
	}
	warnings = append(limitWarnings(isolation), scopeWarnings(isolation, p.Network)...)
	if isolation == Full {
		return warnings, probeFull()
	}
	return warnings, probeShim(isolation)
}

func probeConfinement(isolation Isolation) error {
	if landlockVersion() == 0 {
		return fmt.Errorf("isolation %s: this kernel has no Landlock (Linux 5.13, CONFIG_SECURITY_LANDLOCK, and landlock in the "+
			"parameter lsm=); enable it, or use isolation none, where programs can do what the user of the server can do: %w", isolation, errors.ErrUnsupported)
	}
	if !hasFilter() {
		return fmt.Errorf("isolation %s: this kernel has no seccomp filter (CONFIG_SECCOMP_FILTER); use isolation none, where programs "+
			"can do what the user of the server can do: %w", isolation, errors.ErrUnsupported)
	}
	return nil
}

// scopeWarnings names what only the scopes of Landlock separate. Abstract sockets belong to the network namespace.
func scopeWarnings(isolation Isolation, network bool) []string {
	switch {
	case isolation == None || landlockVersion() >= landlockScopes:
	case isolation == Landlock && network:
		return []string{"isolation landlock: before Linux 6.12 programs can send signals to other processes of their user, the server " +
			"among them, and with the network connect to abstract sockets"}
	case isolation == Landlock:
		return []string{"isolation landlock: before Linux 6.12 programs can send signals to other processes of their user, the server among them"}
	case network:
		return []string{"isolation full: before Linux 6.12 programs with the network can connect to abstract sockets of the machine"}
	}
	return nil
}

func hasFilter() bool {
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, errno := syscall.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return errno == 0
}

// namespaces of full isolation.
var namespaces = []struct {
	flag uintptr
	name string
}{
	{unix.CLONE_NEWUSER, "user"},
	{unix.CLONE_NEWNS, "mnt"},
	{unix.CLONE_NEWPID, "pid"},
	{unix.CLONE_NEWNET, "net"},
	{unix.CLONE_NEWIPC, "ipc"},
	{unix.CLONE_NEWUTS, "uts"},
}

// probeFull looks for each kind of namespace, then isolates a shim, to find what only the whole shows.
func probeFull() error {
	for _, n := range namespaces {
		if _, err := os.Stat("/proc/self/ns/" + n.name); err != nil {
			return fmt.Errorf("isolation full: this kernel has no namespaces of kind %s; use isolation landlock: %w", n.name, errors.ErrUnsupported)
		}
	}
	return probeShim(Full)
}

// probeShim does everything but executing a program.
func probeShim(isolation Isolation) error {
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return err
	}
	c := Command{Program: &Program{name: "nothing", file: nothing}, Policy: Policy{Isolation: isolation, Processes: 10}}
	defer c.Program.Close()
	settings, err := newSettings(c, c.Policy)
	if err != nil {
		return err
	}
	settings.Probe = true
	p := &Process{isolation: isolation, ended: make(chan struct{})}
	if err := p.start(c, settings); err != nil {
		if strings.Contains(err.Error(), shim.RefusedProc) || strings.Contains(err.Error(), shim.TooOld) {
			err = errors.Join(err, errors.ErrUnsupported)
		}
		return fmt.Errorf("isolation %s: %w", isolation, err)
	}
	_, err = p.Wait()
	return err
}
