package pgwire

import (
	"encoding/binary"
	"net"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/sql/system"
)

// bufferedWriter buffers answers and sends them in few large writes. It keeps the first error and
// writes nothing after it.
type bufferedWriter struct {
	conn    net.Conn
	timeout time.Duration // for one write
	buf     []byte
	err     error
}

const (
	flushBytes     = 32 << 10  // the buffer is sent at this size
	bufferBytesMax = 128 << 10 // a larger buffer is released after a write
)

func (o *bufferedWriter) send(m pgproto3.BackendMessage) {
	buf, err := m.Encode(o.buf)
	if err != nil {
		o.fail(err)
		return
	}
	o.buf = buf
	o.flushIfFull()
}

// flushIfFull sends the buffer if it has reached flushBytes.
func (o *bufferedWriter) flushIfFull() {
	if len(o.buf) >= flushBytes {
		o.flush()
	}
}

func (o *bufferedWriter) flush() {
	if len(o.buf) == 0 || o.err != nil {
		o.buf = o.buf[:0]
		return
	}
	_ = o.conn.SetWriteDeadline(time.Now().Add(o.timeout))
	_, err := o.conn.Write(o.buf)
	o.fail(err)
	if cap(o.buf) > bufferBytesMax {
		o.buf = nil
	}
	o.buf = o.buf[:0]
}

func (o *bufferedWriter) fail(err error) {
	if o.err == nil {
		o.err = err
	}
}

// row sends the values of one row.
func (o *bufferedWriter) row(values []any, columns []column) error {
	if err := o.encodeRow(values, columns); err != nil {
		return err
	}
	o.flushIfFull()
	return o.err
}

// encodeRow adds a row to the buffer, each value encoded by the function of its column. The buffer
// receives complete rows only: a row whose encoder fails or panics is not sent.
func (o *bufferedWriter) encodeRow(values []any, columns []column) (err error) {
	start := len(o.buf)
	buf := append(slices.Grow(o.buf, 5+system.RowBytes(values)), 'D', 0, 0, 0, 0) // at once: growing in steps copies a long row several times
	buf = binary.BigEndian.AppendUint16(buf, uint16(len(columns)))
	for i := range columns {
		var value any
		if i < len(values) {
			value = values[i]
		}
		if buf, err = columns[i].append(buf, value); err != nil {
			return err
		}
	}
	binary.BigEndian.PutUint32(buf[start+1:], uint32(len(buf)-start-1))
	o.buf = buf
	return nil
}
