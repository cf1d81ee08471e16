//go:build amd64 || arm64

package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// host refuses what Landlock does not cover in the file system and among the processes of the machine.
func (f *filter) host(kind filterKind) {
	f.refuse(refusedOnHost, unix.EPERM)
	f.refuse(oldFileCalls, unix.EPERM)
	f.refuse(watches, unix.ENOSYS)
	f.refuse(oldWatches, unix.ENOSYS)
	f.onlySelf()
	f.opens()
	f.fileCommands()
	if kind.truncate {
		f.truncation()
	}
}

// onlySelf refuses to change limits and priorities of other processes of the user, such as the server.
func (f *filter) onlySelf() {
	for _, number := range []uintptr{
		unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETATTR,
	} {
		f.onCall(number, 0, func() { f.unlessEqual(0, deny(unix.EPERM)) })
	}
	for number, process := range map[uintptr]uint32{unix.SYS_SETPRIORITY: unix.PRIO_PROCESS, unix.SYS_IOPRIO_SET: ioprioProcess} {
		f.onCall(number, 0, func() {
			f.unlessEqual(process, deny(unix.EPERM))
			f.load(atArgument + 8)
			f.unlessEqual(0, deny(unix.EPERM))
		})
	}
	// Without a path and a time the call sets the times of an open file to now, as touch does.
	f.onCall(unix.SYS_UTIMENSAT, 1, func() {
		for _, half := range []uint32{8, 12, 16, 20} {
			f.load(atArgument + half)
			f.unlessEqual(0, deny(unix.EPERM))
		}
	})
}

// neitherReadNorWrite opens a file for ioctl only, which Landlock always allows.
const neitherReadNorWrite = unix.O_ACCMODE

func (f *filter) opens() {
	f.onOpen(func() {
		f.and(unix.O_ACCMODE)
		f.ifEqual(neitherReadNorWrite, deny(unix.EPERM))
	})
}

// truncation refuses what truncates a file without opening it for writing. Landlock checks that since version 3.
func (f *filter) truncation() {
	f.refuse([]uintptr{unix.SYS_TRUNCATE}, unix.EPERM)
	f.onOpen(func() {
		f.and(unix.O_ACCMODE | unix.O_TRUNC)
		f.ifEqual(unix.O_RDONLY|unix.O_TRUNC, deny(unix.EPERM))
	})
}

// onOpen adds checks of the flags with which a file is opened.
func (f *filter) onOpen(checks func()) {
	for _, c := range slices.Concat(modeCalls, oldModeCalls) {
		if c.flags > 0 {
			f.onCall(c.number, c.flags, checks)
		}
	}
}

// fileCommands refuses the commands of ioctl that change attributes of a file that is open for reading. The kernel reads 32 bits of
// the command.
func (f *filter) fileCommands() {
	f.onCall(unix.SYS_IOCTL, 1, func() {
		for _, command := range allowedCommands {
			f.ifEqual(command, unix.SECCOMP_RET_ALLOW)
		}
		for _, command := range refusedCommands {
			f.ifEqual(command, deny(unix.EPERM))
		}
		f.and(0xff00)
		for _, kind := range refusedCommandKinds {
			f.ifEqual(kind<<8, deny(unix.EPERM))
		}
	})
}
