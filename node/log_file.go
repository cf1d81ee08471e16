package node

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// logFile is the log of one run. Lines go to the file as they come, so that
// whoever follows it sees them at once. It never fails: what cannot be written
// is lost, and the place where it would stand says so.
type logFile struct {
	logs *runLogs
	path string

	mu     sync.Mutex
	file   *os.File // nil between two lines unless it is kept open
	kept   bool
	size   int64
	broken bool // its last byte ends no line
	full   bool
	lost   int64 // bytes that could not be written, and are not yet told of
	closed bool
}

// Path is where the log stands, from the data directory.
func (f *logFile) Path() string { return f.path }

// Write always takes all of p.
func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.full || len(p) == 0 {
		return len(p), nil
	}
	err := f.append(p)
	if !f.kept || err != nil { // one that failed is opened anew, since its folder may have gone
		f.shut()
	}
	f.logs.note(f.path, err)
	return len(p), nil
}

func (f *logFile) append(p []byte) error {
	if err := f.open(); err != nil {
		f.lost += int64(len(p))
		return err
	}
	if f.lost > 0 {
		if _, err := f.put(f.notice("%d bytes are missing here: they could not be written", f.lost)); err != nil {
			f.lost += int64(len(p))
			return err
		}
		f.lost = 0
	}
	if fits := f.logs.max - f.size; int64(len(p)) > fits {
		return f.fill(p[:max(0, fits)])
	}
	n, err := f.put(p)
	f.lost += int64(len(p) - n)
	return err
}

// fill writes what still fits, as whole lines if there are any, and the last
// line.
func (f *logFile) fill(p []byte) error {
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 || f.size > 0 && !f.broken {
		p = p[:end+1]
	}
	f.full = true
	if _, err := f.put(p); err != nil {
		return err
	}
	_, err := f.put(f.notice("the log is full at %s; what comes after this is not kept", formatSize(f.logs.max)))
	return err
}

// notice is a line of our own among those of the handler.
func (f *logFile) notice(format string, args ...any) []byte {
	start := ""
	if f.broken {
		start = "\n"
	}
	return fmt.Appendf(nil, "%s[rota: "+format+"]\n", append([]any{start}, args...)...)
}

func (f *logFile) put(p []byte) (n int, err error) {
	n, err = f.file.Write(p)
	f.size += int64(n)
	if n > 0 {
		f.broken = p[n-1] != '\n'
	}
	return n, err
}

// open opens the file, and makes it and the folder of its day at the first line.
func (f *logFile) open() error {
	if f.file != nil {
		return nil
	}
	name := f.logs.file(f.path)
	file, err := openAppend(name)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(name), 0o700); err == nil {
			file, err = openAppend(name)
		}
	}
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil {
		f.size = info.Size()
	}
	f.file = file
	if !f.kept {
		f.kept = f.logs.keepOpen()
	}
	return nil
}

func openAppend(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// Close ends the log. What is written after it, by a handler that was given
// up, is dropped.
func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.kept {
		f.logs.kept.Add(-1)
	}
	f.shut()
	return nil
}

// shut closes the file until the next line.
func (f *logFile) shut() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}
