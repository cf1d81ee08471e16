package postgres

import (
	"context"
	"encoding/binary"
	"io"
	"iter"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/transfer"
)

// TransferTarget is a store that rows are copied into.
type TransferTarget struct {
	*transferConn
	state *storekit.CopyState
	wide  map[string]bool // columns of the type bigint, by table and name
}

var _ transfer.Target = (*TransferTarget)(nil)

// OpenTransferTarget opens a store to copy rows into it, and creates the schema if it does not exist.
// If a server uses the store, it returns Busy.
func OpenTransferTarget(url string) (*TransferTarget, error) {
	return openTransferTarget(url, Config{})
}

func openTransferTarget(url string, config Config) (*TransferTarget, error) {
	config.transfer = true
	c, err := openTransferConn(url, config)
	if err != nil {
		return nil, err
	}
	t := &TransferTarget{transferConn: c, wide: map[string]bool{}}
	ctx, done := context.WithTimeout(context.Background(), transferTimeout)
	defer done()
	if err := t.prepare(ctx); err != nil {
		_ = t.Close()
		return nil, err
	}
	return t, nil
}

const sqlWideColumns = `
SELECT 'rota' || '_' || c.relname || '.' || a.attname
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = '%s' AND a.atttypid = 'pg_catalog.int8'::regtype`

// prepare reads the marks and the types of the columns, in a transaction that no other one can
// change the tables in.
func (t *TransferTarget) prepare(ctx context.Context) error {
	if err := t.begin(ctx); err != nil {
		return err
	}
	rows, err := t.exec(ctx, sqlMarks, t.store.lockSpace, lockTransfer)
	if err != nil {
		return err
	}
	if t.state, err = storekit.DecodeMark[storekit.CopyState](rows[0][1]); err == nil {
		err = storekit.CheckMarks("postgres: open", rows[0][0], "", false)
	}
	if err != nil {
		return err
	}
	if rows, err = t.exec(ctx, sqlWideColumns, t.store.config.Schema); err != nil {
		return err
	}
	for _, r := range rows {
		t.wide[r[0]] = true
	}
	return t.commit(ctx)
}

func (t *TransferTarget) commit(ctx context.Context) error {
	_, err := t.exec(ctx, sqlCommit)
	return err
}

// State returns the state of an unfinished copy.
func (t *TransferTarget) State() *storekit.CopyState { return t.state }

// change calls write in one transaction.
func (t *TransferTarget) change(ctx context.Context, write func() error) error {
	if err := t.begin(ctx); err != nil {
		t.session.endTransaction(ctx)
		return err
	}
	err := write()
	if err == nil {
		err = t.commit(ctx)
	}
	if err != nil {
		t.session.endTransaction(ctx)
	}
	return err
}

const (
	sqlSwitchTriggers = `
ALTER TABLE %s %s TRIGGER USER`
	sqlDeleteMeta = `
DELETE FROM rota_meta
WHERE key = $1`
)

// switchTriggers disables or enables the triggers of all tables. The owner of the tables may do so.
func (t *TransferTarget) switchTriggers(ctx context.Context, how string) error {
	for _, table := range storekit.RowTables {
		if _, err := t.exec(ctx, sqlSwitchTriggers, t.session.dialect.qualify(table.Name), how); err != nil {
			return err
		}
	}
	return nil
}

func (t *TransferTarget) setState(ctx context.Context, state storekit.CopyState) error {
	return t.send(ctx, statement{sql: sqlSetMeta, params: []param{textNotNull(storekit.MetaCopy), textNotNull(storekit.EncodeMark(state))}})
}

// Begin marks the store as the target of a copy and disables its triggers. It deletes the rows of an
// earlier copy, if discard is set, in the same transaction.
func (t *TransferTarget) Begin(ctx context.Context, state storekit.CopyState, discard bool) error {
	return t.change(ctx, func() error {
		if err := t.switchTriggers(ctx, "DISABLE"); err != nil {
			return err
		}
		if state.Rows == 0 {
			if err := t.deleteRows(ctx, func(table *storekit.RowTable) bool { return table.Preset || discard }); err != nil {
				return err
			}
		}
		return t.setState(ctx, state)
	})
}

// deleteRows truncates tables together, because one refers to another.
func (t *TransferTarget) deleteRows(ctx context.Context, of func(*storekit.RowTable) bool) error {
	var names []string
	for _, table := range storekit.RowTables {
		if of(table) {
			names = append(names, table.Name)
		}
	}
	_, err := t.exec(ctx, "TRUNCATE "+strings.Join(names, ", "))
	return err
}

