//go:build amd64 || arm64

package shim

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// The flags of mounts that the program sees.
const (
	attrCommon   = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NODEV
	attrReadOnly = attrCommon | unix.MOUNT_ATTR_RDONLY
	// A device on a read-only mount can be written to, but its mode and owner, which it shares with the machine, cannot be changed.
	attrDevice = unix.MOUNT_ATTR_NOSUID | unix.MOUNT_ATTR_NOEXEC | unix.MOUNT_ATTR_RDONLY
)

var devices = []string{"null", "zero", "full", "random", "urandom"}

// links of /dev. Shared memory of POSIX is in files of /dev/shm, which count against the size of /tmp.
var links = [][2]string{
	{"/proc/self/fd", "dev/fd"},
	{"/proc/self/fd/0", "dev/stdin"},
	{"/proc/self/fd/1", "dev/stdout"},
	{"/proc/self/fd/2", "dev/stderr"},
	{"/tmp", "dev/shm"},
}

// private is a root directory under construction. The mounts of the old root are cloned before the new root covers a directory.
type private struct {
	root  int
	none  string // a directory of the root that is empty
	empty string // an empty file of the root
}

// source is a clone of a mount that is not attached yet.
type source struct {
	fd     int
	dir    bool
	target string
}

// enterRoot replaces the root directory by a small file system that has the mounts of the settings.
func enterRoot(s *Settings) error {
	sources, err := cloneSources(s)
	if err != nil {
		return err
	}
	proc, err := newProc(s.PIDMax)
	if err != nil {
		return err
	}
	r, err := newRoot(s.TempMax)
	if err != nil {
		return err
	}
	if err := r.fill(s, sources, proc); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return failure("pivot_root", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return failure("unmount the old root", err)
	}
	if err := setAttr(r.root, unix.MOUNT_ATTR_RDONLY, 0); err != nil {
		return failure("make the root read-only", err)
	}
	return replaceNull(s.Null)
}

// replaceNull replaces /dev/null of the machine, as which the server has opened some descriptors, by that of the new root. Through the
// former the program could change the mode of the device.
func replaceNull(descriptors uint64) error {
	if descriptors == 0 {
		return nil
	}
	fd, err := unix.Open("/dev/null", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return failure("open /dev/null", err)
	}
	defer unix.Close(fd)
	for i := range 3 {
		if descriptors&(1<<i) == 0 {
			continue
		}
		if err := unix.Dup3(fd, i, 0); err != nil {
			return failure("replace a descriptor", err)
		}
	}
	return nil
}

func cloneSources(s *Settings) (all []source, err error) {
	for _, name := range devices {
		one, err := clone(unix.AT_FDCWD, "/dev/"+name, "dev/"+name, attrDevice)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	for _, m := range s.Mounts {
		attr := uint64(attrCommon)
		switch m.Kind {
		case ReadOnly:
			attr = attrReadOnly
		case ReadWrite:
		default:
			continue
		}
		one, err := cloneReal(m.Source, relative(m.Target), attr)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	program, err := cloneProgram(s)
	if err == nil && program.fd >= 0 {
		all = append(all, program)
	}
	return all, err
}

// cloneReal clones the mount at a path without symbolic links. A link means that another program exchanges the path.
func cloneReal(path, target string, attr uint64) (source, error) {
	fd, err := openReal(path)
	if err != nil {
		return source{}, failure("open "+path, err)
	}
	defer unix.Close(fd)
	return clone(fd, "", target, attr)
}

func openReal(path string) (int, error) {
	return unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS})
}

// cloneProgram pins the checked file to its path, so that a script sees its own path. If the path leads to another file by now, the
// program is executed by its descriptor, and a script sees that.
func cloneProgram(s *Settings) (source, error) {
	none := source{fd: -1}
	fd, err := unix.Open(s.Path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		s.Path = ""
		return none, nil
	}
	defer unix.Close(fd)
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return none, failure("read the attributes of "+s.Path, err)
	}
	if uint64(found.Dev) != s.Device || found.Ino != s.Inode {
		s.Path = ""
		return none, nil
	}
	return clone(fd, "", relative(s.Path), attrReadOnly)
}

// clone copies the mount at a path with all mounts below it.
func clone(dir int, path, target string, attr uint64) (source, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC | unix.AT_RECURSIVE | unix.AT_EMPTY_PATH)
	fd, err := unix.OpenTree(dir, path, flags)
	if err != nil {
		return source{}, failure("clone the mount of /"+target, err)
	}
	if err := setAttr(fd, attr, unix.AT_RECURSIVE); err != nil {
		return source{}, failure("protect the mount of /"+target, err)
	}
	var found unix.Stat_t
	if err := unix.Fstat(fd, &found); err != nil {
		return source{}, failure("read the attributes of /"+target, err)
	}
	return source{fd, found.Mode&unix.S_IFMT == unix.S_IFDIR, target}, nil
}

func setAttr(fd int, attr uint64, flags uint) error {
	return unix.MountSetattr(fd, "", unix.AT_EMPTY_PATH|flags, &unix.MountAttr{Attr_set: attr, Propagation: unix.MS_PRIVATE})
}

// RefusedProc begins the error for a system on which namespaces work, and a file system of their processes does not.
const RefusedProc = "mount /proc, which the kernel refuses where parts of /proc are covered, as in containers"

