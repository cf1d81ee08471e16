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
	c *call, list mark, read func(context.Context, rota.NameQuery) ([]T, error), show func(T) V, name func(T) string,
) (reply, error) {
	limit, after, err := c.namePage(list)
	if err != nil {
		return reply{}, err
	}
	rows, err := read(c.ctx, rota.NameQuery{After: after, Limit: askFor(limit)})
	if err != nil {
		return reply{}, err
	}
	return ok(pageOf(rows, limit, show, func(row T) Text { return cursorOf(list, []byte(name(row))) }))
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
