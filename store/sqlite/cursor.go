package sqlite

import (
	"slices"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// cursor walks jobs in dispatch order, one step at a time.
type cursor struct {
	stmt *sqlite.Stmt
	head *rota.Job // nil: it has no more
}

func (c *cursor) next() error {
	more, err := c.stmt.Step()
	if err != nil {
		return err
	}
	if !more {
		c.head = nil
		return c.stmt.Reset()
	}
	c.head = scanJob(c.stmt)
	return nil
}

func resetAll(cursors []*cursor) {
	for _, c := range cursors {
		_ = c.stmt.Reset()
	}
}

// mergeInOrder takes the first jobs of all cursors in dispatch order, until
// take wants no more. Each is walked only as far as it is taken from.
func mergeInOrder(all []*cursor, limit int, take func(*rota.Job) bool) error {
	open := slices.Clone(all)
	for _, c := range open {
		if err := c.next(); err != nil {
			return err
		}
	}
	open = slices.DeleteFunc(open, func(c *cursor) bool { return c.head == nil })
	for ; limit > 0 && len(open) > 0; limit-- {
		first := 0
		for i := range open {
			if open[i].head.Before(open[first].head) {
				first = i
			}
		}
		if !take(open[first].head) || limit == 1 {
			return nil
		}
		if err := open[first].next(); err != nil {
			return err
		}
		if open[first].head == nil {
			open = slices.Delete(open, first, first+1)
		}
	}
	return nil
}
