package storekit

import "github.com/rotajobs/rota"

// RowQuery selects a page of the rows of a table.
type RowQuery struct {
	Table   *RowTable
	After   []byte    // key of the last row of the page before; nil for the first page
	Waiting bool      // without history
	ByIDs   bool      // only the rows of IDs
	IDs     []rota.ID // sorted
	Limit   int       // maximal number of rows
	Bytes   int       // the page ends with the row that exceeds this size
}

// RowPage is a page of rows.
type RowPage struct {
	Rows
	More bool // rows may follow
}

// Take adds a row to the page, unless the page has its size. It reports whether it has room for more.
func (p *RowPage) Take(q *RowQuery, r Row) (room bool) {
	if len(p.Data) >= q.Bytes {
		p.More = true
		return false
	}
	p.Append(q.Table, r)
	return true
}

// NextIDs returns the ids of the next page.
func (q *RowQuery) NextIDs() (ids []rota.ID, more bool, err error) {
	rest, err := q.Table.IDsAfter(q.IDs, q.After)
	if err != nil {
		return nil, false, err
	}
	n := min(q.Limit, len(rest))
	return rest[:n], n < len(rest), nil
}
