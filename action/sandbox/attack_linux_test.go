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
	"errno": printErrno,
	"sleep": func([]string) error { time.Sleep(time.Minute); return nil },
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
	{"TIOCSTI", unix.SYS_IOCTL, unix.EPERM, []uintptr{^uintptr(0), ttyInject}},
	{"TIOCLINUX", unix.SYS_IOCTL, unix.EPERM, []uintptr{^uintptr(0), ttyConsole}},
	{"AF_INET", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET, unix.SOCK_STREAM, 0}},
	{"AF_INET6", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET6, unix.SOCK_DGRAM, 0}},
	{"AF_NETLINK", unix.SYS_SOCKET, unix.EAFNOSUPPORT, []uintptr{unix.AF_NETLINK, unix.SOCK_RAW, 0}},
	{"socketpair", unix.SYS_SOCKETPAIR, unix.EAFNOSUPPORT, []uintptr{unix.AF_INET}},
}
