package pgwire

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/session"
)

// frame is one message: its type and its body.
type frame struct {
	kind    byte
	body    []byte
	refusal error // why the body was not kept; nil: it was
}

// clientMessageTypes are the types of messages that a client may send.
const clientMessageTypes = "BCDEFHPQSXcdfp"

// framer reads messages from a connection.
type framer struct {
	conn    net.Conn
	in      *bufio.Reader
	max     int             // bytes of a message
	timeout time.Duration   // for a message that has begun; 0: only the connection's deadline
	memory  *session.Memory // of message bodies; nil: not counted
}

func newFramer(conn net.Conn, most int, time time.Duration) *framer {
	return &framer{conn: conn, in: bufio.NewReaderSize(conn, 8<<10), max: most, timeout: time}
}

// next waits for the start of a message without a limit. After the start, the message must
// arrive within a time limit, so that a slow client cannot block a connection for ever.
// An invalid message is a *fatal error, after which nothing more can be read.
func (f *framer) next() (frame, error) {
	kind, err := f.in.ReadByte()
	if err != nil {
		return frame{}, err
	}
	if strings.IndexByte(clientMessageTypes, kind) < 0 {
		return frame{}, fatalf(stateProtocol, "", "invalid frontend message type %d", kind)
	}
	if f.timeout > 0 && !f.messageBuffered() {
		_ = f.conn.SetReadDeadline(time.Now().Add(f.timeout))
		defer func() { _ = f.conn.SetReadDeadline(time.Time{}) }()
	}
	var head [4]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return frame{}, err
	}
	length := int64(binary.BigEndian.Uint32(head[:])) - 4
	switch {
	case length < 0:
		return frame{}, fatalf(stateProtocol, "", "invalid message length")
	case length > int64(f.max):
		return frame{}, fatalf(stateProtocol, "split it into smaller messages", "message of %d bytes exceeds the limit of %d bytes", length, f.max)
	}
	return f.read(kind, int(length))
}

// bodyCopies is how many times a body is in memory: as it was read, and as the texts of the decoded message.
const bodyCopies = 2

// read reads the body of a message. It discards a body for which there is no memory, so that the client gets an error
// and the connection stays usable. The caller releases the memory of the body.
func (f *framer) read(kind byte, length int) (frame, error) {
	if f.memory != nil {
		if refusal := f.memory.Charge(bodyCopies * length); refusal != nil {
			_, err := io.CopyN(io.Discard, f.in, int64(length))
			return frame{kind: kind, refusal: refusal}, err
		}
	}
	body, err := readBody(f.in, length)
	return frame{kind: kind, body: body}, err
}

// messageBuffered reports whether the whole message is buffered already. This is the common
// case and needs no deadline.
func (f *framer) messageBuffered() bool {
	if f.in.Buffered() < 4 {
		return false
	}
	head, _ := f.in.Peek(4)
	return int64(binary.BigEndian.Uint32(head)) <= int64(f.in.Buffered())
}

// bodyChunkBytes is the memory allocated before any byte of a body has arrived.
const bodyChunkBytes = 64 << 10

// readBody allocates memory as bytes arrive, so that a large announced length alone costs
// little.
func readBody(r io.Reader, length int) ([]byte, error) {
	body := make([]byte, min(length, bodyChunkBytes))
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
