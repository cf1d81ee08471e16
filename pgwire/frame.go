package pgwire

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"
)

// frame is one message as it came: its type and what it says.
type frame struct {
	kind byte
	body []byte
}

// kinds are the types of messages that a client may send.
const kinds = "BCDEFHPQSXcdfp"

// framer takes messages off a connection.
type framer struct {
	conn net.Conn
	in   *bufio.Reader
	most int           // bytes of a message
	time time.Duration // for a message that has begun; 0: the connection's deadline stands
}

func newFramer(conn net.Conn, most int, time time.Duration) *framer {
	return &framer{conn: conn, in: bufio.NewReaderSize(conn, 8<<10), most: most, time: time}
}

// next waits for the start of a message without a limit. After the start, the message must
// arrive within a time limit, so that a slow client cannot block a connection for ever.
// A message that is no message ends in a *fatal, and nothing more can be read.
func (f *framer) next() (frame, error) {
	kind, err := f.in.ReadByte()
	if err != nil {
		return frame{}, err
	}
	if strings.IndexByte(kinds, kind) < 0 {
		return frame{}, fatally(stateProtocol, "", "invalid frontend message type %d", kind)
	}
	if f.time > 0 && !f.whole() {
		_ = f.conn.SetReadDeadline(time.Now().Add(f.time))
		defer func() { _ = f.conn.SetReadDeadline(time.Time{}) }()
	}
	var head [4]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return frame{}, err
	}
	length := int64(binary.BigEndian.Uint32(head[:])) - 4
	switch {
	case length < 0:
		return frame{}, fatally(stateProtocol, "", "invalid message length")
	case length > int64(f.most):
		return frame{}, fatally(stateProtocol, "send less at once", "a message of %d bytes is longer than the %d that are taken", length, f.most)
	}
	body, err := readBody(f.in, int(length))
	return frame{kind, body}, err
}

// whole says whether all of a message has come already, which is the common case
// and needs no deadline.
func (f *framer) whole() bool {
	if f.in.Buffered() < 4 {
		return false
	}
	head, _ := f.in.Peek(4)
	return int64(binary.BigEndian.Uint32(head)) <= int64(f.in.Buffered())
}

// pieceBytes is what is made room for ahead of what has come.
const pieceBytes = 64 << 10

// readBody takes memory as the bytes come: who announces much and sends nothing
// costs little.
func readBody(r io.Reader, length int) ([]byte, error) {
	body := make([]byte, min(length, pieceBytes))
	for read := 0; ; {
		n, err := io.ReadFull(r, body[read:])
		if err != nil {
			return nil, err
		}
		if read += n; read == length {
			return body, nil
		}
		more := make([]byte, min(length, 2*read))
		copy(more, body)
		body = more
	}
}
