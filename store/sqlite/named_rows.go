package sqlite

import (
	"context"
	"encoding/json"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// Helpers for types, templates, schedules, groups, limits and reservations: rows with a name, most
// of them with a spec.

// scanSpec reads a spec. One that cannot be decoded was not written by this program.
func scanSpec(s *sqlite.Stmt, col int, into any, what string) error {
	if err := json.Unmarshal(scanJSON(s, col), into); err != nil {
		return &rota.Error{
			Code: rota.Internal, Act: "sqlite: read", Reason: "the stored spec of " + what + " cannot be decoded", Err: err,
			Hint: "run rota verify, and restore a backup",
		}
	}
	return nil
}

func bindSpec(s *sqlite.Stmt, param int, spec any) { s.BindText(param, string(rota.EncodeSpec(spec))) }

// scanInto returns a callback that scans a row and passes it on.
func scanInto[T any](scan func(*sqlite.Stmt) (*T, error), into func(*T)) func(*sqlite.Stmt) error {
	return func(s *sqlite.Stmt) error {
		row, err := scan(s)
		if err == nil {
			into(row)
		}
		return err
	}
}

// changeSQL returns the statement for a row that is inserted, deleted or updated.
func changeSQL(created, removed bool, insert, update, remove string) string {
	switch {
	case removed:
		return remove
	case created:
		return insert
	}
	return update
}

// readAll reads rows outside a transaction of the rules.
func readAll[T any](
	ctx context.Context, s *reader, act, sql string, bind func(*sqlite.Stmt), scan func(*sqlite.Stmt) (*T, error),
) (all []*T, err error) {
	err = s.withSnapshot(ctx, act, func(conn *sqlite.Conn) error {
		all, err = queryAll(conn, sql, bind, scan)
		return err
	})
	return all, err
}

func queryAll[T any](
	conn *sqlite.Conn, sql string, bind func(*sqlite.Stmt), scan func(*sqlite.Stmt) (*T, error),
) (all []*T, err error) {
	stmt, err := conn.Prepare(sql)
	if err != nil {
		return nil, err
	}
	if bind != nil {
		bind(stmt)
	}
	return all, rows(stmt, scanInto(scan, func(row *T) { all = append(all, row) }))
}

// readOne reads the row of a name, or returns a NotFound error.
func readOne[T any](
	ctx context.Context, s *reader, what, name, sql string, bind func(*sqlite.Stmt), scan func(*sqlite.Stmt) (*T, error),
) (*T, error) {
	all, err := readAll(ctx, s, what, sql, bind, scan)
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
	ctx context.Context, s *reader, act, sql string, q rota.NameQuery, scan func(*sqlite.Stmt) (*T, error),
) ([]*T, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	limit, err := pageLimit(q.Limit)
	if err != nil {
		return nil, err
	}
	return readAll(ctx, s, act, sql, func(stmt *sqlite.Stmt) {
		stmt.BindText(1, q.After)
		stmt.BindInt64(2, limit)
	}, scan)
}
