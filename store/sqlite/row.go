package sqlite

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

// row is the current row of a statement. It implements storekit.Row.
type row struct{ *sqlite.Stmt }

func (r row) Len() int              { return r.ColumnCount() }
func (r row) Null(col int) bool     { return r.ColumnIsNull(col) }
func (r row) Size(col int) int      { return r.ColumnLen(col) }
func (r row) Int(col int) int64     { return r.ColumnInt64(col) }
func (r row) Bool(col int) bool     { return r.ColumnInt64(col) != 0 }
func (r row) Float(col int) float64 { return r.ColumnFloat(col) }

func (r row) Text(col int) string { return r.ColumnText(col) }

func (r row) ID(col int) (id rota.ID) {
	r.ColumnBytes(col, id[:])
	return id
}

func (r row) Time(col int) time.Time {
	n := r.ColumnInt64(col)
	if n == 0 && r.ColumnIsNull(col) {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

func (r row) Duration(col int) time.Duration {
	return time.Duration(r.ColumnInt64(col)) * time.Microsecond
}

func (r row) JSON(col int) json.RawMessage {
	n := r.ColumnLen(col)
	if n == 0 {
		return nil
	}
	doc := make(json.RawMessage, n)
	r.ColumnBytes(col, doc)
	return doc
}

func (r row) Bytes(col int) []byte { return r.JSON(col) }