// Write writes rows with COPY, and the new state.
func (t *TransferTarget) Write(ctx context.Context, table *storekit.RowTable, rows *storekit.Rows, state storekit.CopyState) error {
	return t.change(ctx, func() error {
		sql := "COPY " + table.Name + " (" + strings.Join(table.Names(), ", ") + copyFrom
		from := &transferRows{target: t, table: table, rows: rows, fields: column{data: []byte(copyHeader)}}
		if _, err := t.session.conn.CopyFrom(ctx, from, t.session.dialect.qualify(sql)); err != nil {
			return fault("copy", err)
		}
		return t.setState(ctx, state)
	})
}

// Restore enables the triggers.
func (t *TransferTarget) Restore(ctx context.Context) error {
	return t.change(ctx, func() error {
		if err := t.beginChain(ctx); err != nil {
			return err
		}
		return t.switchTriggers(ctx, "ENABLE")
	})
}

const (
	sqlFirstAnchor = `
INSERT INTO rota_audit_anchor (id, removed_before)
VALUES (1, -9223372036854775807)
ON CONFLICT (id) DO NOTHING`
	// A copy with history takes numbers from its source, which the sequence continues.
	sqlNextUnsealed = `
SELECT setval(pg_get_serial_sequence('rota_audit_unsealed', 'n'), max(n))
FROM rota_audit_unsealed
HAVING max(n) IS NOT NULL`
	sqlAllUnsealed = `
INSERT INTO rota_audit_unsealed (at, ids)
SELECT min(p.at), string_agg(uuid_send(p.id), '' ORDER BY p.at, p.id)
FROM (SELECT a.id, a.at, (row_number() OVER (ORDER BY a.at, a.id) - 1) / 1000 AS page FROM rota_audit a) p
WHERE NOT EXISTS (SELECT FROM rota_audit_seals) AND NOT EXISTS (SELECT FROM rota_audit_unsealed)
GROUP BY p.page
ORDER BY p.page`
)

// beginChain begins a new chain of the audit if the copy took a part of the entries and no chain.
func (t *TransferTarget) beginChain(ctx context.Context) error {
	for _, sql := range []string{sqlFirstAnchor, sqlAllUnsealed, sqlNextUnsealed} {
		if _, err := t.exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// VerifyProgress checks every invariant.
func (t *TransferTarget) VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return t.store.VerifyProgress(ctx, report)
}

const sqlAnalyze = `ANALYZE %s`

// Finish removes the mark. It lets PostgreSQL count the rows first: plans for an empty table scan it
// whole.
func (t *TransferTarget) Finish(ctx context.Context) error {
	for _, table := range storekit.RowTables {
		if _, err := t.exec(ctx, sqlAnalyze, t.session.dialect.qualify(table.Name)); err != nil {
			return err
		}
	}
	return t.change(ctx, func() error {
		return t.send(ctx, statement{sql: sqlDeleteMeta, params: []param{textNotNull(storekit.MetaCopy)}})
	})
}

// transferRows encodes rows in the binary format of COPY while they are read.
type transferRows struct {
	target *TransferTarget
	table  *storekit.RowTable
	rows   *storekit.Rows
	next   int    // the next row to encode
	fields column // buffer; a field is encoded like an array element
	ended  bool
}

func (r *transferRows) Read(buffer []byte) (int, error) {
	for len(r.fields.data) < len(buffer) && !r.ended {
		if err := r.encodeNext(); err != nil {
			return 0, err
		}
	}
	if len(r.fields.data) == 0 {
		return 0, io.EOF
	}
	n := copy(buffer, r.fields.data)
	r.fields.data = r.fields.data[:copy(r.fields.data, r.fields.data[n:])]
	return n, nil
}

// encodeNext encodes the next row or the end marker.
func (r *transferRows) encodeNext() error {
	if r.next == r.rows.Len() {
		r.ended = true
		r.fields.data = append(r.fields.data, copyEnd...)
		return nil
	}
	r.fields.data = binary.BigEndian.AppendUint16(r.fields.data, uint16(len(r.table.Columns)))
	r.next++
	return r.table.EachValue(r.rows.Row(r.next-1), func(col int, v *storekit.RowValue) {
		if v.Kind == storekit.Small && r.target.wide[r.table.Name+"."+r.table.Columns[col].Name] {
			v.Kind = storekit.Int
		}
		v.Pass(&r.fields)
	})
}
