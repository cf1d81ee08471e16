//go:build amd64 || arm64

package shim

import (
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const (
	pauseMin  = time.Millisecond
	pauseMax  = 100 * time.Millisecond
	deniedMax = time.Second // for processes that this one may not kill; they may be about to end
)

// endAll kills the descendants of this process again and again, until reap says that there are none. After a time, or if the rest belongs
// to another user, it returns what is left.
func endAll(most time.Duration, reap func() (done, progress bool)) (left string) {
	k := newKiller()
	begin := time.Now()
	allowed := begin // when the last process was found that this one may kill
	for round, pause := 0, pauseMin; ; round++ {
		done, progress := reap()
		if done {
			return ""
		}
		if progress {
			pause = pauseMin
		}
		k.killed, k.denied = 0, 0
		k.killDescendants()
		if round > 0 {
			k.killNewest()
		}
		now := time.Now()
		if k.killed > 0 || k.denied == 0 {
			allowed = now
		}
		switch {
		case now.Sub(allowed) > deniedMax:
			return strconv.Itoa(k.denied) + " processes that the program started run as another user, and were not killed"
		case now.Sub(begin) > most:
			return strconv.Itoa(k.killed+k.denied) + " processes that the program started have not ended, although they were killed"
		}
		runtime.GC() // nothing else collects garbage in the shim
		time.Sleep(pause)
		pause = min(2*pause, pauseMax)
	}
}

const reapMax = 1000 // in a row, since other children may end as fast

// reapAll waits for the children that have ended. Descendants that lose their parent become children of this process, so none is left
// when it has no children.
func reapAll() (done, progress bool) {
	for range reapMax {
		pid, err := unix.Wait4(-1, nil, unix.WALL|unix.WNOHANG, nil)
		switch {
		case err == unix.ECHILD:
			return true, true
		case pid == 0:
			return false, progress
		}
		progress = true
	}
	return false, true
}

// killer finds and kills descendants. It reuses its memory.
type killer struct {
	self           int
	killed, denied int // processes that were signalled, and those that this one may not signal
	parent         map[int]int
	names          []string
	entries        [8 << 10]byte
	text           [1 << 10]byte
}

func newKiller() *killer { return &killer{self: unix.Getpid(), parent: map[int]int{}} }

// killDescendants kills every process that has this one as an ancestor. The next call finds those that were started meanwhile.
func (k *killer) killDescendants() {
	k.readParents()
	for pid := range k.parent {
		for at, depth := pid, 0; at > 1 && depth < 1<<16; at, depth = k.parent[at], depth+1 {
			if k.parent[at] == k.self {
				k.kill(pid, k.parent[pid])
				break
			}
		}
	}
}

const newestTries = 200

// killNewest kills the newest process of the machine, if it is a descendant. A process that forks and ends all the time has ended
// before a list of all processes is complete, but its newest copy has the last number that the kernel has given.
func (k *killer) killNewest() {
	load, err := unix.Open("/proc/loadavg", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(load)
	for range newestTries {
		n, err := unix.Pread(load, k.text[:], 0)
		if err != nil || n <= 0 {
			return
		}
		last := lastNumber(k.text[:n])
		for pid := last; pid > last-newestCandidates && pid > 1; pid-- {
			k.killIfBelow(pid)
		}
	}
}

// lastNumber reads the number at the end of a line.
func lastNumber(line []byte) int {
	n, factor := 0, 1
	for i := len(line) - 1; i >= 0; i-- {
		switch c := line[i]; {
		case c >= '0' && c <= '9':
			n, factor = n+int(c-'0')*factor, factor*10
		case factor > 1:
			return n
		}
	}
	return n
}

const newestCandidates = 3 // other threads and processes take numbers, too

// killIfBelow kills a process that has this one as a near ancestor.
func (k *killer) killIfBelow(pid int) {
	parent, _, is := k.parentOf(pid)
	for at, depth := parent, 0; is && at > 1 && depth < newestCandidates; depth++ {
		if at == k.self {
			k.kill(pid, parent)
			return
		}
		at, _, is = k.parentOf(at)
	}
}

// kill kills a process if it still has the parent: its number may belong to another process by now.
func (k *killer) kill(pid, parent int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	now, zombie, is := k.parentOf(pid)
	if !is || now != parent {
		return
	}
	err = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // a zombie may have threads that run
	switch {
	case zombie:
	case err == unix.EPERM:
		k.denied++
	case err == nil:
		k.killed++
	}
}

// readParents reads the parent of every process.
func (k *killer) readParents() {
	clear(k.parent)
	dir, err := unix.Open("/proc", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(dir)
	for {
		n, err := unix.ReadDirent(dir, k.entries[:])
		if err != nil || n <= 0 {
			return
		}
		_, _, k.names = unix.ParseDirent(k.entries[:n], -1, k.names[:0])
		for _, name := range k.names {
			pid, err := strconv.Atoi(name)
			if err != nil {
				continue
			}
			if parent, _, is := k.parentOf(pid); is {
				k.parent[pid] = parent
			}
		}
	}
}

func (k *killer) parentOf(pid int) (parent int, zombie, is bool) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, false, false
	}
	defer unix.Close(fd)
	n, err := unix.Read(fd, k.text[:])
	if err != nil || n <= 0 {
		return 0, false, false
	}
	return parseStat(k.text[:n])
}

// parseStat reads the state and the parent. The name before them is in parentheses and may contain some.
func parseStat(stat []byte) (parent int, zombie, is bool) {
	at := len(stat) - 1
	for at >= 0 && stat[at] != ')' {
		at--
	}
	if at < 0 || at+4 >= len(stat) {
		return 0, false, false
	}
	for _, c := range stat[at+4:] {
		if c < '0' || c > '9' {
			break
		}
		parent = parent*10 + int(c-'0')
	}
	return parent, stat[at+2] == 'Z', true
}
