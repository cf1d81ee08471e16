package action

import "encoding/json"

// What is kept of the rows that a statement returns: a look at them, not a copy.
const (
	rowsMax     = 100
	rowsSizeMax = 16 << 10 // of their JSON
)

// Rows are the first rows of the last statement that returned some. They are the
// result of a job of type sql or call.
type Rows struct {
	Columns   []string `json:"columns"`
	Rows      [][]any  `json:"rows"`
	Truncated bool     `json:"truncated"` // there are more than these

	size int
	seen int64 // how many there were, where that is counted
}

func newRows(columns []string) *Rows {
	r := &Rows{Columns: columns, Rows: [][]any{}}
	if r.size = sizeOf(columns); r.size > rowsSizeMax {
		r.Columns, r.Truncated = []string{}, true
	}
	return r
}

// full reports whether a further row would not be kept, so that it need not be
// read.
func (r *Rows) full() bool { return r.Truncated || len(r.Rows) >= rowsMax }

// add keeps a row, if there is room for it. After one that was left out there is
// none: what is shown is a beginning.
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
	if err != nil { // which texts and numbers do not give
		return rowsSizeMax + 1
	}
	return len(text)
}
