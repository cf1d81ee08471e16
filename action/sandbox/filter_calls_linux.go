//go:build amd64 || arm64

package sandbox

import "golang.org/x/sys/unix"

// refused are the system calls that no program of a job needs. They reach other processes, the layout of the file system, the kernel
// itself, or parts of the kernel that had many holes.
var refused = []uintptr{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES,
	unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOVE_MOUNT,
	unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR, unix.SYS_SWAPON, unix.SYS_SWAPOFF,
	unix.SYS_UNSHARE, unix.SYS_SETNS,
	unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_ACCT,
	unix.SYS_REBOOT, unix.SYS_SYSLOG, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX,
	unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_VHANGUP,
}

// absent are refused as if the kernel did not have them, so that programs use older calls, whose arguments a filter can read.
var absent = []uintptr{
	unix.SYS_CLONE3, unix.SYS_OPENAT2, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
}

// refusedOnHost are what Landlock does not cover: attributes of any file of the user, and memory and queues that its processes share.
var refusedOnHost = []uintptr{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_FILE_SETATTR,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL,
	unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// watches report what happens in directories that cannot be listed. Programs that miss the first call read files again and again instead.
var watches = []uintptr{unix.SYS_INOTIFY_INIT1, unix.SYS_INOTIFY_ADD_WATCH}

// refusedCommandKinds are the second bytes of commands of ioctl: those of ext4 and of all file systems, which set flags, encryption and
// verification, and those of btrfs, which create and remove subvolumes and snapshots.
var refusedCommandKinds = []uint32{'f', 0x94}

// allowedCommands are exceptions from refusedCommandKinds.
var allowedCommands = []uint32{
	0x80086601, 0x80046601, // FS_IOC_GETFLAGS
	0xC020660B, // FS_IOC_FIEMAP
	0x40049409, // FICLONE
	0x4020940D, // FICLONERANGE
	0xC0189436, // FIDEDUPERANGE
}

var refusedCommands = []uint32{
	0x401C5820,             // FS_IOC_FSSETXATTR
	0x40087602, 0x40047602, // FS_IOC_SETVERSION
	0x40047211, // FAT_IOCTL_SET_ATTRIBUTES
}

// modeCall is a system call with the mode of a file.
type modeCall struct {
	number uintptr
	mode   uint32 // number of the argument
	flags  uint32 // number of an argument: the call has a mode if these flags create a file
}

var modeCalls = []modeCall{
	{unix.SYS_FCHMOD, 1, 0},
	{unix.SYS_FCHMODAT, 2, 0},
	{unix.SYS_FCHMODAT2, 2, 0},
	{unix.SYS_MKNODAT, 2, 0},
	{unix.SYS_OPENAT, 3, 2},
}

const newNamespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME

const ioprioProcess = 1 // IOPRIO_WHO_PROCESS
