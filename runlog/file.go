package runlog

import (
	"io"
	"os"
	"sync"
)

// logFile is the log of one run. It writes each line to the file at once, so that
// clients that follow the log see it. It never fails: text that cannot be written
// is lost, and a line in its place states how much.
type logFile struct {
	logs *Files
	name string // of the file
	path string // as the run records it

	mu       sync.Mutex
	text     text
	file     *os.File // nil between two lines unless keptOpen
	keptOpen bool
	closed   bool
}

// Path is the path of the log as its run records it.
func (f *logFile) Path() string { return f.path }

// Write accepts all of p, even if it cannot be written.
func (f *logFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.text.full || len(p) == 0 {
		return len(p), nil
	}
	err := f.open()
	if err != nil {
		f.text.lost += int64(len(p))
	} else {
		err = f.text.append(p, f.file.Write)
	}
	if !f.keptOpen || err != nil { // after a failure reopen it, because its folder may have been removed
		f.closeFile()
	}
	f.logs.reportWrite(f.name, err)
	return len(p), nil
}

// open opens the file; the first line creates it and the folder of its day.
func (f *logFile) open() error {
	if f.file != nil {
		return nil
	}
	file, err := openFile(f.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err == nil {
		f.text.size = info.Size()
	}
	f.file = file
	if !f.keptOpen {
		f.keptOpen = f.logs.acquireOpenFile()
	}
	return nil
}

// Close ends the log. Later writes, by an abandoned handler, are dropped.
func (f *logFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.text.lost > 0 && f.open() == nil {
		_ = f.text.stateLost(f.file.Write)
	}
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

// lateFile reads a log that may be created later.
type lateFile struct {
	name string
	file *os.File // nil: it was not there yet
}

// open reports whether the file is there.
func (f *lateFile) open() bool {
	if f.file == nil {
		f.file, _ = openFile(f.name, os.O_RDONLY)
	}
	return f.file != nil
}

func (f *lateFile) Read(p []byte) (int, error) {
	if !f.open() {
		return 0, io.EOF
	}
	return f.file.Read(p)
}

// Seek moves within the file; there is only one position before it exists.
func (f *lateFile) Seek(offset int64, whence int) (int64, error) {
	if !f.open() {
		return 0, nil
	}
	return f.file.Seek(offset, whence)
}

func (f *lateFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
