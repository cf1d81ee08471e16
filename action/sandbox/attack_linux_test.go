//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Exit codes of an attack.
const (
	attackWorked  = 0
	attackRefused = 3
)

// attack tries to get out of the sandbox that it runs in.
func attack(name string, args []string) int {
	do, is := attacks[name]
	if !is {
		fmt.Println("unknown attack", name)
		return 1
	}
	if err := do(args); err != nil {
		fmt.Println(err)
		return attackRefused
	}
	return attackWorked
}

var attacks = map[string]func([]string) error{
	"read": func(args []string) error {
		_, err := os.ReadFile(args[0])
		return err
	},
	"list": func(args []string) error {
		entries, err := os.ReadDir(args[0])
		if err == nil && len(entries) == 0 {
			err = errors.New("empty")
		}
		return err
	},
	"open": func(args []string) error {
		file, err := os.OpenFile(args[0], os.O_RDWR, 0)
		if err == nil {
			file.Close()
		}
		return err
	},
	"follow": func(args []string) error {
		_, err := os.Readlink(args[0])
		return err
	},
	"write":   func(args []string) error { return os.WriteFile(args[0], []byte("x"), 0o600) },
	"connect": func(args []string) error { return dial(args[0], args[1]) },
	"ptrace": func(args []string) error {
		return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, number(args[0]), 0, 0)
	},
	"peek": func(args []string) error {
		var buf [8]byte
		local := unix.Iovec{Base: &buf[0], Len: 8}
		remote := unix.RemoteIovec{Base: number(args[1]), Len: 8}
		_, err := unix.ProcessVMReadv(int(number(args[0])), []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
		return err
	},
	"signal": func(args []string) error { return syscall.Kill(int(number(args[0])), syscall.SIGURG) },
	"namespaces": func([]string) error {
		cmd := exec.Command("/proc/self/exe", attackMode, "mount")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		}
		return cmd.Run()
	},
	"mount": func([]string) error {
		runtime.LockOSThread()
		_ = unix.Unshare(unix.CLONE_NEWNS | unix.CLONE_FS) // so that nothing of it stays on the machine
		_ = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		return unix.Mount("x", "/mnt", "tmpfs", 0, "")
	},
	"unshare": func([]string) error {
		runtime.LockOSThread()
		return unix.Unshare(unix.CLONE_NEWUTS)
	},
	"io_uring": func([]string) error {
		var params [120]byte
		return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(&params)))
	},
	"processes": func(args []string) error {
		for range number(args[0]) {
			if err := exec.Command("/bin/sleep", "60").Start(); err != nil {
				return err
			}
		}
		return nil
	},
	"memory": func(args []string) error {
		all := make([]byte, number(args[0]))
		for i := 0; i < len(all); i += 4096 {
			all[i] = 1
		}
		return nil
	},
	"fill": func(args []string) error {
		file, err := os.Create(args[0])
		if err != nil {
			return err
		}
		defer os.Remove(args[0])
		block := make([]byte, 1<<20)
		for range number(args[1]) {
			if _, err := file.Write(block); err != nil {
				return err
			}
		}
		return file.Close()
	},
	"burn": func(args []string) error {
		for end := time.Now().Add(time.Duration(number(args[0])) * time.Second); time.Now().Before(end); {
		}
		return nil
	},
	"chmod": func(args []string) error { return os.Chmod(args[0], 0o777) },
	"touch": func(args []string) error { return os.Chtimes(args[0], time.Unix(1, 0), time.Unix(1, 0)) },
	"mark":  func(args []string) error { return unix.Setxattr(args[0], "user.rota", []byte("x"), 0) },
	// The next three set what is set already, so that they leave no trace where they work.
	"chmod device": func(args []string) error {
		info, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		return os.Chmod(args[0], info.Mode().Perm())
	},
	"touch device": func(args []string) error {
		info, err := os.Stat(args[0])
		if err != nil {
			return err
		}
		return os.Chtimes(args[0], time.Time{}, info.ModTime())
	},
	"chmod descriptor": func(args []string) error {
		fd := int(number(args[0]))
		var stat unix.Stat_t
		if err := unix.Fstat(fd, &stat); err != nil {
			return err
		}
		return unix.Fchmod(fd, stat.Mode&0o777)
	},
	"setuid": func(args []string) error {
		if err := os.WriteFile(args[0], []byte("x"), 0o700); err != nil {
			return err
		}
		return unix.Chmod(args[0], 0o4755)
	},
	"setuid at creation": func(args []string) error {
		fd, err := unix.Open(args[0], unix.O_CREAT|unix.O_WRONLY, 0o4755)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"open for ioctl": func(args []string) error {
		fd, err := unix.Open(args[0], neitherReadNorWrite, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"truncate": func(args []string) error { return os.Truncate(args[0], 0) },
	"open and truncate": func(args []string) error {
		fd, err := unix.Open(args[0], int(number(args[1]))|unix.O_TRUNC, 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"get flags": func(args []string) error { _, err := withFlags(args[0], 0); return err },
	"set flags": func(args []string) error { _, err := withFlags(args[0], flagNoDump); return err },
	"set extended flags": func(args []string) error {
		fd, err := unix.Open(args[0], unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		var attr [28]byte
		if err := call(unix.SYS_IOCTL, uintptr(fd), 0x801C581F, uintptr(unsafe.Pointer(&attr))); err != nil {
			return err
		}
		return call(unix.SYS_IOCTL, uintptr(fd), 0x401C5820, uintptr(unsafe.Pointer(&attr)))
	},
	"watch": func(args []string) error {
		fd, err := unix.InotifyInit1(0)
		if err != nil {
			return err
		}
		_, err = unix.InotifyAddWatch(fd, args[0], unix.IN_CREATE)
		return err
	},
	"rename": func(args []string) error { return os.Rename(args[0], args[1]) },
	"prlimit": func(args []string) error {
		limit := unix.Rlimit{Cur: 1 << 12, Max: 1 << 12}
		return unix.Prlimit(int(number(args[0])), unix.RLIMIT_MSGQUEUE, &limit, nil)
	},
	"nice": func(args []string) error {
		now, err := unix.Getpriority(unix.PRIO_PROCESS, int(number(args[0])))
		return errors.Join(err, unix.Setpriority(unix.PRIO_PROCESS, int(number(args[0])), 20-now)) // the kernel returns 20 minus the value
	},
	"pin": func(args []string) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(int(number(args[0])), &set); err != nil {
			return err
		}
		return unix.SchedSetaffinity(int(number(args[0])), &set)
	},
	"shared memory": func(args []string) error {
		_, err := unix.SysvShmAttach(int(number(args[0])), 0, 0)
		return err
	},
	"socket": func(args []string) error {
		fd, err := unix.Socket(int(number(args[0])), int(number(args[1])), 0)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	},
	"datagram": func(args []string) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, int(number(args[0])), 0)
		if err != nil {
			return err
		}
		return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: args[1]})
	},
	"pair": func(args []string) error {
		_, err := unix.Socketpair(unix.AF_UNIX, int(number(args[0])), 0)
		return err
	},
	"become root": func([]string) error { // as sudo does
		if err := syscall.Setresuid(0, 0, 0); err != nil {
			return err
		}
		time.Sleep(20 * time.Second)
		return nil
	},
	"probe without": probeWithout,
	"comets":        startComet,
	"comet":         comet,
	"errno":         printErrno,
	"sleep":         func([]string) error { time.Sleep(time.Minute); return nil },
}

