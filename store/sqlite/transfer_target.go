package sqlite

import (
	"context"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
	"zombiezen.com/go/sqlite/sqlitex"
)

// TransferTarget is a store that rows are copied into. It holds the lock of the file.
type TransferTarget struct {
	rowReader
	store *Store
	w     *writer
	name  string
	state *storekit.CopyState
}

var _ transfer.Target = (*TransferTarget)(nil)

// OpenTransferTarget opens a store to copy rows into it, and creates the file if it does not exist.
// If another process uses the store, it returns Busy.
func OpenTransferTarget(path string, config TransferConfig) (*TransferTarget, error) {
	return openTransferTarget(path, Config{AllowLinks: config.AllowLinks})
}

func openTransferTarget(path string, config Config) (*TransferTarget, error) {
	config.transfer = true
	store, err := OpenWith(path, config)
	if err != nil {
		return nil, err
	}
	w, err := store.acquire(context.Background())
	if err != nil {
		return nil, err
	}
	t := &TransferTarget{rowReader: rowReader{w.conn}, store: store, w: w, name: transferName(path)}
	moved, copying, err := readMarks(w.conn)
	if err == nil {
		t.state, err = storekit.DecodeMark[storekit.CopyState](copying)
	}
	if err == nil {
		err = storekit.CheckMarks("sqlite: open", moved, "", false)
	}
	if err != nil {
		_ = t.Close()
		return nil, fault("copy", err)
	}
	return t, nil
}

// Name returns the URL of the store.
func (t *TransferTarget) Name() string { return t.name }

// State returns the state of an unfinished copy.
func (t *TransferTarget) State() *storekit.CopyState { return t.state }

// Begin marks the store as the target of a copy and drops its triggers. It deletes the rows of an
// earlier copy, if discard is set, in the same transaction.
func (t *TransferTarget) Begin(ctx context.Context, state storekit.CopyState, discard bool) error {
	return t.change(ctx, func() error {
		if err := t.dropTriggers(); err != nil {
			return err
		}
		if state.Rows == 0 {
			if err := t.deleteRows(func(table *storekit.RowTable) bool { return table.Preset || discard }); err != nil {
				return err
			}
		}
		return t.w.setMeta(storekit.MetaCopy, storekit.EncodeMark(state))
	})
}

func (t *TransferTarget) deleteRows(of func(*storekit.RowTable) bool) error {
	for _, table := range slices.Backward(storekit.RowTables) {
		if !of(table) {
			continue
		}
		if table.IsJobs() {
			if err := t.exec("DELETE FROM rota_params"); err != nil {
				return err
			}
		}
		if err := t.exec("DELETE FROM " + table.Name); err != nil {
			return err
		}
	}
	return nil
}

const triggerPrefix = "trigger "

func (t *TransferTarget) dropTriggers() error {
	schema, err := schemaOf(t.conn)
	if err != nil {
		return err
	}
	for name := range schema {
		if trigger, is := strings.CutPrefix(name, triggerPrefix); is {
			if err := t.exec("DROP TRIGGER " + trigger); err != nil {
				return err
			}
		}
	}
	return nil
}

// Restore creates the triggers again.
func (t *TransferTarget) Restore(ctx context.Context) error {
	want, err := newSchema()
	if err != nil {
		return err
	}
	return t.change(ctx, func() error {
		if err := t.dropTriggers(); err != nil {
			return err
		}
		if err := t.beginChain(); err != nil {
			return err
		}
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if strings.HasPrefix(name, triggerPrefix) {
				if err := t.exec(want[name]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

const (
	sqlFirstAnchor = `INSERT INTO rota_audit_anchor (id, removed_before) VALUES (1, -9223372036854775807) ON CONFLICT DO NOTHING`
	sqlAllUnsealed = `
INSERT INTO rota_audit_unsealed (n, at, ids)
SELECT seq, at, id
FROM rota_audit
WHERE NOT EXISTS (SELECT 1 FROM rota_audit_seals) AND NOT EXISTS (SELECT 1 FROM rota_audit_unsealed)
ORDER BY seq`
)

// beginChain begins a new chain of the audit if the copy took a part of the entries and no chain.
func (t *TransferTarget) beginChain() error {
	if err := t.exec(sqlFirstAnchor); err != nil {
		return err
	}
	return t.exec(sqlAllUnsealed)
}

// Write writes rows and the new state.
func (t *TransferTarget) Write(ctx context.Context, table *storekit.RowTable, rows *storekit.Rows, state storekit.CopyState) error {
	return t.change(ctx, func() error {
		for i := range rows.Len() {
			if err := t.insert(table, rows.Row(i)); err != nil {
				return err
			}
		}
		return t.w.setMeta(storekit.MetaCopy, storekit.EncodeMark(state))
	})
}

// insert inserts a row. Long params of a job have a table of their own.
func (t *TransferTarget) insert(table *storekit.RowTable, row []byte) error {
	stmt, err := t.w.stmt(table.Insert())
	if err != nil {
		return err
	}
	b, long, job := &binder{stmt: stmt}, "", rota.ID{}
	err = table.EachValue(row, func(col int, v *storekit.RowValue) {
		switch {
		case col == 0 && table.IsJobs():
			job = v.ID
		case table.IsJobs() && table.Columns[col].Name == "params" && len(v.Text) > paramsInline:
			long = v.Text
			b.Null()
			return
		}
		v.Pass(b)
	})
	if err == nil {
		err = t.w.write(stmt)
	}
	if err == nil && long != "" {
		err = t.w.change(sqlInsertParams, long, job)
	}
	return err
}

// VerifyProgress checks every invariant.
func (t *TransferTarget) VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return t.store.VerifyProgress(ctx, report)
}

// Finish removes the mark.
func (t *TransferTarget) Finish(ctx context.Context) error {
	return t.change(ctx, func() error { return deleteMeta(t.conn, storekit.MetaCopy) })
}

// change calls write in one transaction.
func (t *TransferTarget) change(ctx context.Context, write func() error) error {
	t.conn.SetInterrupt(nil) // a transaction that has begun is completed
	if err := t.w.begin(ctx); err != nil {
		return err
	}
	err := write()
	if err == nil {
		err = t.w.exec(sqlCommit)
	}
	if err != nil {
		t.w.rollback()
		return fault("copy", err)
	}
	return nil
}

func (t *TransferTarget) exec(sql string) error { return sqlitex.ExecuteTransient(t.conn, sql, nil) }

// Close releases the file.
func (t *TransferTarget) Close() error {
	t.conn.SetInterrupt(nil)
	t.store.release(t.w)
	return t.store.Close()
}
