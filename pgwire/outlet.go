package pgwire

import (
	"encoding/binary"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// outlet buffers answers and sends them in few large writes. It keeps the first error and
// writes nothing after it.
type outlet struct {
	conn net.Conn
	time time.Duration // for the client to take a piece
	buf  []byte
	err  error
}

const (
	pieceFull = 32 << 10  // a piece that has this much is sent
	pieceKept = 128 << 10 // a buffer that has grown beyond it is given back
)

func (o *outlet) send(m pgproto3.BackendMessage) {
	buf, err := m.Encode(o.buf)
	if err != nil {
		o.fail(err)
		return
	}
	o.buf = buf
	o.relieve()
}

// relieve sends what has gathered when it is much.
func (o *outlet) relieve() {
	if len(o.buf) >= pieceFull {
		o.flush()
	}
}

func (o *outlet) flush() {
	if len(o.buf) == 0 || o.err != nil {
		o.buf = o.buf[:0]
		return
	}
	_ = o.conn.SetWriteDeadline(time.Now().Add(o.time))
	_, err := o.conn.Write(o.buf)
	o.fail(err)
	if cap(o.buf) > pieceKept {
		o.buf = nil
	}
	o.buf = o.buf[:0]
}

func (o *outlet) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// row sends the values of one row, each encoded by the function of its column. A
// row that cannot be encoded is not sent.
func (o *outlet) row(values []any, columns []column) error {
	start := len(o.buf)
	o.buf = append(o.buf, 'D', 0, 0, 0, 0)
	o.buf = binary.BigEndian.AppendUint16(o.buf, uint16(len(columns)))
	for i := range columns {
		var value any
		if i < len(values) {
			value = values[i]
		}
		buf, err := columns[i].append(o.buf, value)
		if err != nil {
			o.buf = o.buf[:start]
			return err
		}
		o.buf = buf
	}
	binary.BigEndian.PutUint32(o.buf[start+1:], uint32(len(o.buf)-start-1))
	o.relieve()
	return o.err
}