const flagNoDump = 0x40 // FS_NODUMP_FL

// withFlags reads the flags of a file, and adds some.
func withFlags(path string, add int) (flags int, err error) {
	fd, err := unix.Open(path, unix.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	if flags, err = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS); err != nil || add == 0 {
		return flags, err
	}
	return flags, unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, flags|add)
}

func number(arg string) uintptr {
	n, err := strconv.ParseUint(arg, 10, 64)
	if err != nil {
		panic(err)
	}
	return uintptr(n)
}

func dial(network, address string) error {
	conn, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	if _, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5]); errno != 0 {
		return errno
	}
	return nil
}

// probeWithout probes for the isolation none as on a kernel that lacks a system call.
func probeWithout(args []string) error {
	var f filter
	f.load(atNumber)
	f.refuse([]uintptr{number(args[0])}, unix.ENOSYS)
	f.answer(unix.SECCOMP_RET_ALLOW)
	program := unix.SockFprog{Len: uint16(len(f.code) / 8), Filter: (*unix.SockFilter)(unsafe.Pointer(&f.code[0]))}
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if err := call(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); err != nil {
		return err
	}
	_, err := Probe(None)
	return err
}

// printErrno makes system calls that do no harm, and prints what each returns.
func printErrno([]string) error {
	bad := ^uintptr(0)
	for _, one := range harmless {
		args := one.args
		if args == nil {
			args = []uintptr{bad, 0, 0, 0, 0, 0}
		}
		err := call(one.number, args...)
		errno, _ := err.(syscall.Errno)
		fmt.Printf("%s %d\n", one.name, errno)
	}
	return nil
}

