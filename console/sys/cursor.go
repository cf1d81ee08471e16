package sys

import (
	"hash/fnv"
	"io"
	"math"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
)

// cursor is one walk through a table.
type cursor[R any] struct {
	*virtual[R]
	next pages[R]
	rows []R
	at   int

	seen  int64
	blank bool   // there is nothing in the rows
	walk  string // which this is; empty: nobody wants to go it again
	kept  []R    // what this walk has come by, to be gone through again
}

// Filter begins a walk.
func (c *cursor[R]) Filter(id sqlite.IndexID, argv []sqlite.Value) error {
	p, err := parsePlan(id.String)
	if err != nil {
		return err
	}
	c.rows, c.at, c.seen = nil, 0, 0
	w, some := c.wanted(p, argv)
	if !some {
		c.next = nothing[R]
		return nil
	}
	c.blank, c.kept = c.ways[p.way].count, nil
	if c.walk = ""; p.lean { // others hold documents, which may be of any size
		c.walk = walkOf(c.name, id.String, argv)
	}
	if rows, known := c.db.query.walked[c.walk].([]R); known { // as in a join: the view is the same, and so are the rows
		c.next, c.walk = once(func() ([]R, error) { return rows, nil }), ""
		return c.turn()
	}
	c.next = c.ways[p.way].read(c.db.query, w)
	return c.turn()
}

// walkOf tells one walk through a table from all others of a query.
func walkOf(table, plan string, argv []sqlite.Value) string {
	var b strings.Builder
	b.WriteString(table + " " + plan)
	for _, v := range argv {
		b.WriteString("\x00" + v.Type().String() + v.Text())
	}
	return b.String()
}

// walkedMost is how many rows a query keeps of walks that it has made to the end.
const walkedMost = 20_000

// keep remembers the rows of a walk, unless they are too many, and at its end has the
// query remember them.
func (c *cursor[R]) keep(rows []R) {
	q := c.db.query
	switch {
	case c.walk == "" || c.blank:
	case len(rows) == 0:
		q.walked[c.walk], c.walk = c.kept, ""
	case q.kept+len(rows) > walkedMost:
		c.walk, c.kept = "", nil
	default:
		q.kept += len(rows)
		c.kept = append(c.kept, rows...)
	}
}

// wanted is what a plan asks a read for, given its arguments. Nothing is wanted
// where a condition cannot hold.
func (c *cursor[R]) wanted(p plan, argv []sqlite.Value) (w want, some bool) {
	w = want{is: map[string]sqlite.Value{}, lean: p.lean}
	skip := int64(0)
	for i, a := range p.args {
		v := argv[i]
		switch a.use {
		case useMost:
			w.most = bounded(v.Int64())
			continue
		case useAfter:
			skip = max(0, v.Int64())
			continue
		}
		if v.Type() == sqlite.TypeNull { // nothing equals, precedes or follows it
			return w, false
		}
		v, known := as(c.columns[a.column].kind, v)
		name := c.columns[a.column].name
		switch {
		case !known && a.use == useIs && name == c.ways[p.way].by:
			return w, false
		case !known: // SQLite will look
		case a.use == useIs:
			w.is[name] = v
		case a.use == useFrom:
			w.from = v
		case a.use == useTo:
			w.to = v
		}
	}
	if w.most > 0 {
		w.most = bounded(int64(w.most) + skip)
	}
	return w, true
}

// bounded is a number of rows, 0 if there are too many to say.
func bounded(n int64) int {
	if n <= 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// as is a value as a column of a kind would hold it, as SQLite would see it when it
// compares the two. What is not known is left to SQLite.
func as(k Kind, v sqlite.Value) (sqlite.Value, bool) {
	switch t := v.Type(); {
	case k.Number() && t == sqlite.TypeInteger:
		return sqlite.IntegerValue(v.Int64()), true
	case k.Number() && t == sqlite.TypeText:
		n, err := strconv.ParseInt(strings.TrimSpace(v.Text()), 10, 64)
		return sqlite.IntegerValue(n), err == nil
	case !k.Number() && t != sqlite.TypeBlob: // a number is compared as the text that it is written as
		return sqlite.TextValue(strings.Clone(v.Text())), true
	}
	return null, false
}

func nothing[R any]() ([]R, error) { return nil, nil }

// turn goes on to the next rows.
func (c *cursor[R]) turn() error {
	q := c.db.query
	if err := q.ctx.Err(); err != nil {
		return q.fail(err)
	}
	q.reads++
	rows, err := c.next()
	if err != nil {
		return q.fail(err)
	}
	q.rows += int64(len(rows))
	c.keep(rows)
	c.rows, c.at = rows, 0
	return nil
}

// Next goes on to the next row.
func (c *cursor[R]) Next() error {
	c.at++
	c.seen++
	if c.at < len(c.rows) {
		return nil
	}
	return c.turn()
}

// EOF says that there is no row.
func (c *cursor[R]) EOF() bool { return c.at >= len(c.rows) }

// Column is a value of the row.
func (c *cursor[R]) Column(i int, _ bool) (sqlite.Value, error) {
	v := c.columns[i].value(&c.rows[c.at])
	if err := c.db.query.err; err != nil { // a value that had to be read
		return v, err
	}
	return v, nil
}

// RowID tells the row from all others, whichever way it was come by: SQLite goes by it
// where two conditions find the same row, and where rows without a partner are shown.
func (c *cursor[R]) RowID() (int64, error) {
	if c.blank {
		return c.seen, nil
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, c.key(&c.rows[c.at]))
	return int64(h.Sum64() >> 1), nil
}

// Close ends the walk.
func (c *cursor[R]) Close() error {
	c.rows, c.next = nil, nothing[R]
	return nil
}
