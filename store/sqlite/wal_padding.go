package sqlite

import (
	"os"
	"time"
)

// walPadding keeps room in the log that SQLite writes, the file's neighbour called
// -wal: a sync of bytes that overwrite others costs half of one that also has to
// record that the file has grown. The room is zeros, which no reader takes for
// part of the log. It is made piece by piece until the log is as long as it gets
// before a checkpoint lets it begin anew, and only while there is little to do:
// bytes that are written twice are no gain where many are.
type walPadding struct {
	file     *os.File // nil: it is long enough, or the disk is full
	size     int64    // as it was left
	lastCall time.Time
}

const (
	walPaddingBytes = 256 << 10
	walIdleGap      = time.Millisecond // between two transactions
	walPaddingMax   = checkpointPages * (4096 + 24)
)

var zeros [walPaddingBytes]byte

// extend makes room if SQLite has used up what there was. It is called within a
// transaction, when nobody else writes to the log.
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

// open opens the log of the file at a path that stays the same wherever the
// process goes. It is there: the store has just been marked as in use.
func (r *walPadding) open(path string) {
	if file, err := os.OpenFile(path+"-wal", os.O_WRONLY, 0); err == nil {
		r.file = file
	}
}

func (r *walPadding) close() {
	if r.file != nil {
		_ = r.file.Close() // it holds no locks: SQLite locks its other files
		r.file = nil
	}
}
