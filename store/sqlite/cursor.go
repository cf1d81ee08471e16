package sqlite

import (
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// cursor reads jobs in dispatch order, one at a time: from a statement, or from jobs that are loaded.
type cursor struct {
	stmt   *sqlite.Stmt // nil: the jobs are loaded
	loaded []*rota.Job
	head   *rota.Job // nil at the end
}

func (c *cursor) next() error {
	if c.stmt == nil {
		return c.nextLoaded()
	}
	more, err := c.stmt.Step()
	if err != nil {
		return err
	}
	if !more {
		c.head = nil
		return c.stmt.Reset()
	}
	c.head = storekit.ScanJob(row{c.stmt})
	return nil
}

func (c *cursor) nextLoaded() error {
	c.head = nil
	if len(c.loaded) > 0 {
		c.head, c.loaded = c.loaded[0], c.loaded[1:]
	}
	return nil
}

func resetAll(cursors []*cursor) {
	for _, c := range cursors {
		if c.stmt != nil {
			_ = c.stmt.Reset()
		}
	}
}

// mergeInOrder calls take with the jobs of all cursors in dispatch order, until take returns false.
// It reads one job ahead of each cursor.
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
