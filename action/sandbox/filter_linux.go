//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"sync"

	"golang.org/x/sys/unix"
)

// The filters of system calls, with and without the network, as the kernel reads them.
var (
	filterOffline = sync.OnceValue(func() []byte { return buildFilter(false) })
	filterOnline  = sync.OnceValue(func() []byte { return buildFilter(true) })
)

// refused are the system calls that no program of a job needs. They reach other processes, the layout of the file system, the kernel
// itself, or parts of the kernel that had many holes.
var refused = []uintptr{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
}

// absent are refused as if the kernel did not have them, so that programs use older calls.
var absent = []uintptr{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

// Offsets in struct seccomp_data. The machines are little-endian, so the lower half of an argument comes first.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16
)

const (
	ttyInject  = 0x5412 // TIOCSTI, which types into a terminal
	ttyConsole = 0x541C // TIOCLINUX
)

// buildFilter compares the number of a call with each of the lists. Every jump is to the next instruction or over one.
func buildFilter(network bool) []byte {
	var f filter
	f.load(atArch)
	f.unlessEqual(machine, unix.SECCOMP_RET_KILL_PROCESS)
	f.load(atNumber)
	if foreignBit != 0 {
		f.ifAtLeast(foreignBit, deny(unix.ENOSYS))
	}
	for _, number := range refused {
		f.ifEqual(uint32(number), deny(unix.EPERM))
	}
	for _, number := range absent {
		f.ifEqual(uint32(number), deny(unix.ENOSYS))
	}
	f.onCall(unix.SYS_CLONE, 0, func() { f.ifAnyBit(newNamespaces, deny(unix.EPERM)) })
	f.onCall(unix.SYS_IOCTL, 1, func() {
		f.ifEqual(ttyInject, deny(unix.EPERM))
		f.ifEqual(ttyConsole, deny(unix.EPERM))
	})
	if !network {
		for _, number := range []uintptr{unix.SYS_SOCKET, unix.SYS_SOCKETPAIR} {
			f.onCall(number, 0, func() { f.unlessEqual(unix.AF_UNIX, deny(unix.EAFNOSUPPORT)) })
		}
	}
	f.answer(unix.SECCOMP_RET_ALLOW)
	return f.code
}

func deny(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// filter is a program of classic BPF.
type filter struct{ code []byte }

func (f *filter) add(code uint16, yes, no uint8, k uint32) {
	f.code = binary.NativeEndian.AppendUint16(f.code, code)
	f.code = append(f.code, yes, no)
	f.code = binary.NativeEndian.AppendUint32(f.code, k)
}

func (f *filter) load(at uint32)       { f.add(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, 0, 0, at) }
func (f *filter) answer(result uint32) { f.add(unix.BPF_RET|unix.BPF_K, 0, 0, result) }

func (f *filter) ifEqual(k, result uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 1, k)
	f.answer(result)
}

func (f *filter) unlessEqual(k, result uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 1, 0, k)
	f.answer(result)
}

func (f *filter) ifAtLeast(k, result uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, 0, 1, k)
	f.answer(result)
}

func (f *filter) ifAnyBit(k, result uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 0, 1, k)
	f.answer(result)
}

// onCall adds checks of an argument of one call. The call is allowed if none of them refuses it.
func (f *filter) onCall(number uintptr, argument uint32, checks func()) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 0, uint32(number))
	jump := len(f.code)
	f.load(atArgument + 8*argument)
	checks()
	f.answer(unix.SECCOMP_RET_ALLOW)
	f.code[jump-5] = uint8((len(f.code) - jump) / 8) // where the comparison fails: behind the checks
}
