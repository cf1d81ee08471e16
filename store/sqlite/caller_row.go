package sqlite

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
)

// callerRow is the current row of a query in a transaction of a caller. It implements storekit.Row. The
// driver returns each value in one of SQLite's types: int64, float64, string, []byte, or nil.
type callerRow struct {
	values  []any
	targets []any // pointers to the values, for Scan
}

func newCallerRow(columns int) *callerRow {
	r := &callerRow{make([]any, columns), make([]any, columns)}
	for i := range r.values {
		r.targets[i] = &r.values[i]
	}
	return r
}

func (r *callerRow) Len() int          { return len(r.values) }
func (r *callerRow) Null(col int) bool { return r.values[col] == nil }

func (r *callerRow) Size(col int) int {
	if b, is := r.values[col].([]byte); is {
		return len(b)
	}
	return len(r.Text(col))
}

func (r *callerRow) Text(col int) string {
	switch v := r.values[col].(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func (r *callerRow) Int(col int) int64 {
	switch v := r.values[col].(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

func (r *callerRow) Float(col int) float64 {
	switch v := r.values[col].(type) {
	case float64:
		return v
	case int64:
		return float64(v)
	}
	return 0
}

func (r *callerRow) Bool(col int) bool { return r.Int(col) != 0 }

func (r *callerRow) ID(col int) (id rota.ID) {
	if b, is := r.values[col].([]byte); is {
		copy(id[:], b)
	}
	return id
}

func (r *callerRow) Time(col int) time.Time {
	if r.Null(col) {
		return time.Time{}
	}
	return time.UnixMicro(r.Int(col)).UTC()
}

func (r *callerRow) Duration(col int) time.Duration {
	return time.Duration(r.Int(col)) * time.Microsecond
}

func (r *callerRow) JSON(col int) json.RawMessage {
	switch v := r.values[col].(type) {
	case string:
		if v != "" {
			return json.RawMessage(v)
		}
	case []byte:
		if len(v) > 0 {
			return json.RawMessage(v) // Scan has copied it
		}
	}
	return nil
}

func (r *callerRow) Bytes(col int) []byte { return r.JSON(col) }
