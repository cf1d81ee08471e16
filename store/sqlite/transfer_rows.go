package sqlite

import (
	"context"
	"errors"

	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// rowReader reads the rows of a copy on one connection.
type rowReader struct{ conn *sqlite.Conn }

// errPageFull ends the query of a page that has its size.
var errPageFull = errors.New("the page is full")

// ReadRows reads a page of rows.
func (r *rowReader) ReadRows(ctx context.Context, q *storekit.RowQuery) (*storekit.RowPage, error) {
	page := &storekit.RowPage{}
	take := func(row storekit.Row) error {
		if !page.Take(q, row) {
			return errPageFull
		}
		return nil
	}
	if q.ByIDs {
		return page, r.readIDs(ctx, q, page, take)
	}
	sql, args, err := q.Table.Page(q.After, q.Waiting, q.Limit)
	if err != nil {
		return nil, err
	}
	err = r.query(ctx, sql, take, args...)
	if page.Len() == q.Limit {
		page.More = true
	}
	return page, unlessFull(err)
}

func (r *rowReader) readIDs(ctx context.Context, q *storekit.RowQuery, page *storekit.RowPage, take func(storekit.Row) error) error {
	ids, more, err := q.NextIDs()
	if err != nil {
		return err
	}
	sql := q.Table.Select() + "\nWHERE j.id = $1"
	for _, id := range ids {
		if err := r.query(ctx, sql, take, id); err != nil {
			return unlessFull(err)
		}
	}
	page.More = page.More || more
	return nil
}

func unlessFull(err error) error {
	if errors.Is(err, errPageFull) {
		return nil
	}
	return err
}

// CountRows counts the rows of a table.
func (r *rowReader) CountRows(ctx context.Context, t *storekit.RowTable, waiting bool) (n int64, err error) {
	err = r.query(ctx, t.Count(waiting), func(row storekit.Row) error {
		n = row.Int(0)
		return nil
	})
	return n, err
}

func (r *rowReader) query(ctx context.Context, sql string, each func(storekit.Row) error, args ...any) error {
	r.conn.SetInterrupt(ctx.Done())
	err := query(r.conn, sql, each, args...)
	switch {
	case err == nil || errors.Is(err, errPageFull):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fault("copy", err)
}
