package dynamo

import (
	"compress/flate"
	"context"
	"crypto/sha256"
	"io"
	"os"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// writeSnapshot writes a copy of the replica into the table and has the log begin after it. meta was just read.
func (l *commandLog) writeSnapshot(ctx context.Context, m meta) error {
	path := l.path + copySuffix
	removeScratch(l.path, copySuffix)
	defer removeScratch(l.path, copySuffix)
	if err := l.replica.Copy(ctx, path); err != nil {
		return err
	}
	// A damaged copy would take the place of the slots, so all its pages are read first.
	position, err := sqlite.CheckReplica(ctx, path)
	if err != nil || position.Index < m.begin {
		return err
	}
	size, err := l.sizeAt(ctx, m, position.Index)
	if err != nil {
		return err
	}
	s := &snapshot{name: rota.NewID().String(), log: l.id, index: position.Index}
	if err := l.startSnapshot(ctx, m, s.name); err != nil {
		return err
	}
	if err = l.upload(ctx, s, path); err == nil {
		err = l.finishSnapshot(ctx, m, s, size)
	}
	if err != nil {
		if ctx.Err() == nil {
			_ = l.discardSnapshot(ctx, s.name) // otherwise the next leader does
		}
		return err
	}
	l.logger.Info("a snapshot was written", "snapshot", s.name, "slot", s.index, "bytes", s.bytes, "parts", s.parts)
	return nil
}

// sizeAt returns the size of the log up to a slot that is kept, or up to the one before it begins.
func (l *commandLog) sizeAt(ctx context.Context, m meta, index uint64) (int64, error) {
	if index+1 == m.begin {
		return m.size, nil
	}
	i, err := l.table.get(ctx, "read log", slotKey(index))
	if err == nil && i == nil {
		err = l.errAhead(index)
	}
	return i.number(attrSize), err
}

// upload writes the copy in a file as the items of a snapshot.
func (l *commandLog) upload(ctx context.Context, s *snapshot, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return errScratch("write snapshot", err)
	}
	defer file.Close()
	digest := sha256.New()
	parts := newPartWriter(ctx, func(ctx context.Context, n int64, data []byte) error {
		i := partKey(s.name, n)
		i[attrData] = bytesValue(data)
		return l.putPart(ctx, i)
	})
	// The leader runs jobs too, and the fastest level takes a fraction of the processor time of the others.
	compress, err := flate.NewWriter(parts, flate.BestSpeed)
	if err == nil {
		s.bytes, err = io.Copy(io.MultiWriter(compress, digest), file)
	}
	if err == nil {
		err = compress.Close()
	}
	if closeErr := parts.Close(); closeErr != nil {
		err = closeErr // the cause of the other one
	}
	if err != nil {
		return err
	}
	s.parts, s.digest = parts.count, digest.Sum(nil)
	return l.putPart(ctx, s.item())
}

const (
	partTries  = 6
	partAgeMax = leadLease - leadUse
)

// putPart writes an item of a snapshot if this process leads. An item is not sent after the lease has ended: the
// next leader could not find it.
func (l *commandLog) putPart(ctx context.Context, i item) (err error) {
	for range partTries {
		if !l.lead.leads() {
			return errOtherLeader
		}
		err = l.table.put(bornWithin(ctx, partAgeMax), "write snapshot", i)
		if rota.CodeOf(err) != rota.Unavailable || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// partWriter cuts what is written into parts, and writes some of them at the same time.
type partWriter struct {
	ctx   context.Context // ends at the first error
	group *errgroup.Group
	put   func(ctx context.Context, n int64, data []byte) error
	data  []byte // of the next part
	count int64
}

func newPartWriter(ctx context.Context, put func(context.Context, int64, []byte) error) *partWriter {
	w := &partWriter{put: put, data: make([]byte, 0, chunkMax)}
	w.group, w.ctx = errgroup.WithContext(ctx)
	w.group.SetLimit(partsAtOnce)
	return w
}

func (w *partWriter) Write(p []byte) (n int, err error) {
	for n = len(p); len(p) > 0; {
		some := min(chunkMax-len(w.data), len(p))
		w.data, p = append(w.data, p[:some]...), p[some:]
		if len(w.data) == chunkMax {
			w.flush()
		}
	}
	return n, w.ctx.Err()
}

func (w *partWriter) flush() {
	data, n := w.data, w.count
	w.data = make([]byte, 0, chunkMax)
	w.count++
	w.group.Go(func() error { return w.put(w.ctx, n, data) })
}

// Close writes the last part and waits for all. It returns the first error.
func (w *partWriter) Close() error {
	if len(w.data) > 0 {
		w.flush()
	}
	return w.group.Wait()
}

// snapshotLimits say when a leader writes a snapshot.
type snapshotLimits struct {
	bytes int64         // of the bodies of the slots since the last one
	slots uint64        // since the last one
	every time.Duration // how often the leader looks
}

func (c snapshotLimits) withDefaults() snapshotLimits {
	if c == (snapshotLimits{}) {
		return snapshotLimits{bytes: 64 << 20, slots: 100_000, every: 5 * time.Second}
	}
	return c
}
