package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/nofollow"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// busyTimeout is how long a statement waits for another connection. A heartbeat that failed at once
// would lose its lease.
const busyTimeout = 10 * time.Second

// Cache sizes in KiB, which SQLite expects as negative numbers. The cache of the writer holds the
// pages that a batch of 1,000 jobs changes. A larger one only uses more memory.
const (
	writerCache = "-16384"
	readerCache = "-2048"
)

// checkpointPages is the size of the log at which SQLite writes it back. It is larger than SQLite's
// default, because every batch changes many pages once.
const checkpointPages = 4000

// Open opens the store in the file at path, and creates the file if it does not exist.
func Open(path string) (*Store, error) { return OpenWith(path, Config{}) }

// OpenWith opens a store with a Config. After an unclean stop it checks the open jobs and logs the
// violations that it finds. Recover fixes them.
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
	if err := checkLinks(path, config); err != nil {
		return nil, err
	}
	lock, err := acquireLock(realPath(path))
	if err != nil {
		return nil, err
	}
	s := &Store{config: config, path: path, lock: lock, writer: make(chan *writer, 1), closed: make(chan struct{})}
	s.reader = newReader(s.withPoolSnapshot, s.clock)
	w, err := openWriter(path, config)
	if err != nil {
		_ = lock.release()
		return nil, err
	}
	s.pending.store = s
	w.watch, w.pending = &s.watch, &s.pending
	s.readers, err = openReaders(path, config.Readers)
	if err == nil {
		s.file, err = identifyFile(path)
	}
	if err == nil && config.replica {
		err = w.openReplica()
	}
	if err == nil {
		err = s.markInUse(w)
	}
	if err == nil && !config.ReadOnly && !config.transfer {
		err = w.sealExisting()
	}
	if err != nil {
		if s.readers != nil {
			_ = s.readers.Close()
		}
		_ = w.close()
		_ = lock.release()
		return nil, fault("open "+filepath.Base(path), err)
	}
	w.conn.SetBusyTimeout(0) // from here on, writer.begin decides how long to wait
	s.writer <- w
	return s, nil
}

// checkPath refuses names for which SQLite would keep the data in memory: a result that Apply has
// returned must be on disk.
func checkPath(path string) error {
	switch {
	case path == "":
		return rota.Invalidf("path", "is empty; give the path of the store's file")
	case path == ":memory:" || strings.HasPrefix(path, "file:"):
		return rota.Invalidf("path", "%q is not the path of a file; a store is always a file on disk", path)
	}
	return nil
}

// checkLinks refuses to write to a file that has another name. A symbolic link is no other name: SQLite and the lock use
// the file that it leads to.
func checkLinks(path string, config Config) error {
	info, err := os.Stat(path)
	if err != nil || config.ReadOnly || config.AllowLinks || info.IsDir() {
		return nil // other errors are reported when the file is opened
	}
	n, known := nofollow.Links(info)
	if !known || n < 2 {
		return nil
	}
	return &rota.Error{
		Code: rota.Conflict, Act: "sqlite: open " + path, Reason: fmt.Sprintf("the file has %d names (hard links); a program that opens another one would corrupt the store", n),
		Hint: "remove the other names (find / -samefile " + path + "), or copy the file and use the copy; to write to it nevertheless use --allow-links of rota serve or rota copy (AllowLinks in Go)",
	}
}

// realPath returns the file behind symbolic links, so that two names of a file share one lock.
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
		"PRAGMA journal_mode = WAL", "PRAGMA synchronous = " + synchronous(config), "PRAGMA cache_size = " + writerCache,
		"PRAGMA wal_autocheckpoint = " + strconv.Itoa(checkpointPages),
	} {
		if err := sqlitex.ExecuteTransient(conn, pragma, nil); err != nil {
			_ = conn.Close()
			return nil, fault(act, err)
		}
	}
	err = checkMarks(conn, config)
	if err == nil {
		err = migrate(conn)
	}
	if err != nil {
		_ = conn.Close()
		return nil, fault(act, err)
	}
	if err := w.prepare(); err != nil {
		_ = w.close()
		return nil, &rota.Error{
			Code: rota.Internal, Act: "sqlite: " + act, Reason: "a table or an index of Rota is missing or was changed", Err: err,
			Hint: "run rota verify, which lists them, and restore a backup",
		}
	}
	return w, nil
}

// synchronous is when SQLite syncs: at each commit, or only when it writes its log back. A replica can lose
// its last commits, because the log that they come from is durable.
func synchronous(c Config) string {
	if c.replica {
		return "NORMAL"
	}
	return "FULL"
}

// ensurePrivateFile creates a missing file for this user alone, before SQLite creates it: the file
// holds secrets of webhooks, and SQLite gives the files beside it the same mode. If all users can
// read an existing file, that may be intended, so it only logs a warning. It ignores errors,
// because SQLite reports them when it opens the file.
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
		log.Warn("every user of this machine can read the store and the secrets in it; run chmod 600 on the file and on its -wal and -shm files", "file", path, "mode", info.Mode().String())
	}
}

func isDirectory(path string) *rota.Error {
	return &rota.Error{
		Code: rota.Unavailable, Act: "sqlite: open " + path, Reason: "the path is a directory", Hint: "give the path of a file",
	}
}

func openReaders(path string, n int) (*sqlitex.Pool, error) {
	return sqlitex.NewPool(path, sqlitex.PoolOptions{
		Flags:       readerFlags,
		PoolSize:    n,
		PrepareConn: prepareReader,
	})
}

// readerFlags allow a reader to create the files that SQLite keeps beside the database. PRAGMA
// query_only prevents writes to the database.
const readerFlags = sqlite.OpenReadWrite

func prepareReader(conn *sqlite.Conn) error {
	conn.SetBusyTimeout(busyTimeout)
	if err := sqlitex.ExecuteTransient(conn, "PRAGMA cache_size = "+readerCache, nil); err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "PRAGMA query_only = 1", nil)
}

const sqlMarkInUse = `
INSERT INTO rota_meta (key, value)
VALUES ('` + metaClean + `', '0'), ('` + metaTxMark + `', '')
ON CONFLICT (key) DO UPDATE SET value = excluded.value`

// markInUse marks the store as not closed, so that the next Open detects an unclean stop. If the
// last stop was unclean, it checks the open jobs.
func (s *Store) markInUse(w *writer) error {
	if s.config.ReadOnly {
		return nil
	}
	clean, err := w.meta(metaClean)
	if err != nil {
		return err
	}
	if err := sqlitex.ExecuteTransient(w.conn, sqlMarkInUse, nil); err != nil {
		return err
	}
	if clean != "0" {
		return nil
	}
	s.config.Logger.Warn("the store was not closed cleanly; checking the open jobs", "file", s.path)
	found := 0
	for v, err := range s.verifyOpen(context.Background()) {
		if err != nil {
			return err
		}
		found++
		s.config.Logger.Error("found a violation after an unclean stop", "check", v.Check, "rows", v.Rows, "detail", v.Detail)
	}
	s.config.Logger.Info("checked the open jobs", "violations", found)
	return nil
}
