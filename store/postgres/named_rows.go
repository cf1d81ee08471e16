package postgres

import (
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/rotajobs/rota"
)

// Helpers for types, templates, schedules, groups, limits and reservations: rows with a name, most
// of them with a spec. Each is read with its version, xmin, as the last column.

// scanSpec reads a spec. One that cannot be decoded was not written by this program.
func scanSpec(r row, col int, into any, what string) error {
	if err := json.Unmarshal(r[col], into); err != nil {
		return &rota.Error{
			Code: rota.Internal, Act: "postgres: read", Reason: "the stored spec of " + what + " cannot be decoded", Err: err,
			Hint: "run rota verify, and restore a backup",
		}
	}
	return nil
}

func specParam(spec any) param { return textNotNull(string(rota.EncodeSpec(spec))) }

// scanInto returns a callback that scans a row and passes it on.
func scanInto[T any](scan func(row) (*T, error), into func(*T)) func(row) error {
	return func(r row) error {
		one, err := scan(r)
		if err == nil {
			into(one)
		}
		return err
	}
}

// scanTracked is scanInto that also adds the row's version to the read set.
func scanTracked[T any](t *tx, c class, at func(row) rowKey, scan func(row) (*T, error), into func(*T)) func(row) error {
	scanRow := scanInto(scan, into)
	return func(r row) error {
		t.readSet.addRow(c, at(r), r.xid(len(r)-1))
		return scanRow(r)
	}
}

// keyOfName and keyOfSingle return the row keys of rows with a name in the first column, and of
// tables with at most one row.
func keyOfName(r row) rowKey { return rowKey{name: r.Text(0)} }

func keyOfSingle(row) rowKey { return rowKey{} }

// singleKey is the row key of a table with at most one row.
var singleKey = []rowKey{{}}

// loadNamed reads rows by name, all at once.
func loadNamed[T any](t *tx, c class, sql string, names []string, scan func(row) (*T, error), into func(*T)) []statement {
	if len(names) == 0 {
		return nil
	}
	for _, name := range names {
		t.readSet.addLookup(c, rowKey{name: name})
	}
	return []statement{{sql: sql, params: []param{textsParam(names)}, eachRow: scanTracked(t, c, keyOfName, scan, into)}}
}

// changeSQL returns the statement for a row that is inserted, deleted or updated.
func changeSQL(inserted, deleted bool, insert, update, remove string) string {
	switch {
	case deleted:
		return remove
	case inserted:
		return insert
	}
	return update
}

// selectAll returns a statement that appends all rows to a slice.
func selectAll[T any](into *[]*T, scan func(row) (*T, error), sql string, params ...param) statement {
	return statement{sql: sql, params: params, eachRow: scanInto(scan, func(one *T) { *into = append(*into, one) })}
}

// readAll reads rows outside a transaction of the rules.
func readAll[T any](
	ctx context.Context, s *reader, act string, scan func(row) (*T, error), sql string, params ...param,
) (all []*T, err error) {
	err = s.query(ctx, act, selectAll(&all, scan, sql, params...))
	if err != nil {
		return nil, err
	}
	return all, nil
}

// readOne reads the row of a name, or returns a NotFound error.
func readOne[T any](ctx context.Context, s *reader, what, name string, scan func(row) (*T, error), sql string) (*T, error) {
	if !utf8.ValidString(name) || strings.Contains(name, "\x00") { // PostgreSQL refuses such a parameter
		return nil, notFound(what, name)
	}
	all, err := readAll(ctx, s, what, scan, sql, textsParam([]string{name}))
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, notFound(what, name)
	}
	return all[0], nil
}

func notFound(what, name string) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: what, Reason: "there is no " + what + " " + name,
		Hint: "rota " + what + " list shows the " + what + "s",
	}
}

// readNames reads a page of named rows.
func readNames[T any](
	ctx context.Context, s *reader, act string, q rota.NameQuery, scan func(row) (*T, error), sql string,
) ([]*T, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, act, scan, sql, textNotNull(q.After), intParam(limit))
}
