package httpapi

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

func pageParams(others ...param) []param {
	return append(others,
		param{name: "limit", form: formInteger, doc: "Page size, 1 to 1,000; default 100.", example: 100},
		param{name: "cursor", form: formText, doc: "The next_cursor of the previous page."},
	)
}

// listNamed returns a page of rows that are ordered by name.
func listNamed[T, V any](
	c *call, kind cursorKind, read func(context.Context, rota.NameQuery) ([]T, error),
	show func(T) V, name func(T) string, size func(T) int,
) (reply, error) {
	limit, after, err := c.namePage(kind)
	if err != nil {
		return reply{}, err
	}
	rows, more, err := readPage(c, limit, size, func(last *T, n int) ([]T, error) {
		if last != nil {
			after = name(*last)
		}
		return read(c.ctx, rota.NameQuery{After: after, Limit: n})
	})
	if err != nil {
		return reply{}, err
	}
	return ok(newList(rows, more, show, func(row T) api.Text { return cursorOf(kind, []byte(name(row))) }))
}

// listByID returns a page of small rows, newest first.
func listByID[T, V any](
	c *call, kind cursorKind, read func(ctx context.Context, before rota.ID, limit int) ([]T, error),
	show func(T) V, id func(T) rota.ID,
) (reply, error) {
	limit, before, err := c.idPage(kind)
	if err != nil {
		return reply{}, err
	}
	rows, more, err := readPage(c, limit, nil, func(last *T, n int) ([]T, error) {
		if last != nil {
			before = id(*last)
		}
		return read(c.ctx, before, n)
	})
	if err != nil {
		return reply{}, err
	}
	return ok(newList(rows, more, show, func(row T) api.Text { return idCursor(kind, id(row)) }))
}

func (c *call) namePage(kind cursorKind) (limit int, after string, err error) {
	if limit, err = c.limit(); err != nil {
		return 0, "", err
	}
	text, _ := c.queryParam("cursor")
	position, err := readCursor(kind, text)
	return limit, string(position), err
}

func (c *call) idPage(kind cursorKind) (limit int, before rota.ID, err error) {
	if limit, err = c.limit(); err != nil {
		return 0, before, err
	}
	text, _ := c.queryParam("cursor")
	before, err = readIDCursor(kind, text)
	return limit, before, err
}
