package sqlite

import (
	"context"
	"path/filepath"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TransferSource is a store whose rows are copied. It holds the lock of the file.
type TransferSource struct {
	rowReader
	store *Store
	name  string
	moved *storekit.Moved
}

var _ transfer.Source = (*TransferSource)(nil)

// TransferConfig configures a store that rows are copied from or into.
type TransferConfig struct {
	Name       string // replaces the URL of a source in messages and marks, if it is not empty
	Keep       bool   // the source is not marked as moved, and so not written to
	AllowLinks bool   // write to a file that has a second name (a hard link)
}

// OpenTransferSource opens a store to copy its rows. If another process uses the store, it returns
// Busy, and if the store is the target of a copy that is not complete, Conflict.
func OpenTransferSource(path string, config TransferConfig) (*TransferSource, error) {
	if err := checkLinks(path, Config{AllowLinks: config.AllowLinks || config.Keep}); err != nil {
		return nil, err
	}
	store, err := OpenWith(path, Config{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s := &TransferSource{store: store, name: config.Name}
	if s.name == "" {
		s.name = transferName(path)
	}
	if err := s.begin(); err != nil {
		_ = s.Close()
		return nil, fault("copy", err)
	}
	return s, nil
}

// begin takes a snapshot on a connection of its own.
func (s *TransferSource) begin() (err error) {
	if s.conn, err = s.store.openReader(context.Background()); err != nil {
		return err
	}
	if err := sqlitex.Execute(s.conn, "BEGIN", nil); err != nil {
		return err
	}
	moved, copying, err := readMarks(s.conn)
	if err == nil {
		err = storekit.CheckMarks("sqlite: copy", "", copying, false)
	}
	if err == nil {
		s.moved, err = storekit.DecodeMark[storekit.Moved](moved)
	}
	return err
}

// transferName returns the URL of a file by which a copy that is resumed recognises it.
func transferName(path string) string {
	path = realPath(path)
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return "sqlite:" + path
}

// Name returns the URL of the store.
func (s *TransferSource) Name() string { return s.name }

// Moved returns the mark of a store that was moved.
func (s *TransferSource) Moved() *storekit.Moved { return s.moved }

// SelectIDs executes a query that returns ids.
func (s *TransferSource) SelectIDs(ctx context.Context, sql string) (ids []rota.ID, err error) {
	err = s.query(ctx, sql, func(r storekit.Row) error {
		ids = append(ids, r.ID(0))
		return nil
	})
	return ids, err
}

// MarkMoved marks the store as moved, on a connection that writes. It ends the snapshot before: in a file
// without a write-ahead log, such as a restored backup, a reader blocks a writer. The lock of the file
// stays.
func (s *TransferSource) MarkMoved(_ context.Context, mark storekit.Moved) error {
	s.conn.SetInterrupt(nil)
	if err := sqlitex.Execute(s.conn, "ROLLBACK", nil); err != nil {
		return fault("mark as moved", err)
	}
	conn, err := sqlite.OpenConn(s.store.file.path, sqlite.OpenReadWrite)
	if err != nil {
		return fault("mark as moved", err)
	}
	conn.SetBusyTimeout(busyTimeout)
	err = putMeta(conn, storekit.MetaMoved, storekit.EncodeMark(mark))
	if e := conn.Close(); err == nil {
		err = e
	}
	return fault("mark as moved", err)
}

// Close releases the file.
func (s *TransferSource) Close() error {
	if s.conn != nil {
		_ = s.conn.Close()
	}
	return s.store.Close()
}
