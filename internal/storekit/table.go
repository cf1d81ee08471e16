package storekit

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

// Table describes one table: its columns, and the statements that write its rows.
type Table[T any] struct {
	Name    string
	columns []Column[T]
	what    func(*T) string // names a row in an error

	upserts  bool                  // a change inserts or updates the row, whichever fits
	replaces func(was, is *T) bool // whether a change deletes the row and inserts another; nil: never

	read     []*Column[T] // columns of Select
	inserted []*Column[T]
	updated  []*Column[T] // the key, then what an update changes
	keys     []*Column[T]

	insert, update, remove string // the insert of a table with upserts also updates
	byKey                  string
}

// newTable completes the description of a table.
func newTable[T any](t Table[T]) *Table[T] {
	var changed []*Column[T]
	for i := range t.columns {
		c := &t.columns[i]
		if c.read != nil {
			t.read = append(t.read, c)
		}
		if c.key {
			t.keys = append(t.keys, c)
		}
		if !c.later {
			t.inserted = append(t.inserted, c)
		}
		if !c.key && !c.fixed {
			changed = append(changed, c)
		}
	}
	t.updated = slices.Concat(t.keys, changed)
	t.insert = insertSQL(t.Name, t.inserted)
	switch {
	case t.upserts:
		t.insert += onConflict(t.keys, changed)
	case len(changed) > 0:
		t.update = updateSQL(t.Name, t.keys, changed)
	}
	t.remove = "\nDELETE FROM " + t.Name + whereKey(t.keys)
	t.byKey = t.Select()
	if t.keys[0].read != nil { // otherwise there is at most one row
		t.byKey += whereKey(t.keys)
	}
	return &t
}

// Select returns the beginning of a query, up to the name of the table. More columns follow those
// that Scan reads.
func (t *Table[T]) Select(more ...string) string {
	return "\nSELECT " + strings.Join(append(columnNames(t.read), more...), ", ") + "\nFROM " + t.Name
}

// Col returns the number of a column in a row of Select.
func (t *Table[T]) Col(name string) int {
	return slices.IndexFunc(t.read, func(c *Column[T]) bool { return c.Name == name })
}

// Scan reads a row of Select. It returns the row also if its document cannot be decoded.
func (t *Table[T]) Scan(r Row) (*T, error) {
	row := new(T)
	var err error
	for col, c := range t.read {
		if r.Null(col) {
			continue
		}
		c.read(r, col, row)
		if c.decode != nil {
			err = json.Unmarshal(r.JSON(col), c.decode(row))
		}
	}
	if err != nil {
		return row, undecodable(t.what(row), err)
	}
	return row, nil
}

// undecodable is the error about a document that was not written by this program.
func undecodable(what string, err error) *rota.Error {
	return &rota.Error{
		Code: rota.Internal, Act: "read", Reason: "the stored spec of " + what + " cannot be decoded", Err: err,
		Hint: "run rota verify, and restore a backup",
	}
}

// Statement is a statement with its arguments.
type Statement struct {
	SQL  string
	Args []any
}

// Change returns the statements of a change. was is nil for a new row, is for a removed one.
func (t *Table[T]) Change(was, is *T) []Statement {
	switch {
	case is == nil:
		return []Statement{{t.remove, args(t.keys, was)}}
	case was == nil || t.upserts:
		return t.insertRow(is)
	case t.replaces != nil && t.replaces(was, is):
		return append(t.Change(was, nil), t.insertRow(is)...)
	}
	return []Statement{{t.update, args(t.updated, is)}}
}

// insertRow returns the statements of a new row: an insert, and an update of the columns that may
// only be updated, if they have values.
func (t *Table[T]) insertRow(row *T) []Statement {
	all := []Statement{{t.insert, t.InsertArgs(row)}}
	if slices.ContainsFunc(t.updated, func(c *Column[T]) bool { return c.later && c.HasValue(row) }) {
		all = append(all, Statement{t.update, args(t.updated, row)})
	}
	return all
}

// Inserted returns the columns of an insert.
func (t *Table[T]) Inserted() []*Column[T] { return t.inserted }

// InsertArgs returns the values of a row in the columns of an insert.
func (t *Table[T]) InsertArgs(row *T) []any { return args(t.inserted, row) }

// ByKey returns the query of the row of a key. Its arguments are those of KeyArgs.
func (t *Table[T]) ByKey() string { return t.byKey }

// KeyArgs returns the arguments of ByKey.
func KeyArgs(key any) []any {
	switch k := key.(type) {
	case rules.UniqueKey:
		return []any{k.Type, k.Key}
	case rules.RequestKey:
		return []any{k.Actor, k.Key}
	case rota.SecretName:
		return []any{k.Template, k.Key}
	case struct{}:
		return nil
	}
	return []any{key}
}

// ScanInto returns a callback that scans a row of Select and passes it on.
func ScanInto[T any](t *Table[T], into func(*T)) func(Row) error {
	return func(r Row) error {
		one, err := t.Scan(r)
		if err == nil {
			into(one)
		}
		return err
	}
}