// newProc returns a file system of the processes of this namespace. It is mounted before the old one is covered, because the kernel
// allows it only to who sees all of an old one.
func newProc(pidMax uint64) (int, error) {
	fd, err := fileSystem("proc", nil, attrCommon|unix.MOUNT_ATTR_NOEXEC)
	if err != nil {
		return -1, failure(RefusedProc+"; use isolation landlock", err)
	}
	if pidMax > 0 {
		if err := setPIDMax(fd, pidMax); err != nil {
			return -1, failure("set kernel.pid_max", err)
		}
	}
	return fd, failure("protect /proc", setAttr(fd, attrReadOnly, 0))
}

// setPIDMax closes the file before it returns: a file system with a file open for writing cannot become read-only.
func setPIDMax(proc int, limit uint64) error {
	fd, err := unix.Openat(proc, "sys/kernel/pid_max", unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	_, err = unix.Write(fd, []byte(strconv.FormatUint(limit, 10)))
	return errors.Join(err, unix.Close(fd))
}

func fileSystem(kind string, options [][2]string, attr int) (int, error) {
	fd, err := unix.Fsopen(kind, unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, err
	}
	defer unix.Close(fd)
	for _, option := range options {
		if err := unix.FsconfigSetString(fd, option[0], option[1]); err != nil {
			return -1, err
		}
	}
	if err := unix.FsconfigCreate(fd); err != nil {
		return -1, err
	}
	return unix.Fsmount(fd, unix.FSMOUNT_CLOEXEC, attr)
}

// newRoot creates the root directory and makes it the working directory. One file system is the root, which becomes read-only, and
// /tmp, which does not.
func newRoot(tempMax uint64) (*private, error) {
	inodes := max(tempMax/4096, 1024) + 1024
	fd, err := fileSystem("tmpfs", [][2]string{
		{"size", strconv.FormatUint(tempMax, 10)}, {"nr_inodes", strconv.FormatUint(inodes, 10)}, {"mode", "755"},
	}, attrCommon)
	if err != nil {
		return nil, failure("mount a file system in memory", err)
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, "/proc", unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return nil, failure("attach the root", err)
	}
	if err := unix.Fchdir(fd); err != nil {
		return nil, failure("enter the root", err)
	}
	return &private{root: fd, none: ".none", empty: ".empty"}, nil
}

func (r *private) fill(s *Settings, sources []source, proc int) error {
	unix.Umask(0)
	defer unix.Umask(0o22)
	if err := errors.Join(unix.Mkdir("tmp", 0o1777), unix.Mkdir("dev", 0o755), unix.Mkdir("proc", 0o555)); err != nil {
		return failure("create the directories of the root", err)
	}
	temp, err := clone(r.root, "tmp", "tmp", attrCommon)
	if err != nil {
		return err
	}
	if err := errors.Join(temp.attach(), source{proc, true, "proc"}.attach()); err != nil {
		return err
	}
	for _, one := range sources {
		if err := one.create(); err != nil {
			return err
		}
		if err := one.attach(); err != nil {
			return err
		}
	}
	for _, l := range links {
		if err := unix.Symlink(l[0], l[1]); err != nil {
			return failure("create /"+l[1], err)
		}
	}
	for _, m := range s.Mounts {
		if err := r.cover(m); err != nil {
			return err
		}
	}
	return nil
}

// cover creates a link, or hides what a mount has brought in.
func (r *private) cover(m Mount) error {
	target := relative(m.Target)
	switch m.Kind {
	case Link:
		if err := parents(target); err != nil {
			return err
		}
		if err := unix.Symlink(m.Source, target); err != nil && err != unix.EEXIST {
			return failure("create the link /"+target, err)
		}
	case Hide:
		return r.hide(target)
	}
	return nil
}

func (r *private) hide(target string) error {
	var found unix.Stat_t
	if err := unix.Lstat(target, &found); err != nil {
		if err == unix.ENOENT {
			return nil
		}
		return failure("hide /"+target, err)
	}
	cover := r.empty
	if found.Mode&unix.S_IFMT == unix.S_IFDIR {
		cover = r.none
		if err := unix.Mkdir(r.none, 0); err != nil && err != unix.EEXIST {
			return failure("hide /"+target, err)
		}
	} else if err := createFile(r.empty); err != nil {
		return err
	}
	one, err := clone(r.root, cover, target, attrReadOnly)
	if err != nil {
		return err
	}
	return one.attach()
}

func (s source) attach() error {
	err := unix.MoveMount(s.fd, "", unix.AT_FDCWD, s.target, unix.MOVE_MOUNT_F_EMPTY_PATH)
	unix.Close(s.fd)
	return failure("mount /"+s.target, err)
}

// create creates the file or directory that the mount covers, where no earlier mount has it.
func (s source) create() error {
	var found unix.Stat_t
	if unix.Lstat(s.target, &found) == nil {
		return nil
	}
	if err := parents(s.target); err != nil {
		return err
	}
	if !s.dir {
		return createFile(s.target)
	}
	if err := unix.Mkdir(s.target, 0o755); err != nil && err != unix.EEXIST {
		return failure("create /"+s.target, err)
	}
	return nil
}

// createFile creates an empty file that nobody can open. One that exists is left as it is: an ordinary user could not
// even open it.
func createFile(path string) error {
	fd, err := unix.Open(path, unix.O_CREAT|unix.O_EXCL|unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if err == unix.EEXIST {
		return nil
	}
	if err != nil {
		return failure("create /"+path, err)
	}
	return failure("create /"+path, unix.Close(fd))
}

func parents(path string) error {
	for i, b := range []byte(path) {
		if b != os.PathSeparator {
			continue
		}
		if err := syscall.Mkdir(path[:i], 0o755); err != nil && err != syscall.EEXIST {
			return failure("create /"+path[:i], err)
		}
	}
	return nil
}

func relative(path string) string { return strings.TrimPrefix(path, "/") }
