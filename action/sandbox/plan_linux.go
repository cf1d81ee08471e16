//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rotajobs/rota/action/sandbox/internal/shim"
	"golang.org/x/sys/unix"
)

// Rights of Landlock. A kernel that is too old for some of them gets the others; see [kernelRights].
const (
	rightsRead  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsWrite = rightsRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	rightsDevice = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV | unix.LANDLOCK_ACCESS_FS_READ_DIR
	rightsAll = rightsWrite | rightsDevice | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

// view is what a program sees of the file system.
type view struct {
	mounts     []shim.Mount // files and directories in the order of their paths, then links
	hidden     []string     // without symbolic links
	changeable []string     // as in Policy.changeable
}

// Resolve returns the policy with the paths of Hidden free of symbolic links. It refuses a link that programs can change, as Start does:
// the program that runs before another one could choose what is hidden from it.
func (p Policy) Resolve() (Policy, error) {
	v := &view{changeable: p.changeable()}
	if err := v.hide(p.Hidden); err != nil {
		return p, err
	}
	p.Hidden = v.hidden
	return p, nil
}

// newView resolves the paths of a policy.
func newView(p Policy) (*view, error) {
	v := &view{changeable: p.changeable()}
	if err := v.hide(p.Hidden); err != nil {
		return nil, err
	}
	if err := v.addPaths("read", p.Read, shim.ReadOnly); err != nil {
		return nil, err
	}
	if err := v.addPaths("write", p.Write, shim.ReadWrite); err != nil {
		return nil, err
	}
	sortMounts(v.mounts)
	v.mounts = slices.CompactFunc(v.mounts, func(a, b shim.Mount) bool { return a == b })
	v.dropContained()
	return v, nil
}

// hide resolves the paths that programs must not reach. A path that does not exist may do so when the shim hides it.
func (v *view) hide(paths []string) error {
	for _, path := range paths {
		real, err := v.follow(filepath.Clean(path))
		if real == "" {
			return fmt.Errorf("hidden: %w", err)
		}
		v.hidden = append(v.hidden, real)
	}
	return nil
}

// sortMounts puts directories before what is in them, and links last.
func sortMounts(mounts []shim.Mount) {
	slices.SortFunc(mounts, func(a, b shim.Mount) int {
		if (a.Kind == shim.Link) != (b.Kind == shim.Link) {
			return int(a.Kind) - int(b.Kind) // links are the last kind
		}
		if a.Target != b.Target {
			return strings.Compare(a.Target, b.Target)
		}
		return int(a.Kind) - int(b.Kind)
	})
}

func (v *view) addPaths(name string, paths []string, kind uint64) error {
	for _, path := range paths {
		found, err := expand(path)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, path := range found {
			if err := v.add(name, path, kind); err != nil {
				return err
			}
		}
	}
	return nil
}

// expand returns the paths that match a pattern. The root directory stands for the directories that are in it.
func expand(path string) ([]string, error) {
	path = filepath.Clean(path)
	if path == "/" {
		all, err := filepath.Glob("/*")
		return slices.DeleteFunc(all, private), err
	}
	if !strings.ContainsAny(path, "*?[") {
		return []string{path}, nil
	}
	return filepath.Glob(path)
}

// private says whether a path belongs to what each program has for itself.
func private(path string) bool {
	return within(path, "/proc") || within(path, "/dev") || path == "/tmp"
}

func (v *view) add(name, path string, kind uint64) error {
	real, err := v.follow(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %s does not exist; create it or remove it from the configuration", name, path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	for _, hidden := range v.hidden {
		if within(real, hidden) {
			return fmt.Errorf("%s: %s is in %s, which programs never reach; remove it from the configuration", name, path, hidden)
		}
	}
	v.mounts = append(v.mounts, shim.Mount{Kind: kind, Source: real, Target: real})
	if path = resolveDir(path); path != real {
		v.mounts = append(v.mounts, shim.Mount{Kind: shim.Link, Source: real, Target: path})
	}
	return nil
}

// follow walks to a path as the kernel does. It refuses links where programs can have created them: such a link could lead anywhere.
// The shim follows no link, so that none that is created later counts. For a path that ends early it returns an error and the path
// without links.
func (v *view) follow(path string) (real string, err error) {
	at, rest, links := "/", strings.Split(strings.TrimPrefix(path, "/"), "/"), 0
	for ; len(rest) > 0; rest = rest[1:] {
		next := filepath.Join(at, rest[0])
		info, err := os.Lstat(next)
		if err != nil {
			return filepath.Join(next, filepath.Join(rest[1:]...)), err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("%s: more than %d symbolic links", path, maxLinks)
		}
		if dir := around(at, v.changeable); dir != "" {
			return "", fmt.Errorf("%s: %s is a symbolic link that a program may have created, since write contains %s; write the path that it leads to", path, next, dir)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if filepath.IsAbs(target) {
			at = "/"
		}
		rest = slices.Concat([]string{""}, strings.Split(filepath.Clean(strings.TrimPrefix(target, "/")), "/"), rest[1:])
	}
	return at, nil
}

// dropContained removes what an earlier entry shows in the same way: a link or a file below a mounted directory, a readable directory
// below a readable one.
func (v *view) dropContained() {
	var kept []shim.Mount
	for _, m := range v.mounts {
		around := innermost(kept, m.Target)
		// Where a path is both readable and writable, the writable entry is the later one and has the same target.
		if around.Kind == m.Kind || around.Kind != 0 && m.Kind == shim.Link {
			continue
		}
		kept = append(kept, m)
	}
	v.mounts = kept
}

// innermost returns the last entry around a path.
func innermost(mounts []shim.Mount, path string) (around shim.Mount) {
	for _, m := range mounts {
		if m.Kind != shim.Link && within(path, m.Target) {
			around = m
		}
	}
	return around
}

// pins are mounts of the directories around a hidden path, which the program can change otherwise. A program cannot move a directory that
// is a mount, and so cannot move what is hidden to another path.
func (v *view) pins() (all []shim.Mount) {
	for _, hidden := range v.hidden {
		for dir := filepath.Dir(hidden); dir != "/"; dir = filepath.Dir(dir) {
			m := innermost(v.mounts, dir)
			if m.Kind != shim.ReadWrite || m.Target == dir {
				break
			}
			if _, err := os.Lstat(dir); err == nil {
				all = append(all, shim.Mount{Kind: shim.ReadWrite, Source: dir, Target: dir})
			}
		}
	}
	return all
}

// withHidden adds the entries that hide what is in a mounted directory.
func (v *view) withHidden() []shim.Mount {
	all := slices.Concat(v.mounts, v.pins())
	sortMounts(all)
	all = slices.Compact(all)
	for _, hidden := range v.hidden {
		for _, m := range v.mounts {
			if m.Kind != shim.Link && within(hidden, m.Target) {
				all = append(all, shim.Mount{Kind: shim.Hide, Target: hidden})
				break
			}
		}
	}
	return all
}

// rootRules are the rules inside a private root: it shows nothing that must not be read.
func (v *view) rootRules() []shim.Rule {
	rules := []shim.Rule{{Path: "/", Access: rightsRead}, {Path: "/dev", Access: rightsDevice}, {Path: "/tmp", Access: rightsWrite}}
	for _, m := range v.mounts {
		if m.Kind == shim.ReadWrite {
			rules = append(rules, shim.Rule{Path: m.Target, Access: rightsWrite})
		}
	}
	return rules
}

// hostRules are the rules in the file system of the machine.
func (v *view) hostRules() ([]shim.Rule, error) {
	rules := []shim.Rule{{Path: "/proc", Access: rightsRead}, {Path: resolve("/dev/shm"), Access: unix.LANDLOCK_ACCESS_FS_READ_DIR}}
	for _, name := range []string{"null", "zero", "full", "random", "urandom"} {
		rules = append(rules, shim.Rule{Path: "/dev/" + name, Access: rightsDevice})
	}
	for _, m := range v.mounts {
		access := uint64(rightsRead)
		switch m.Kind {
		case shim.Link:
			continue
		case shim.ReadWrite:
			access = rightsWrite
		}
		found, err := v.around(m.Target, access)
		if err != nil {
			return nil, err
		}
		rules = append(rules, found...)
	}
	return rules, nil
}

// around returns rules for a path without the hidden ones. Landlock can only allow, so a directory around a hidden path is allowed
// entry by entry, and cannot be listed.
func (v *view) around(path string, access uint64) ([]shim.Rule, error) {
	inside := false
	for _, hidden := range v.hidden {
		if within(path, hidden) {
			return nil, nil
		}
		inside = inside || within(hidden, path)
	}
	if !inside {
		return []shim.Rule{{Path: path, Access: access}}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, fmt.Errorf("%s is around a hidden directory and cannot be read: %w", path, err)
	}
	var rules []shim.Rule
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			continue // where it leads needs a rule of its own
		}
		found, err := v.around(filepath.Join(path, e.Name()), access)
		if err != nil {
			return nil, err
		}
		rules = append(rules, found...)
	}
	return rules, nil
}
