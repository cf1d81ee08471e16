package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// busyTimeout is how long a statement waits for another connection. A
// heartbeat that gave up at once would cost its lease.
const busyTimeout = 10 * time.Second

// Cache sizes, in KiB as SQLite wants them: negative. The writer's holds the
// pages that a batch of 1,000 touches; more only fills memory.
const (
	writerCache = "-16384"
	readerCache = "-2048"
)

// checkpointPages is how long the log grows before it is written back. Larger
// than SQLite's default, since every batch touches many pages once.
const checkpointPages = 4000

// Open opens the store in the file at path, and makes it if it is not there.
func Open(path string) (*Store, error) { return OpenWith(path, Config{}) }

// OpenWith opens a store with a Config. After an unclean stop it checks the
// rows that were open and logs what it finds; Recover mends it.
func OpenWith(path string, config Config) (*Store, error) {
	config = config.withDefaults()
	if err := checkPath(path); err != nil {
		return nil, err
	}
	if config.ReadOnly {
		if err := checkHoldsStore(path); err != nil {
			return nil, err
		}
	}
	lock, err := acquireLock(realPath(path))
	if err != nil {
		return nil, err
	}
	s := &Store{config: config, path: path, lock: lock, writer: make(chan *writer, 1), closed: make(chan struct{})}
	s.reader = reader{withSnapshot: s.withPoolSnapshot, now: s.clock}
	w, err := openWriter(path, config)
	if err != nil {
		_ = lock.release()
		return nil, err
	}
	w.watch = &s.watch
	s.readers, err = openReaders(path, config.Readers)
	if err == nil {
		s.file, err = identifyFile(path)
	}
	if err == nil {
		err = s.markInUse(w)
	}
	if err != nil {
		if s.readers != nil {
			_ = s.readers.Close()
		}
		_ = w.close()
		_ = lock.release()
		return nil, fault("open "+filepath.Base(path), err)
	}
	if !config.ReadOnly {
		w.walPadding.open(s.file.path)
	}
	w.conn.SetBusyTimeout(0) // from here on begin decides how long
	s.writer <- w
	return s, nil
}

// checkPath refuses what SQLite would open without a file: what is answered
// must be on disk.
func checkPath(path string) error {
	switch {
	case path == "":
		return rota.Invalidf("path", "is empty; name the file that holds the store")
	case path == ":memory:" || strings.HasPrefix(path, "file:"):
		return rota.Invalidf("path", "%q is not the name of a file; a store is always on disk", path)
	}
	return nil
}

// realPath is the file behind links, so that two names of one file are one
// lock.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

func openWriter(path string, config Config) (*writer, error) {
	act := "open " + filepath.Base(path)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, isDirectory(path)
	}
	if config.ReadOnly {
		return openReadOnly(path)
	}
	retainAllocatorPages()
	ensurePrivateFile(path, config.Logger)
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, fault(act, err)
	}
	conn.SetBusyTimeout(busyTimeout)
	w := &writer{conn: conn, maxWait: busyTimeout, injectFault: config.injectFault}
	for _, pragma := range []string{
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA cache_size = " + writerCache,
		"PRAGMA wal_autocheckpoint = " + strconv.Itoa(checkpointPages),
	} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			_ = conn.Close()
			return nil, fault(act, err)
		}
	}
	if err := migrate(conn); err != nil {
		_ = conn.Close()
		return nil, fault(act, err)
	}
	if err := w.prepare(); err != nil {
		_ = w.close()
		return nil, &rota.Error{
			Code: rota.Internal, Act: "sqlite: " + act, Reason: "its tables or indexes are not as Rota made them", Err: err,
			Hint: "look with rota verify, and restore a backup",
		}
	}
	return w, nil
}

// ensurePrivateFile makes a file that is not there before SQLite does, for this user
// alone: secrets of webhooks stand in it, and what SQLite keeps beside it has the
// same mode. That everybody can read one that is there is somebody's choice, of
// which they are told. What goes wrong here, SQLite meets too.
func ensurePrivateFile(path string, log *slog.Logger) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		createFile(path)
		return
	}
	if err != nil || runtime.GOOS == "windows" || info.Mode()&0o004 == 0 {
		return
	}
	if dir, err := os.Stat(filepath.Dir(realPath(path))); err == nil && dir.Mode()&0o001 != 0 {
		log.Warn("everybody on this machine can read the store, and the secrets in it; chmod it to 0600, and what is beside it", "file", path, "mode", info.Mode().String())
	}
}

func isDirectory(path string) *rota.Error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite: open " + path, Reason: "it is a directory", Hint: "name a file",
	}
}

func openReaders(path string, n int) (*sqlitex.Pool, error) {
	return sqlitex.NewPool(path, sqlitex.PoolOptions{
		Flags:       readerFlags,
		PoolSize:    n,
		PrepareConn: prepareReader,
	})
}

// readerFlags let a reader make what SQLite keeps beside the file; query_only
// keeps it from writing the file.
const readerFlags = sqlite.OpenReadWrite

func prepareReader(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(busyTimeout)
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA cache_size = "+readerCache, nil); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "PRAGMA query_only = 1", nil)
}

// markInUse notes that the store is in use, so that the next Open can tell whether
// this one ended cleanly, and looks at what an unclean end left open.
func (s *Store) markInUse(w *writer) error {
	if s.config.ReadOnly {
		return nil
	}
	clean, err := w.meta(metaClean)
	if err != nil {
		return err
	}
	if err := w.setMeta(metaClean, "0"); err != nil {
		return err
	}
	if clean != "0" {
		return nil
	}
	s.config.Logger.Warn("the store was not closed cleanly; checking what was open", "file", s.path)
	found := 0
	for v, err := range s.verifyOpen(context.Background()) {
		if err != nil {
			return err
		}
		found++
		s.config.Logger.Error("after an unclean stop", "check", v.Check, "rows", v.Rows, "detail", v.Detail)
	}
	s.config.Logger.Info("checked what was open", "violations", found)
	return nil
}
