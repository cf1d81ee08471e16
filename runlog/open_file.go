package runlog

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/rotajobs/rota/internal/nofollow"
)

// openFile opens a log DIR/DAY/JOB.log. None of the three may be a symbolic link, and the log may not have a second name: a
// user who may write to the directory could otherwise make the server append to files elsewhere, or show them. With os.O_CREATE it creates what is missing.
func openFile(name string, flag int) (*os.File, error) {
	day := filepath.Dir(name)
	dir := filepath.Dir(day)
	below := path.Join(filepath.Base(dir), filepath.Base(day), filepath.Base(name))
	file, err := nofollow.OpenIn(filepath.Dir(dir), below, flag, 0o600)
	if flag&os.O_CREATE != 0 && errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(dir), 0o700); err == nil {
			file, err = nofollow.OpenIn(filepath.Dir(dir), below, flag, 0o600)
		}
	}
	return file, err
}

// removeFile removes a log DIR/DAY/JOB.log, without following links.
func removeFile(name string) error {
	day := filepath.Dir(name)
	logs, err := nofollow.OpenDir(filepath.Dir(day))
	if err != nil {
		return err
	}
	defer logs.Close()
	folder, err := nofollow.OpenDirIn(logs, filepath.Base(day))
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Remove(filepath.Base(name))
}
