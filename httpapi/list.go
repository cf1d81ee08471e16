package httpapi

import (
	"context"

	"github.com/rotajobs/rota"
)

func pageParams(others ...param) []param {
	return append(others,
		param{name: "limit", form: formInteger, doc: "How many at most, 1 to 1,000; 100 if left out.", example: 100},
		param{name: "cursor", form: formText, doc: "The next_cursor of the page before."},
	)
}

// listNamed answers a page of what goes by name.
func listNamed[T, V any](
	c *call, list mark, read func(context.Context, rota.NameQuery) ([]T, error),
	show func(T) V, name func(T) string, heft func(T) int,
) (reply, error) {
	limit, after, err := c.namePage(list)
	if err != nil {
		return reply{}, err
	}
	rows, more, err := readPage(c, limit, heft, func(last *T, n int) ([]T, error) {
		if last != nil {
			after = name(*last)
		}
		return read(c.ctx, rota.NameQuery{After: after, Limit: n})
	})
	if err != nil {
		return reply{}, err
	}
	return ok(pageOf(rows, more, show, func(row T) Text { return cursorOf(list, []byte(name(row))) }))
}

// listByID answers a page of what goes by id, newest first, and is never long.
func listByID[T, V any](
	c *call, list mark, read func(ctx context.Context, before rota.ID, limit int) ([]T, error),
	show func(T) V, id func(T) rota.ID,
) (reply, error) {
	limit, before, err := c.idPage(list)
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
	return ok(pageOf(rows, more, show, func(row T) Text { return idCursor(list, id(row)) }))
}

func (c *call) namePage(list mark) (limit int, after string, err error) {
	if limit, err = c.limit(); err != nil {
		return 0, "", err
	}
	text, _ := c.given("cursor")
	place, err := readCursor(list, text)
	return limit, string(place), err
}

func (c *call) idPage(list mark) (limit int, before rota.ID, err error) {
	if limit, err = c.limit(); err != nil {
		return 0, before, err
	}
	text, _ := c.given("cursor")
	before, err = readIDCursor(list, text)
	return limit, before, err
}
