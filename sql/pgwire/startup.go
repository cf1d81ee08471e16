package pgwire

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Codes of the first packet of a connection.
const (
	cancelRequestCode = 80877102
	tlsRequestCode    = 80877103
	gssRequestCode    = 80877104

	majorVersion     = 3
	protocol30       = majorVersion << 16
	startupPacketMin = 8      // a length and a code
	startupPacketMax = 10_000 // as in PostgreSQL
)

// errClientDone ends a connection that needs no further answer.
var errClientDone = errors.New("done")

// readStartup reads the first packets of a connection, up to the startup packet that names a
// user. Before it a client may request TLS and GSS encryption, each once.
func (c *conn) readStartup() (*pgproto3.StartupMessage, error) {
	asked := map[uint32]bool{}
	for {
		code, body, err := c.readStartupPacket()
		if err != nil {
			return nil, err
		}
		switch {
		case code == cancelRequestCode:
			c.server.cancelKeys.cancel(body)
			return nil, errClientDone
		case (code == tlsRequestCode || code == gssRequestCode) && (asked[code] || c.secure):
			return nil, fatalf(stateProtocol, "", "encryption was requested twice")
		case code == tlsRequestCode:
			err = c.offerTLS()
		case code == gssRequestCode:
			_, err = c.net.Write([]byte{'N'})
		default:
			return decodeStartup(code, body)
		}
		if err != nil {
			return nil, err
		}
		asked[code] = true
	}
}

// readStartupPacket reads one startup packet and not a byte more. Bytes that an attacker puts
// behind a request for TLS become part of the TLS handshake, which then fails; they are never
// read as if they had arrived encrypted.
func (c *conn) readStartupPacket() (code uint32, body []byte, err error) {
	var head [startupPacketMin]byte
	if _, err := io.ReadFull(c.net, head[:]); err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length < startupPacketMin || length > startupPacketMax {
		return 0, nil, fatalf(stateProtocol, "", "invalid length of startup packet")
	}
	body = make([]byte, length-startupPacketMin)
	_, err = io.ReadFull(c.net, body)
	return binary.BigEndian.Uint32(head[4:]), body, err
}

// decodeStartup decodes the packet that names a user. A client of a later minor version is
// served with version 3.0; see negotiateVersion.
func decodeStartup(code uint32, body []byte) (*pgproto3.StartupMessage, error) {
	if code>>16 != majorVersion {
		return nil, fatalf(stateNotSupported, "", "unsupported frontend protocol %d.%d: server supports 3.0 to 3.0", code>>16, code&0xFFFF)
	}
	m := &pgproto3.StartupMessage{Parameters: map[string]string{}}
	if len(body) > 1 { // a single byte ends an empty list
		if err := m.Decode(append(binary.BigEndian.AppendUint32(nil, protocol30), body...)); err != nil {
			return nil, fatalf(stateProtocol, "", "invalid startup packet layout: expected terminator as last byte")
		}
	}
	m.ProtocolVersion = code
	return m, nil
}

// negotiateVersion reports to the client which requested version or options the server does not
// support.
func (c *conn) negotiateVersion(m *pgproto3.StartupMessage) {
	var unknown []string
	for name := range m.Parameters {
		if strings.HasPrefix(name, "_pq_.") {
			unknown = append(unknown, name)
		}
	}
	if m.ProtocolVersion == protocol30 && unknown == nil {
		return
	}
	// The field is named after the minor version, but PostgreSQL and libpq put the
	// whole version number into it.
	c.out.send(&pgproto3.NegotiateProtocolVersion{NewestMinorProtocol: protocol30, UnrecognizedOptions: unknown})
}
