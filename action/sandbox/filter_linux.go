//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// filterKind selects a filter of system calls.
type filterKind struct {
	network  bool // the program can use the network
	host     bool // it is in the file system and among the processes of the machine
	truncate bool // Landlock of this kernel does not know truncation
}

var (
	filtersMu sync.Mutex
	filters   = map[filterKind][]byte{}
)

// filterOf returns a filter in the form that the kernel reads.
func filterOf(kind filterKind) []byte {
	filtersMu.Lock()
	defer filtersMu.Unlock()
	if filters[kind] == nil {
		filters[kind] = buildFilter(kind)
	}
	return filters[kind]
}

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
func buildFilter(kind filterKind) []byte {
	var f filter
	f.load(atArch)
	f.unlessEqual(machine, unix.SECCOMP_RET_KILL_PROCESS)
	f.load(atNumber)
	if foreignBit != 0 {
		f.ifAtLeast(foreignBit, deny(unix.ENOSYS))
	}
	f.refuse(refused, unix.EPERM)
	f.refuse(absent, unix.ENOSYS)
	if kind.host {
		f.host(kind)
	}
	f.onCall(unix.SYS_CLONE, 0, func() { f.ifAnyBit(newNamespaces, deny(unix.EPERM)) })
	f.onCall(unix.SYS_IOCTL, 1, func() {
		f.ifEqual(ttyInject, deny(unix.EPERM))
		f.ifEqual(ttyConsole, deny(unix.EPERM))
	})
	f.sockets(kind)
	f.modes()
	f.answer(unix.SECCOMP_RET_ALLOW)
	return f.code
}

// sockets allows families of sockets. On the machine there is no family without the network, because nothing else keeps a program from
// the sockets of other programs. Pairs are allowed there if both ends stay connected to each other: each end of a pair for datagrams can
// send to any path.
func (f *filter) sockets(kind filterKind) {
	families := []uint32{unix.AF_UNIX}
	if kind.network {
		families = append(families, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK)
	}
	pairs := families
	if kind.host && !kind.network {
		families = nil
	}
	f.onCall(unix.SYS_SOCKET, 0, func() { f.unlessOneOf(families, deny(unix.EAFNOSUPPORT)) })
	f.onCall(unix.SYS_SOCKETPAIR, 0, func() { f.unlessOneOf(pairs, deny(unix.EAFNOSUPPORT)) })
	if kind.host && !kind.network {
		f.onCall(unix.SYS_SOCKETPAIR, 1, func() {
			f.and(socketType)
			f.unlessOneOf([]uint32{unix.SOCK_STREAM, unix.SOCK_SEQPACKET}, deny(unix.ESOCKTNOSUPPORT))
		})
	}
}

const socketType = 0xf // bits of the second argument of socket that are no flags

// modes refuses files that execute with the rights of their owner. Another user of the machine could execute them.
func (f *filter) modes() {
	for _, c := range slices.Concat(modeCalls, oldModeCalls) {
		first := c.mode
		if c.flags > 0 {
			first = c.flags
		}
		f.onCall(c.number, first, func() {
			if c.flags > 0 {
				f.unlessAnyBit(unix.O_CREAT|unix.O_TMPFILE&^unix.O_DIRECTORY, unix.SECCOMP_RET_ALLOW)
				f.load(atArgument + 8*c.mode)
			}
			f.ifAnyBit(unix.S_ISUID|unix.S_ISGID, deny(unix.EPERM))
		})
	}
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

// unlessAnyBit answers if none of the bits is set.
func (f *filter) unlessAnyBit(k, result uint32) {
	f.add(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, 1, 0, k)
	f.answer(result)
}

// and keeps only some bits of the loaded word.
func (f *filter) and(k uint32) { f.add(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, 0, 0, k) }

func (f *filter) unlessOneOf(all []uint32, result uint32) {
	for i, k := range all {
		f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, uint8(len(all)-i), 0, k) // over the answer
	}
	f.answer(result)
}

func (f *filter) refuse(numbers []uintptr, errno unix.Errno) {
	for _, number := range numbers {
		f.ifEqual(uint32(number), deny(errno))
	}
}

// onCall adds checks of an argument of one call. If none of them answers, the instructions behind it decide.
func (f *filter) onCall(number uintptr, argument uint32, checks func()) {
	f.add(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, 0, 0, uint32(number))
	jump := len(f.code)
	f.load(atArgument + 8*argument)
	checks()
	f.load(atNumber)
	f.code[jump-5] = uint8((len(f.code) - jump) / 8) // where the comparison fails: behind the checks
}
