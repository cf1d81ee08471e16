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

// logFile is the log of one run. It writes each line to the file at once, so that
// clients that follow the log see it. It never fails: text that cannot be written
// is lost, and a line in its place states how much.
type logFile struct {
	logs *runLogs
	path string

	mu       sync.Mutex
	file     *os.File // nil between two lines unless keptOpen
	keptOpen bool
	size     int64
	midLine  bool // the last byte written is not a line break
	full     bool
	lost     int64 // bytes that could not be written and that no notice states yet
	closed   bool
}

// Path is the path of the log, relative to the data directory.
func (f *logFile) Path() string { return f.path }

// Write accepts all of p, even if it cannot be written.
func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.full || len(p) == 0 {
		return len(p), nil
	}
	err := f.append(p)
	if !f.keptOpen || err != nil { // after a failure reopen it, because its folder may have been removed
		f.closeFile()
	}
	f.logs.reportWrite(f.path, err)
	return len(p), nil
}

func (f *logFile) append(p []byte) error {
	if err := f.open(); err != nil {
		f.lost += int64(len(p))
		return err
	}
	if f.lost > 0 {
		if _, err := f.writeBytes(f.notice("%d bytes are missing here: they could not be written", f.lost)); err != nil {
			f.lost += int64(len(p))
			return err
		}
		f.lost = 0
	}
	if fits := f.logs.max - f.size; int64(len(p)) > fits {
		return f.fill(p[:max(0, fits)])
	}
	n, err := f.writeBytes(p)
	f.lost += int64(len(p) - n)
	return err
}

// fill writes what still fits, in whole lines if possible, and the notice that the
// log is full.
func (f *logFile) fill(p []byte) error {
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 || f.size > 0 && !f.midLine {
		p = p[:end+1]
	}
	f.full = true
	if _, err := f.writeBytes(p); err != nil {
		return err
	}
	_, err := f.writeBytes(f.notice("the log is full at %s; later lines are not stored", formatSize(f.logs.max)))
	return err
}

// notice is a line that Rota adds to those of the handler.
func (f *logFile) notice(format string, args ...any) []byte {
	start := ""
	if f.midLine {
		start = "\n"
	}
	return fmt.Appendf(nil, "%s[rota: "+format+"]\n", append([]any{start}, args...)...)
}

func (f *logFile) writeBytes(p []byte) (n int, err error) {
	n, err = f.file.Write(p)
	f.size += int64(n)
	if n > 0 {
		f.midLine = p[n-1] != '\n'
	}
	return n, err
}

// open opens the file; the first line creates it and the folder of its day.
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
	if !f.keptOpen {
		f.keptOpen = f.logs.acquireOpenFile()
	}
	return nil
}

func openAppend(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// Close ends the log. Later writes, by an abandoned handler, are dropped.
func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.keptOpen {
		f.logs.openFiles.Add(-1)
	}
	f.closeFile()
	return nil
}

// closeFile closes the file until the next line.
func (f *logFile) closeFile() {
	if f.file != nil {
		_ = f.file.Close()
		f.file = nil
	}
}
