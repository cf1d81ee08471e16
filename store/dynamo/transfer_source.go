package dynamo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

// attrMoved is the mark of a store that was moved to another one.
const attrMoved = "moved"

// TransferSource is a store whose rows are copied. They are read from a copy of a replica, in a temporary directory.
type TransferSource struct {
	*sqlite.TransferSource
	store *Store
	dir   string
	index uint64 // last slot of the copy
	moved *storekit.Moved
}

var _ transfer.Source = (*TransferSource)(nil)

// OpenTransferSource opens a store to copy its rows. If a node uses the store, it returns Busy.
func OpenTransferSource(ctx context.Context, url string, config Config) (s *TransferSource, err error) {
	s = &TransferSource{}
	if s.dir, err = os.MkdirTemp("", "rota-copy-*"); err != nil {
		return nil, errScratch("copy", err)
	}
	config.Dir, config.ReadOnly = s.dir, true
	if err = s.open(ctx, url, config); err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

func (s *TransferSource) open(ctx context.Context, url string, config Config) (err error) {
	if s.store, err = Open(ctx, url, config); err != nil {
		return err
	}
	l := s.store.log
	if err := l.checkUnused(ctx); err != nil {
		return err
	}
	m, err := l.readMeta(ctx)
	if err == nil {
		s.moved, err = storekit.DecodeMark[storekit.Moved](m.moved)
	}
	if err != nil {
		return err
	}
	path := filepath.Join(s.dir, "copy.db")
	if err := l.replica.Backup(ctx, path, nil); err != nil {
		return err
	}
	s.index = l.replica.Applied().Index
	s.TransferSource, err = sqlite.OpenTransferSource(path, sqlite.TransferConfig{Name: l.table.url(l.options), Keep: true})
	return err
}

// checkUnused refuses a store whose nodes run.
func (l *commandLog) checkUnused(ctx context.Context) error {
	now, err := l.Now(ctx)
	if err != nil {
		return err
	}
	m, err := l.readMembers(ctx, now)
	if err != nil || len(m.live) == 0 {
		return err
	}
	names := make([]string, len(m.live))
	for n, i := range m.live {
		names[n] = i.text(attrName)
	}
	return &rota.Error{
		Code: rota.Busy, Act: "dynamodb: copy", Reason: "these nodes use the store: " + strings.Join(names, ", "),
		Hint: "stop them; a node that was killed counts until its lease of some seconds has ended",
	}
}

// url returns the URL of a store by which people and marks recognise it.
func (t *table) url(o Options) string {
	name := Scheme + "://" + t.name + "?region=" + t.client.Options().Region
	if o.Endpoint != "" {
		name += "&endpoint=" + o.Endpoint
	}
	return name
}

// Moved returns the mark of a store that was moved.
func (s *TransferSource) Moved() *storekit.Moved { return s.moved }

// MarkMoved marks the store as moved, unless a process has changed it since it was copied.
func (s *TransferSource) MarkMoved(ctx context.Context, mark storekit.Moved) error {
	l := s.store.log
	next, err := l.table.get(ctx, "mark as moved", slotKey(s.index+1))
	if err == nil && next != nil {
		err = &rota.Error{
			Code: rota.Conflict, Act: "dynamodb: copy", Reason: fmt.Sprintf("a process has changed the table %s during the copy", l.table.name),
			Hint: "stop every process that uses the store, and copy it again",
		}
	}
	if err != nil {
		return err
	}
	_, err = l.table.update(ctx, "mark as moved", metaKey(), "SET #moved = :mark", "", map[string]string{"#moved": attrMoved}, item{":mark": stringValue(storekit.EncodeMark(mark))})
	return err
}

// checkMoved refuses a store that was moved to another one. If it may be used nevertheless, the mark is removed.
func (l *commandLog) checkMoved(ctx context.Context, m meta, allow bool) error {
	if m.moved == "" || l.readOnly {
		return nil
	}
	if err := storekit.CheckMarks("dynamodb: open", m.moved, "", allow); err != nil {
		return err
	}
	l.logger.Warn("the store was moved to another one and is used again; its mark is removed", "mark", m.moved)
	_, err := l.table.update(ctx, "remove mark", metaKey(), "REMOVE #moved", "", map[string]string{"#moved": attrMoved}, nil)
	return err
}

// Close removes the copy.
func (s *TransferSource) Close() (err error) {
	if s.TransferSource != nil {
		err = s.TransferSource.Close()
	}
	if s.store != nil {
		err = errors.Join(err, s.store.Close())
	}
	return errors.Join(err, os.RemoveAll(s.dir))
}
