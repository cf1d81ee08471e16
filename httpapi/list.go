package httpapi

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func pageParams(others ...param) []param {
	return append(others,
		param{name: "limit", form: formInteger, doc: "Page size, 1 to 1,000; default 100.", example: 100, low: 1, high: rota.PageMax},
		param{name: "cursor", form: formText, doc: "The next_cursor of the previous page."},
	)
}

func (c *call) limit() int { return c.number("limit", 100) }

// position returns the position in the cursor of the request; nil: the start of the list.
func (c *call) position(kind cursorKind) ([]byte, error) {
	return readCursor(kind, c.query.Get("cursor"))
}

// rowList is a list of rows that a request reads in pages. A cursor holds the position of the last row of a page.
type rowList[T, V any] struct {
	kind     cursorKind
	read     func(after []byte, n int) ([]T, error) // rows after a position
	position func(T) []byte
	show     func(T) V
	size     func(T) int // size of the large fields; nil: the rows are small
}

// page responds with one page. If rows may be large, it reads them in small batches, which bounds the
// memory of the request.
func (l rowList[T, V]) page(c *call) (reply, error) {
	after, err := c.position(l.kind)
	if err != nil {
		return reply{}, err
	}
	limit, budget, page := c.limit(), c.pageBytes, api.List[V]{Items: []V{}}
	for {
		n := min(limit+1-len(page.Items), rota.PageMax) // one row more shows whether there is a next page
		if l.size != nil {
			n = min(n, readRows)
		}
		part, err := l.read(after, n)
		if err != nil {
			return reply{}, err
		}
		for _, row := range part {
			if len(page.Items) == limit || budget <= 0 {
				page.NextCursor = cursorOf(l.kind, after)
				return ok(page)
			}
			page.Items, after = append(page.Items, l.show(row)), l.position(row)
			if l.size != nil {
				budget -= l.size(row)
			}
		}
		if len(part) < n {
			return ok(page)
		}
	}
}

// namedList is a list of rows that are ordered by name.
func namedList[T, V any](
	c *call, kind cursorKind, read func(context.Context, rota.NameQuery) ([]T, error), show func(T) V, name func(T) string, size func(T) int,
) (reply, error) {
	return rowList[T, V]{
		kind: kind, show: show, size: size, position: func(row T) []byte { return []byte(name(row)) },
		read: func(after []byte, n int) ([]T, error) {
			return read(c.ctx, rota.NameQuery{After: string(after), Limit: n})
		},
	}.page(c)
}

// idList is a list of small rows, newest first.
func idList[T, V any](
	c *call, kind cursorKind, read func(ctx context.Context, before rota.ID, limit int) ([]T, error), show func(T) V, id func(T) rota.ID,
) (reply, error) {
	return rowList[T, V]{
		kind: kind, show: show, position: func(row T) []byte { at := id(row); return at[:] },
		read: func(after []byte, n int) ([]T, error) { return read(c.ctx, idAt(after), n) },
	}.page(c)
}
