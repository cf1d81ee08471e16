package storekit

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/rotajobs/rota"
)

// A copy of a store reads and writes rows as they are: no rule decides about them and no value is
// decoded. Both stores have the same tables and columns, and a row has the same bytes whatever
// store it comes from, so that checksums of two stores can be compared.

// RowColumn is a column of a RowTable.
type RowColumn struct {
	Name string
	Kind Kind
}

// RowTable describes a table whose rows a copy reads and writes.
type RowTable struct {
	Name    string
	Columns []RowColumn
	Keys    int // the first columns that are the key; rows are read in its order

	// Which rows a copy without history takes: those that match a condition, or those whose ids a
	// query lists in order. If both are empty, it takes all.
	Waiting    string
	WaitingIDs string

	Preset bool // an empty store has its row
}

// Rows are rows of a table in the order of its key, each in the form that appendRow writes.
type Rows struct {
	Data []byte
	ends []int
}

// Len returns the number of rows.
func (r *Rows) Len() int { return len(r.ends) }

// Row returns one row.
func (r *Rows) Row(i int) []byte {
	if i == 0 {
		return r.Data[:r.ends[0]]
	}
	return r.Data[r.ends[i-1]:r.ends[i]]
}

// Append adds a row of a result that has the columns of the table.
func (r *Rows) Append(t *RowTable, row Row) {
	r.Data = appendRow(r.Data, t.Columns, row)
	r.ends = append(r.ends, len(r.Data))
}

// appendRow writes a row: for each column a byte that is 0 for NULL, then the value. Integers,
// floats, booleans and ids have a fixed width, a text or bytes have their length in front.
func appendRow(data []byte, columns []RowColumn, r Row) []byte {
	for col, c := range columns {
		if r.Null(col) {
			data = append(data, 0)
			continue
		}
		data = append(data, 1)
		switch c.Kind {
		case Text, Bytes:
			text := r.Text(col)
			if c.Kind == Bytes {
				text = string(r.Bytes(col))
			}
			data = append(binary.AppendUvarint(data, uint64(len(text))), text...)
		case Int, Small:
			data = binary.BigEndian.AppendUint64(data, uint64(r.Int(col)))
		case Float:
			data = binary.BigEndian.AppendUint64(data, math.Float64bits(r.Float(col)))
		case Bool:
			is := byte(0)
			if r.Bool(col) {
				is = 1
			}
			data = append(data, is)
		case ID:
			id := r.ID(col)
			data = append(data, id[:]...)
		}
	}
	return data
}

// RowValue is one value of a row.
type RowValue struct {
	Kind Kind
	Null bool
	Text string // also of Bytes
	Int  int64
	Num  float64
	ID   rota.ID
}

// Pass passes the value on as a parameter.
func (v *RowValue) Pass(p Param) {
	switch {
	case v.Null:
		p.Null()
	case v.Kind == Text:
		p.Text(v.Text)
	case v.Kind == Int:
		p.Int(v.Int)
	case v.Kind == Small:
		p.Small(int(v.Int))
	case v.Kind == Float:
		p.Float(v.Num)
	case v.Kind == Bool:
		p.Bool(v.Int != 0)
	case v.Kind == ID:
		p.ID(v.ID)
	case v.Kind == Bytes:
		p.Bytes([]byte(v.Text))
	}
}

// Arg returns the value as an argument of a query.
func (v *RowValue) Arg() any {
	taken := taker{Null{v.Kind}}
	v.Pass(&taken)
	return taken.arg
}

// EachValue calls visit with the values of a row, one for each column.
func (t *RowTable) EachValue(row []byte, visit func(col int, v *RowValue)) error {
	return eachValue(t.Columns, row, visit)
}

func eachValue(columns []RowColumn, row []byte, visit func(col int, v *RowValue)) error {
	var v RowValue
	for col, c := range columns {
		var err error
		if row, err = readValue(row, c.Kind, &v); err != nil {
			return fmt.Errorf("column %s: %w", c.Name, err)
		}
		visit(col, &v)
	}
	if len(row) > 0 {
		return fmt.Errorf("%d bytes follow the last column", len(row))
	}
	return nil
}

func readValue(row []byte, kind Kind, v *RowValue) (rest []byte, err error) {
	if len(row) == 0 {
		return nil, errShortRow
	}
	*v = RowValue{Kind: kind, Null: row[0] == 0}
	if row = row[1:]; v.Null {
		return row, nil
	}
	width := 0
	switch kind {
	case Text, Bytes:
		n, used := binary.Uvarint(row)
		if used <= 0 || n > uint64(len(row)-used) {
			return nil, errShortRow
		}
		row, width = row[used:], int(n)
	case Int, Small, Float:
		width = 8
	case Bool:
		width = 1
	case ID:
		width = len(rota.ID{})
	}
	if len(row) < width {
		return nil, errShortRow
	}
	value, rest := row[:width], row[width:]
	switch kind {
	case Text, Bytes:
		v.Text = string(value)
	case Int, Small:
		v.Int = int64(binary.BigEndian.Uint64(value))
	case Float:
		v.Num = math.Float64frombits(binary.BigEndian.Uint64(value))
	case Bool:
		v.Int = int64(value[0])
	case ID:
		copy(v.ID[:], value)
	}
	return rest, nil
}

var errShortRow = fmt.Errorf("the row ends too early")

// Key returns the key of a row, in the form of a row.
func (t *RowTable) Key(row []byte) ([]byte, error) {
	rest := row
	var v RowValue
	var err error
	for _, c := range t.Columns[:t.Keys] {
		if rest, err = readValue(rest, c.Kind, &v); err != nil {
			return nil, err
		}
	}
	return row[:len(row)-len(rest)], nil
}

// KeyArgs returns the values of a key that Key returned, as arguments of a query.
func (t *RowTable) KeyArgs(key []byte) (all []any, err error) {
	err = eachValue(t.Columns[:t.Keys], key, func(_ int, v *RowValue) { all = append(all, v.Arg()) })
	return all, err
}
