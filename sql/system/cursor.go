package system

import (
	"hash/fnv"
	"io"
	"math"
	"strconv"
	"strings"

	"zombiezen.com/go/sqlite"
)

// cursor is one scan of a table.
type cursor[R any] struct {
	*virtual[R]
	next      pages[R]
	rows      []R
	at        int
	pageBytes int // of rows

	seen      int64
	countOnly bool   // the rows have no values
	scanKey   string // identifies the scan in the cache; empty: not cached
	scanRows  []R    // rows of this scan so far, for the cache
	scanBytes int    // of scanRows
}

// Filter begins a scan.
func (c *cursor[R]) Filter(id sqlite.IndexID, argv []sqlite.Value) error {
	p := c.db.query.plans[id.Num]
	c.dropRows()
	c.seen = 0
	w, some := c.requestFor(p, argv)
	if !some {
		c.next = noRows[R]
		return nil
	}
	c.countOnly = c.paths[p.path].countOnly
	c.scanKey = scanKeyOf(c.name, id.Num, argv)
	if rows, known := c.db.query.cachedScans[c.scanKey].([]R); known { // a join repeats the scan; the view returns the same rows
		c.next, c.scanKey = once(func() ([]R, error) { return rows, nil }), ""
		return c.nextPage()
	}
	c.next = c.paths[p.path].read(c.db.query, w)
	return c.nextPage()
}

// scanKeyOf identifies a scan within a query by its table, plan and arguments. It is empty if the arguments are long.
func scanKeyOf(table string, plan int32, argv []sqlite.Value) string {
	var b strings.Builder
	b.WriteString(table + " " + strconv.Itoa(int(plan)))
	for _, v := range argv {
		b.WriteString("\x00" + v.Type().String() + v.Text())
		if b.Len() > scanKeyMax {
			return ""
		}
	}
	return b.String()
}

const (
	cachedBytesMax = 8 << 20 // bytes of the rows of scans that a query caches
	scanKeyMax     = 1 << 10
)

// cacheRows collects the rows of a scan, unless they have too many bytes, and puts them into the cache of the query when
// the scan ends.
func (c *cursor[R]) cacheRows(rows []R, bytes int) {
	q := c.db.query
	switch {
	case c.scanKey == "" || c.countOnly:
	case len(rows) == 0 && q.cachedBytes+len(c.scanKey)+rowBytes <= cachedBytesMax:
		q.cachedBytes += len(c.scanKey) + rowBytes
		q.cachedScans[c.scanKey] = c.scanRows
		c.scanKey, c.scanRows, c.scanBytes = "", nil, 0
	case len(rows) == 0 || q.cachedBytes+bytes > cachedBytesMax:
		c.dropScan()
	default:
		q.cachedBytes += bytes
		c.scanBytes += bytes
		c.scanRows = append(c.scanRows, rows...)
	}
}

// dropScan drops the rows that were collected for the cache.
func (c *cursor[R]) dropScan() {
	c.db.query.cachedBytes -= c.scanBytes
	c.scanKey, c.scanRows, c.scanBytes = "", nil, 0
}

// dropRows drops the page of rows and an incomplete scan.
func (c *cursor[R]) dropRows() {
	if q := c.db.query; q != nil {
		q.release(c.pageBytes)
		c.dropScan()
	}
	c.rows, c.at, c.pageBytes = nil, 0, 0
}

// requestFor builds the read request of a plan with its arguments. It reports false if a condition can never be true.
func (c *cursor[R]) requestFor(p plan, argv []sqlite.Value) (w readRequest, some bool) {
	w = readRequest{equal: map[string]sqlite.Value{}, lean: p.lean && !c.alwaysFull}
	skip := int64(0)
	for i, a := range p.args {
		v := argv[i]
		switch a.use {
		case useLimit:
			w.limit = rowLimit(v.Int64())
			continue
		case useOffset:
			skip = max(0, v.Int64())
			continue
		}
		if v.Type() == sqlite.TypeNull { // nothing equals, precedes or follows it
			return w, false
		}
		v, known := asColumnValue(c.columns[a.column].kind, v)
		name := c.columns[a.column].name
		switch {
		case !known && a.use == useEqual && name == c.paths[p.path].key:
			return w, false
		case !known: // SQLite checks the condition itself
		case a.use == useEqual:
			w.equal[name] = v
		case a.use == useFrom:
			w.from = v
		case a.use == useTo:
			w.to = v
		}
	}
	if w.limit > 0 {
		w.limit = rowLimit(int64(w.limit) + skip)
	}
	return w, true
}

// rowLimit returns a row limit, or 0 for no limit if the number is too large.
func rowLimit(n int64) int {
	if n <= 0 || n > math.MaxInt32 {
		return 0
	}
	return int(n)
}

// asColumnValue converts a value as SQLite does before it compares the value with a column of a kind. It reports false
// if SQLite has to compare the two itself.
func asColumnValue(k Kind, v sqlite.Value) (sqlite.Value, bool) {
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

func noRows[R any]() ([]R, error) { return nil, nil }

// nextPage reads the next page of rows.
func (c *cursor[R]) nextPage() error {
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
	bytes := c.bytes(rows)
	c.cacheRows(rows, bytes)
	q.release(c.pageBytes)
	c.rows, c.at, c.pageBytes = rows, 0, bytes
	return q.charge(bytes)
}

// bytes returns the memory of rows.
func (c *cursor[R]) bytes(rows []R) int {
	if c.countOnly {
		return 0
	}
	bytes := rowBytes * len(rows)
	for i := range rows {
		bytes += documentBytes(rows[i])
	}
	return bytes
}

// rowBytes is about the memory of a row without its documents.
const rowBytes = 512

// Next moves to the next row.
func (c *cursor[R]) Next() error {
	c.at++
	c.seen++
	if c.at < len(c.rows) {
		return nil
	}
	return c.nextPage()
}

// EOF reports whether the scan is at its end.
func (c *cursor[R]) EOF() bool { return c.at >= len(c.rows) }

// Column is a value of the row.
func (c *cursor[R]) Column(i int, _ bool) (sqlite.Value, error) {
	v := c.columns[i].value(&c.rows[c.at])
	if err := c.db.query.err; err != nil { // a value that had to be read
		return v, err
	}
	return v, nil
}

// RowID identifies the row, whichever access path returned it. SQLite uses it to recognize a row that two conditions
// find, and for outer joins.
func (c *cursor[R]) RowID() (int64, error) {
	if c.countOnly {
		return c.seen, nil
	}
	h := fnv.New64a()
	_, _ = io.WriteString(h, c.key(&c.rows[c.at]))
	return int64(h.Sum64() >> 1), nil
}

// Close ends the scan.
func (c *cursor[R]) Close() error {
	c.dropRows()
	c.next = noRows[R]
	return nil
}
