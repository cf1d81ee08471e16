package postgres

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"time"

	"github.com/rotajobs/rota"
)

// row is a row of a result in PostgreSQL's binary format. It is valid until the next row is read.
// The values that its methods return are copies. It implements storekit.Row.
type row [][]byte

func (r row) Len() int { return len(r) }

func (r row) Size(col int) int { return len(r[col]) }

func (r row) Null(col int) bool { return r[col] == nil }

func (r row) Text(col int) string { return string(r[col]) }

func (r row) Bool(col int) bool { return len(r[col]) == 1 && r[col][0] == 1 }

// Int reads an integer of any width; NULL is 0.
func (r row) Int(col int) int64 {
	switch b := r[col]; len(b) {
	case 8:
		return int64(binary.BigEndian.Uint64(b))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	}
	return 0
}

func (r row) Float(col int) float64 {
	if b := r[col]; len(b) == 8 {
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}

// xid reads a transaction id.
func (r row) xid(col int) uint32 {
	if b := r[col]; len(b) == 4 {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

func (r row) ID(col int) (id rota.ID) {
	copy(id[:], r[col])
	return id
}

func (r row) Time(col int) time.Time {
	if r.Null(col) {
		return time.Time{}
	}
	return time.UnixMicro(r.Int(col)).UTC()
}

func (r row) Duration(col int) time.Duration { return time.Duration(r.Int(col)) * time.Microsecond }

func (r row) JSON(col int) json.RawMessage {
	if len(r[col]) == 0 {
		return nil
	}
	return append(json.RawMessage(nil), r[col]...)
}

func (r row) Bytes(col int) []byte { return r.JSON(col) }
