package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
)

// TransferSource is a store whose rows are copied. Until it is closed, one transaction locks all
// tables against changes.
type TransferSource struct {
	*transferConn
	moved *storekit.Moved
}

var _ transfer.Source = (*TransferSource)(nil)

// OpenTransferSource opens a store to copy its rows. If a server uses the store, it returns Busy, and
// if the store is the target of a copy that is not complete, Conflict.
func OpenTransferSource(url string) (*TransferSource, error) {
	return openTransferSource(url, Config{})
}

func openTransferSource(url string, config Config) (*TransferSource, error) {
	config.ReadOnly = true
	c, err := openTransferConn(url, config)
	if err != nil {
		return nil, err
	}
	s := &TransferSource{transferConn: c}
	ctx, done := context.WithTimeout(context.Background(), transferTimeout)
	defer done()
	if err = s.begin(ctx); err == nil {
		var rows [][]string
		if rows, err = s.exec(ctx, sqlMarks, s.store.lockSpace, lockTransfer); err == nil {
			err = storekit.CheckMarks("postgres: copy", "", rows[0][1], false)
		}
		if err == nil {
			s.moved, err = storekit.DecodeMark[storekit.Moved](rows[0][0])
		}
	}
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// Moved returns the mark of a store that was moved.
func (s *TransferSource) Moved() *storekit.Moved { return s.moved }

// SelectIDs executes a query that returns ids.
func (s *TransferSource) SelectIDs(ctx context.Context, sql string) (ids []rota.ID, err error) {
	err = s.send(ctx, statement{sql: sql, eachRow: func(r row) error {
		ids = append(ids, r.ID(0))
		return nil
	}})
	return ids, err
}

const (
	sqlSetMeta = `
INSERT INTO rota_meta (key, value)
VALUES ($1, $2)
ON CONFLICT (key) DO UPDATE SET value = excluded.value`
	// A process that still has the store open must not change it: nothing would execute its jobs.
	sqlMovedFunction = `
CREATE FUNCTION rota_moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rota: this store was moved to another one' USING ERRCODE = '%s';
END $$`
	sqlMovedTrigger = `
CREATE TRIGGER moved BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON %s
FOR EACH STATEMENT EXECUTE FUNCTION rota_moved()`
)

// MarkMoved marks the store as moved and has its tables refuse every change. It commits the
// transaction.
func (s *TransferSource) MarkMoved(ctx context.Context, mark storekit.Moved) error {
	err := s.send(ctx, statement{sql: sqlSetMeta, params: []param{textNotNull(storekit.MetaMoved), textNotNull(storekit.EncodeMark(mark))}})
	if err != nil {
		return err
	}
	if _, err := s.exec(ctx, sqlDropMovedTriggers); err != nil { // of a store that was used again since an earlier copy
		return err
	}
	if _, err := s.exec(ctx, sqlMovedFunction, stateMoved); err != nil {
		return err
	}
	for _, t := range storekit.RowTables {
		if _, err := s.exec(ctx, sqlMovedTrigger, s.session.dialect.qualify(t.Name)); err != nil {
			return err
		}
	}
	_, err = s.exec(ctx, sqlCommit)
	return err
}
