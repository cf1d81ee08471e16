package sqlite

import (
	"context"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// Sync writes SQLite's log back into the file, which syncs both.
func (r *Replica) Sync(ctx context.Context) error {
	w, err := r.acquireToWrite(ctx, "sync")
	if err != nil {
		return err
	}
	defer r.release(w)
	return fault("sync", r.syncFile(w))
}

func (r *Replica) syncFile(w *writer) error {
	busy := false
	err := query(w.conn, "PRAGMA wal_checkpoint(FULL)", func(row storekit.Row) error {
		busy = row.Int(0) != 0
		return nil
	})
	if err == nil && busy { // a reader uses an old snapshot; the log itself is synced then
		err = syncPath(r.file.path+"-wal", 0)
	}
	return err
}

// Copy writes a snapshot with the position to a file that does not exist. It does not catch up with the log
// first: the log itself calls it, maybe with its locks held, or while it cannot reach other processes.
func (r *Replica) Copy(ctx context.Context, path string) error {
	return r.copyTo(path, func(part string) error {
		if !r.longReads.begin() {
			return errClosed()
		}
		defer r.longReads.active.Done()
		storeCtx, end := r.untilClosed(ctx)
		defer end()
		err := r.readOnOwnConn(storeCtx, func(conn *sqlite.Conn) error { return copyPages(conn, part, storeCtx.Err, nil) })
		return r.readFault(ctx, "copy", err)
	}, nil)
}

// Backup writes a snapshot that is a store of its own: it has no position, and the commands of others do not
// reach it.
func (r *Replica) Backup(ctx context.Context, path string, progress func(done, total int64)) error {
	return r.copyTo(path, func(part string) error {
		check := func() error {
			if r.isClosed() {
				return errClosed()
			}
			return ctx.Err()
		}
		return r.withOwnConn(ctx, "backup", func(conn *sqlite.Conn) error { return copyPages(conn, part, check, progress) })
	}, removePosition)
}

// copyTo writes a copy under a temporary name, changes it, and gives it its name.
func (r *Replica) copyTo(path string, write, change func(part string) error) error {
	if err := firstError(func() error { return checkPath(path) }, func() error { return checkAbsent(path) }); err != nil {
		return err
	}
	part, err := createPartFile(path)
	if err != nil {
		return err
	}
	defer removePart(part)
	if err = write(part); err == nil && change != nil {
		err = change(part)
	}
	if err == nil {
		err = r.finishCopy(part)
	}
	if err != nil {
		return fault("backup", err)
	}
	return moveIntoPlace(part, path)
}

func removePosition(path string) error {
	return changeMarks(path, func(conn *sqlite.Conn) error {
		for _, sql := range []string{sqlDropChanged, sqlDropMoved} {
			if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
				return err
			}
		}
		return deleteMeta(conn, metaReplica)
	})
}

// Replace copies the pages of a file over those of the replica in one transaction. Reads that have begun
// keep their snapshots. It syncs the new contents, because the log may not have the entries before them.
func (r *Replica) Replace(ctx context.Context, path string) error {
	act := "replace by " + filepath.Base(path)
	if r.config.ReadOnly {
		_, err := r.acquireToWrite(ctx, act)
		return err
	}
	from, err := openCopyOfReplica(ctx, path)
	if err != nil {
		return fault(act, err)
	}
	defer func() { _ = from.close() }()
	w, err := r.acquire(ctx)
	if err != nil {
		return err
	}
	defer r.release(w)
	replaced, err := w.replaceBy(from)
	if replaced {
		position := w.replica.LogPosition
		r.applied.Store(&position)
		r.wake.WakeAll()
	}
	if err != nil {
		return fault(act, err)
	}
	return fault(act, firstError(
		func() error { return w.setMeta(metaClean, "0") },
		func() error { return r.syncFile(w) },
	))
}

// openCopyOfReplica opens a file that Copy has written and takes a snapshot of it. It refuses one that is damaged, or
// that this program could not use: afterwards the replica would have no contents.
func openCopyOfReplica(ctx context.Context, path string) (*writer, error) {
	w, err := openReadOnly(path)
	if err != nil {
		return nil, err
	}
	w.conn.SetInterrupt(ctx.Done())
	if err = sqlitex.ExecuteTransient(w.conn, "BEGIN", nil); err == nil {
		err = w.loadCopiedState(filepath.Base(path))
	}
	if err == nil {
		err = checkPages(w.conn)
	}
	if err == nil {
		err = w.prepare()
	}
	w.conn.SetInterrupt(nil)
	if err != nil {
		_ = w.close()
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, err
	}
	return w, nil
}

func (w *writer) loadCopiedState(name string) error {
	text, err := w.meta(metaReplica)
	if err != nil {
		return err
	}
	if text == "" {
		return &rota.Error{
			Code: rota.Conflict, Act: "sqlite: replace", Reason: name + " is no copy of a replica",
			Hint: "copy a replica of the log",
		}
	}
	state, err := decodeReplicaState(text)
	w.replica = &state
	return err
}

// checkPages refuses a file whose pages are damaged.
func checkPages(conn *sqlite.Conn) error {
	return query(conn, "PRAGMA quick_check(1)", func(row storekit.Row) error {
		text := row.Text(0)
		if text == "ok" {
			return nil
		}
		damaged := faults[sqlite.ResultCorrupt]
		return &rota.Error{
			Code: damaged.code, Act: "sqlite: replace", Reason: damaged.reason + ": " + text,
			Hint: "copy the replica again",
		}
	})
}

// replaceBy copies all pages of another connection's file over those of the writer's. It discards what is cached.
func (w *writer) replaceBy(from *writer) (replaced bool, err error) {
	w.stmts.finalize()
	w.stmts = statements{}
	w.dispatched, w.hooks, w.limits = dispatchedCache{}, hooksCache{}, limitsCache{}
	w.conn.SetBusyTimeout(busyTimeout)
	defer w.conn.SetBusyTimeout(0)
	b, err := sqlite.NewBackup(w.conn, "main", from.conn, "main")
	if err == nil {
		_, err = b.Step(-1)
		_ = b.Close() // rolls back what is not complete
	}
	if replaced = err == nil; replaced {
		*w.replica = *from.replica
	}
	if prepareErr := w.prepare(); err == nil {
		err = prepareErr
	}
	if err == nil {
		err = w.openTracking()
	}
	return replaced, err
}
