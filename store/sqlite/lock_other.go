//go:build !unix

package sqlite

import (
	"os"

	"github.com/rotajobs/rota"
)

// fileLock excludes other processes from the file. Systems without flock do not remove a file that
// is open, so an open lock file is a held lock.
type fileLock struct{ file *os.File }

func acquireLock(path string) (*fileLock, error) {
	name := path + ".lock"
	_ = os.Remove(name) // fails while another process has it open
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, &rota.Error{
			Code: rota.Busy, Act: "sqlite: open", Reason: path + " is held by another process", Err: err,
			Hint: "stop that process, or send requests to it instead of opening its file",
		}
	}
	return &fileLock{file: file}, nil
}

func (l *fileLock) release() error {
	err := l.file.Close()
	_ = os.Remove(l.file.Name())
	return err
}
