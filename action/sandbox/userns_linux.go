//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ownIDs maps every identity that this process can see to itself. kind is uid or gid.
func ownIDs(kind string) (all []syscall.SysProcIDMap) {
	table, err := os.ReadFile("/proc/self/" + kind + "_map")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(table)) {
		var inside, outside, count int
		if n, _ := fmt.Sscan(line, &inside, &outside, &count); n == 3 {
			all = append(all, syscall.SysProcIDMap{ContainerID: inside, HostID: inside, Size: count})
		}
	}
	return all
}

// explainClone says what is missing when the namespaces could not be created.
func explainClone(p Policy, err error) error {
	if p.isolation() != Full {
		return err
	}
	const remedy = "use isolation landlock, or allow namespaces"
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("isolation full: the system allows no more user namespaces (sysctl user.max_user_namespaces); %s: %w", remedy, unsupported(err))
	case errors.Is(err, syscall.EPERM), errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ENOSYS):
		return fmt.Errorf("isolation full: the system refuses namespaces of users (sysctl kernel.unprivileged_userns_clone, AppArmor, "+
			"or the filter of a container); %s: %w", remedy, unsupported(err))
	}
	return err
}

func unsupported(err error) error { return errors.Join(err, errors.ErrUnsupported) }
