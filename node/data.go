package node

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/rotajobs/rota"
)

// The names of what stands in a data directory.
const (
	lockName    = "rota.lock"
	addrName    = "rota.addr"
	tokenName   = "admin.token"
	logsName    = "logs"
	scratchName = "rota.scratch"
)

// scratchOurs begins the names of what we put into the scratch directory.
const scratchOurs = "rota-backup-"

// openData makes the data directory, for its owner alone.
func openData(dir string, logger *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return dataFault(dir, err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return dataFault(dir, err)
	}
	if open := info.Mode().Perm() & 0o077; open != 0 {
		logger.Warn("others on this machine may look into the data directory; chmod 700 keeps them out",
			"dir", dir, "mode", info.Mode().Perm().String())
	}
	return nil
}

// emptyScratch makes the directory for what is under way, and removes what an
// earlier life left there: that, and nothing else, since --data may name a
// directory in which others keep things. It is called with the lock held.
func emptyScratch(data string) (string, error) {
	dir := filepath.Join(data, scratchName)
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", dataFault(dir, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", dataFault(dir, err)
	}
	for _, entry := range entries {
		if !strings.HasPrefix(entry.Name(), scratchOurs) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
			return "", dataFault(dir, err)
		}
	}
	return dir, nil
}

// dataFault says what keeps the data directory from being used.
func dataFault(path string, err error) error {
	fault := &rota.Error{Code: rota.Unavailable, Act: path, Hint: "give this process a directory that it may write, with --data DIR"}
	switch {
	case errors.Is(err, fs.ErrPermission):
		fault.Reason = "this process may not write there"
	case errors.Is(err, syscall.EROFS):
		fault.Reason = "the file system is read-only"
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		fault.Reason, fault.Hint = "the disk is full", "free some space and start again; what was answered is safe"
	case errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrExist):
		fault.Reason = "a part of its path is not a directory"
	default:
		fault.Reason, fault.Err = "it cannot be used", cause(err)
	}
	return fault
}

// cause is what the system said, without the path, which is named already.
func cause(err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		return path.Err
	case errors.As(err, &link):
		return link.Err
	}
	return err
}

// writeFile replaces a file in one step: whoever reads it sees the old text or
// the new one, also after a crash.
func writeFile(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temp.Close()
			_ = os.Remove(temp.Name())
		}
	}()
	if _, err = temp.Write(text); err != nil {
		return err
	}
	if err = temp.Sync(); err != nil {
		return err
	}
	if err = temp.Close(); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