// harmless are calls that fail without the filter for another reason than with it.
var harmless = []struct {
	name   string
	number uintptr
	want   syscall.Errno
	args   []uintptr
}{
	{"setns", unix.SYS_SETNS, unix.EPERM, nil},
	{"unshare", unix.SYS_UNSHARE, unix.EPERM, []uintptr{0}},
	{"ptrace", unix.SYS_PTRACE, unix.EPERM, []uintptr{unix.PTRACE_CONT, 1 << 30}},
	{"process_vm_readv", unix.SYS_PROCESS_VM_READV, unix.EPERM, []uintptr{1 << 30}},
	{"pidfd_getfd", unix.SYS_PIDFD_GETFD, unix.EPERM, nil},
	{"keyctl", unix.SYS_KEYCTL, unix.EPERM, nil},
	{"add_key", unix.SYS_ADD_KEY, unix.EPERM, []uintptr{1}},
	{"request_key", unix.SYS_REQUEST_KEY, unix.EPERM, []uintptr{1}},
	{"name_to_handle_at", unix.SYS_NAME_TO_HANDLE_AT, unix.EPERM, nil},
	{"fsconfig", unix.SYS_FSCONFIG, unix.EPERM, nil},
	{"clone3", unix.SYS_CLONE3, unix.ENOSYS, []uintptr{0, 0}},
	{"io_uring_enter", unix.SYS_IO_URING_ENTER, unix.ENOSYS, nil},
	{"io_uring_register", unix.SYS_IO_URING_REGISTER, unix.ENOSYS, nil},
	{"openat2", unix.SYS_OPENAT2, unix.ENOSYS, nil},
	{"open_tree_attr", unix.SYS_OPEN_TREE_ATTR, unix.EPERM, []uintptr{^uintptr(0), 0, 0, 0, 0}},
	{"migrate_pages", unix.SYS_MIGRATE_PAGES, unix.EPERM, []uintptr{1 << 30}},
	{"process_mrelease", unix.SYS_PROCESS_MRELEASE, unix.EPERM, nil},
	{"TIOCSTI", unix.SYS_IOCTL, unix.EPERM, []uintptr{^uintptr(0), ttyInject}},
	{"TIOCLINUX", unix.SYS_IOCTL, unix.EPERM, []uintptr{^uintptr(0), ttyConsole}},
	{"AF_INET", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET, unix.SOCK_STREAM, 0}},
	{"AF_INET6", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET6, unix.SOCK_DGRAM, 0}},
	{"AF_NETLINK", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_NETLINK, unix.SOCK_RAW, 0}},
	{"socketpair", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET}},
}

// startComet starts a process that forks and ends, again and again, so that its number is another one at any time. It holds its standard
// input, and ends when that ends.
func startComet([]string) error {
	cmd := exec.Command("/proc/self/exe", attackMode, "comet")
	cmd.SysProcAttr, cmd.Stdin = &syscall.SysProcAttr{Setsid: true}, os.Stdin
	if err := cmd.Start(); err != nil {
		return err
	}
	_ = cmd.Wait() // the first of them
	return nil
}

func comet([]string) error {
	for fd := 1; fd < 10; fd++ {
		unix.Close(fd)
	}
	if err := unix.SetNonblock(0, true); err != nil {
		return err
	}
	runtime.LockOSThread()
	forkAndEnd()
	return nil
}

// forkAndEnd is executed by copies of one thread of a Go process, so it must not call the scheduler.
//
//go:norace
//go:nosplit
func forkAndEnd() {
	all, one := ^uint64(0), byte(0)
	syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), 0, 8, 0, 0)
	for {
		pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
		n, _, readErrno := syscall.RawSyscall6(syscall.SYS_READ, 0, uintptr(unsafe.Pointer(&one)), 1, 0, 0, 0)
		if ended := readErrno == 0 && n == 0; ended || errno == 0 && pid != 0 {
			syscall.RawSyscall6(syscall.SYS_EXIT_GROUP, 0, 0, 0, 0, 0, 0)
		}
	}
}
