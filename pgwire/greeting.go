package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// What the first message of a connection asks for.
const (
	askCancel = 80877102
	askTLS    = 80877103
	askGSS    = 80877104

	major         = 3
	protocol30    = major << 16
	greetingLeast = 8      // a length and a code
	greetingMost  = 10_000 // as PostgreSQL has it
)

// errDone ends a connection that wants nothing more.
var errDone = errors.New("done")

// greet reads what a connection begins with, up to the message that names a user.
// Encryption may be asked for once by each of its two names before that.
func (c *conn) greet() (*pgproto3.StartupMessage, error) {
	asked := map[uint32]bool{}
	for {
		code, body, err := c.packet()
		if err != nil {
			return nil, err
		}
		switch {
		case code == askCancel:
			c.server.keys.cancel(body)
			return nil, errDone
		case (code == askTLS || code == askGSS) && (asked[code] || c.secure):
			return nil, fatally(stateProtocol, "", "encryption was asked for twice")
		case code == askTLS:
			err = c.offerTLS()
		case code == askGSS:
			_, err = c.net.Write([]byte{'N'})
		default:
			return startup(code, body)
		}
		if err != nil {
			return nil, err
		}
		asked[code] = true
	}
}

// packet reads one message of the greeting and not a byte more: what somebody in
// the middle has put behind a request for TLS becomes part of the handshake, which
// then fails, and is never taken for something said within TLS.
func (c *conn) packet() (code uint32, body []byte, err error) {
	var head [greetingLeast]byte
	if _, err := io.ReadFull(c.net, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < greetingLeast || length > greetingMost {
		return 0, nil, fatally(stateProtocol, "", "invalid length of startup packet")
	}
	body = make([]byte, length-greetingLeast)
	_, err = io.ReadFull(c.net, body)
	return binary.BigEndian.Uint32(head[4:]), body, err
}

// startup reads the message that names a user. A client of a later minor version
// is told later that it is spoken to in this one.
func startup(code uint32, body []byte) (*pgproto3.StartupMessage, error) {
	if code>>16 != major {
		return nil, fatally(stateNotSupported, "", "unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", code>>16, code&0xFFFF)
	}
	m := &pgproto3.StartupMessage{Parameters: map[string]string{}}
	if len(body) > 1 { // a single byte ends an empty list
		if err := m.Decode(append(binary.BigEndian.AppendUint32(nil, protocol30), body...)); err != nil {
			return nil, fatally(stateProtocol, "", "invalid startup packet layout: expected terminator as last byte")
		}
	}
	m.ProtocolVersion = code
	return m, nil
}

// negotiate says what was asked for and is not known here.
func (c *conn) negotiate(m *pgproto3.StartupMessage) {
	var unknown []string
	for name := range m.Parameters {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
		}
	}
	if m.ProtocolVersion == protocol30 && unknown == nil {
		return
	}
	// The field is named for the minor version, and PostgreSQL and libpq have the
	// whole number in it.
	c.out.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: protocol30, UnrecognizedOptions: unknown})
}
