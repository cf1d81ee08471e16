package action

import "encoding/json"

// Limits of the rows that are kept of a statement: a sample, not a copy.
const (
	rowsMax     = 100
	rowsSizeMax = 16 << 10 // of their JSON
)

// Rows are the first rows of the last statement that returned some. They are the
// result of a job of type sql or call.
type Rows struct {
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	Truncated bool     `json:"truncated"` // more rows follow

	size int
	seen int64 // rows that the statement returned, if counted
}

func newRows(columns []string) *Rows {
	r := &Rows{Columns: columns, Rows: [][]any{}}
	if r.size = sizeOf(columns); r.size > rowsSizeMax {
		r.Columns, r.Truncated = []string{}, true
	}
	return r
}

// full reports whether no further row is kept, so that it need not be decoded.
func (r *Rows) full() bool { return r.Truncated || len(r.Rows) >= rowsMax }

// add keeps a row if it fits. After the first row that does not fit it keeps none, so
// that the kept rows are the first ones.
func (r *Rows) add(row []any) {
	if r.full() {
		r.Truncated = true
		return
	}
	size := sizeOf(row) + 1
	if r.size+size > rowsSizeMax {
		r.Truncated = true
		return
	}
	r.size += size
	r.Rows = append(r.Rows, row)
}

func sizeOf(v any) int {
	text, err := json.Marshal(v)
	if err != nil { // cannot happen for texts and numbers
		return rowsSizeMax + 1
	}
	return len(text)
}
