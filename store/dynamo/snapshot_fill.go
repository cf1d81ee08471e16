package dynamo

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// fillsMax is how often a process starts to read a snapshot before it gives up. Each time a leader has replaced the
// one that it has read.
const fillsMax = 5

// fill replaces the contents of the replica by the last snapshot. The caller holds the lock, and reads the slots after it.
func (l *commandLog) fill(ctx context.Context) error {
	asked := time.Now()
	err := l.fillFromLast(ctx)
	switch {
	case err == nil:
		l.keptAt = asked
	case ctx.Err() != nil:
		l.askToCatchUp()
	case rota.CodeOf(err) == rota.Internal || rota.CodeOf(err) == rota.Conflict:
		err = l.stop(err)
	}
	return err
}

// fillFromLast reads meta, and the snapshot that it names. If that fails because a leader has replaced the snapshot, it
// reads the next one.
func (l *commandLog) fillFromLast(ctx context.Context) (err error) {
	failed := ""
	for range fillsMax {
		m, metaErr := l.readMeta(ctx)
		if metaErr == nil {
			metaErr = l.checkLog(m)
		}
		switch {
		case metaErr != nil:
			return metaErr
		case m.snapshot == "":
			return l.errNoSnapshot(m)
		case m.snapshot == failed:
			return err
		}
		if err = l.fillFrom(ctx, m); err == nil {
			return nil
		}
		failed = m.snapshot
	}
	return err
}

func (l *commandLog) errNoSnapshot(m meta) error {
	return &rota.Error{
		Code: rota.Internal, Act: "dynamodb: fill replica",
		Reason: fmt.Sprintf("this replica is at slot %d, the log of the table %s begins at slot %d, and the item rota#meta names no snapshot", l.replica.Applied().Index, l.table.name, m.begin),
		Hint:   "restore the table as it was before someone changed it",
	}
}

// fillFrom replaces the contents of the replica by the snapshot of meta. It writes the copy to a file, so that memory
// holds a few parts only.
func (l *commandLog) fillFrom(ctx context.Context, m meta) error {
	s, err := l.readSnapshot(ctx, m)
	if err != nil {
		return err
	}
	l.logger.Info("the replica is filled from a snapshot", "snapshot", s.name, "slot", s.index, "bytes", s.bytes)
	path := l.path + fillSuffix
	removeScratch(l.path, fillSuffix)
	defer removeScratch(l.path, fillSuffix)
	if err := l.download(ctx, s, path); err != nil {
		return err
	}
	if err := l.migrateCopy(path); err != nil {
		return err
	}
	if err := l.replica.Replace(ctx, path); err != nil {
		return err
	}
	l.size = m.size
	if l.store != nil {
		l.store.Lost("the replica was filled from a snapshot")
	}
	return nil
}

// migrateCopy brings the copy of an earlier version of the program to the schema of this one, which Replace needs.
func (l *commandLog) migrateCopy(path string) error {
	copied, err := sqlite.OpenReplica(path, l.replicaConfig())
	if err != nil {
		return err
	}
	return copied.Close()
}

// download writes the copy of a snapshot to a file.
func (l *commandLog) download(ctx context.Context, s *snapshot, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return errScratch("fill replica", err)
	}
	parts := &partReader{ctx: ctx, table: l.table, snapshot: s}
	digest := sha256.New()
	n, err := io.Copy(io.MultiWriter(file, digest), io.LimitReader(flate.NewReader(parts), s.bytes+1))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	var disk *fs.PathError
	switch {
	case parts.err != nil:
		return parts.err
	case errors.As(err, &disk):
		return errScratch("fill replica", err)
	case err != nil:
		return s.fault("the snapshot %s is damaged: %v", s.name, err)
	case n != s.bytes || !bytes.Equal(digest.Sum(nil), s.digest):
		return s.fault("the snapshot %s is damaged: its digest differs", s.name)
	}
	return nil
}

// partsAtOnce is how many parts are read or written at the same time.
const partsAtOnce = 4

// partReader reads the parts of a snapshot in order.
type partReader struct {
	ctx      context.Context
	table    *table
	snapshot *snapshot
	next     int64    // part that is requested next
	ready    [][]byte // rest of the parts that were read
	err      error    // of a request
}

func (r *partReader) Read(p []byte) (int, error) {
	for len(r.ready) == 0 {
		if r.next == r.snapshot.parts {
			return 0, io.EOF
		}
		if r.err = r.request(); r.err != nil {
			return 0, r.err
		}
	}
	n := copy(p, r.ready[0])
	if r.ready[0] = r.ready[0][n:]; len(r.ready[0]) == 0 {
		r.ready = r.ready[1:]
	}
	return n, nil
}

func (r *partReader) request() error {
	count := min(partsAtOnce, r.snapshot.parts-r.next)
	found := make([][]byte, count)
	group, ctx := errgroup.WithContext(r.ctx)
	for n := range count {
		group.Go(func() error {
			i, err := r.table.get(ctx, "read snapshot", partKey(r.snapshot.name, r.next+n))
			if err != nil {
				return err
			}
			if found[n] = i.bytes(attrData); len(found[n]) == 0 {
				return r.snapshot.fault("part %d of the %d of the snapshot %s is missing", r.next+n+1, r.snapshot.parts, r.snapshot.name)
			}
			return nil
		})
	}
	err := group.Wait()
	r.next, r.ready = r.next+count, found
	return err
}
