package sqlite

import (
	"os"
	"time"
)

// walPadding pads the write-ahead log, the file with the suffix -wal, with zeros. A sync after an
// overwrite costs half of a sync after an append, which also has to record the new size of the
// file. SQLite does not read zeros as part of the log. The padding is written in pieces until the
// log has the size at which a checkpoint makes SQLite start again at its beginning. It is written
// only when there is time between transactions, because under load the additional writes cost more
// than they save.
type walPadding struct {
	file     *os.File // nil if the log is long enough or the disk is full
	size     int64    // size after the last padding
	lastCall time.Time
}

const (
	walPaddingBytes = 256 << 10
	walIdleGap      = time.Millisecond // minimal time since the last transaction for padding to be written
	walPaddingMax   = checkpointPages * (4096 + 24)
)

var zeros [walPaddingBytes]byte

// extend adds padding if SQLite has used up the last. The caller holds a write transaction, so that
// no other connection writes to the log.
func (r *walPadding) extend() {
	if r.file == nil {
		return
	}
	previous := r.lastCall
	r.lastCall = time.Now()
	if r.lastCall.Sub(previous) < walIdleGap {
		return
	}
	info, err := r.file.Stat()
	if err != nil || info.Size() == r.size {
		return
	}
	size := info.Size()
	if size >= walPaddingMax {
		r.close()
		return
	}
	if _, err := r.file.WriteAt(zeros[:], size); err != nil { // the disk is full
		_ = r.file.Truncate(size)
		r.close()
		return
	}
	r.size = size + walPaddingBytes
}

// open opens the log of the file. The path is absolute, so that it stays valid after a change of
// the working directory. The log exists, because markInUse has just written to it.
func (r *walPadding) open(path string) {
	if file, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0); err == nil {
		r.file = file
	}
}

func (r *walPadding) close() {
	if r.file != nil {
		_ = r.file.Close() // closing it releases no lock: SQLite has none on this file
		r.file = nil
	}
}
