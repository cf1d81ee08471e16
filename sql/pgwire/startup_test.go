package pgwire

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// startupPacket is a message of the greeting.
func startupPacket(code uint32, body string) []byte {
	raw := binary.BigEndian.AppendUint32(nil, uint32(8+len(body)))
	return append(binary.BigEndian.AppendUint32(raw, code), body...)
}

func send(t *testing.T, wire net.Conn, parts ...[]byte) {
	t.Helper()
	for _, part := range parts {
		if _, err := wire.Write(part); err != nil {
			t.Log(err)
		}
	}
}

func TestStartupPackets(t *testing.T) {
	admin := "user\x00admin\x00\x00"
	for _, test := range []struct {
		name string
		say  [][]byte
		want string // the start of the answer; one letter answers a request for encryption
	}{
		{"no TLS here", [][]byte{startupPacket(tlsRequestCode, "")}, "N"},
		{"no GSS anywhere", [][]byte{startupPacket(gssRequestCode, "")}, "N"},
		{"one and the other, and a user", [][]byte{startupPacket(tlsRequestCode, ""), startupPacket(gssRequestCode, ""), startupPacket(protocol30, admin)}, "NNR"},
		{"asked twice", [][]byte{startupPacket(tlsRequestCode, ""), startupPacket(tlsRequestCode, "")}, "NE"},
		{"a user", [][]byte{startupPacket(protocol30, admin)}, "R"},
		{"a later minor version", [][]byte{startupPacket(protocol30+2, admin)}, "v"},
		{"one that does not exist", [][]byte{startupPacket(protocol30+9999, admin)}, "v"},
		{"an option of the protocol", [][]byte{startupPacket(protocol30, "_pq_.x\x00y\x00"+admin)}, "v"},
		{"version 2", [][]byte{startupPacket(2<<16, admin)}, "E"},
		{"no user", [][]byte{startupPacket(protocol30, "\x00")}, "E"},
		{"an empty user", [][]byte{startupPacket(protocol30, "user\x00\x00\x00")}, "E"},
		{"no end", [][]byte{startupPacket(protocol30, "user\x00admin\x00")}, "E"},
		{"half a pair", [][]byte{startupPacket(protocol30, "user\x00\x00")}, "E"},
		{"no UTF-8", [][]byte{startupPacket(protocol30, "user\x00\xff\x00\x00")}, "E"},
		{"too short", [][]byte{{0, 0, 0, 4, 0, 0, 0, 0}}, "E"},
		{"too long", [][]byte{{0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0}}, "E"},
		{"HTTP", [][]byte{[]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n")}, "E"},
		{"a request to cancel", [][]byte{startupPacket(cancelRequestCode, "12345678")}, ""},
		{"half a request to cancel", [][]byte{startupPacket(cancelRequestCode, "1234")}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			wire := newTestServer(t).dial()
			send(t, wire, test.say...)
			_ = wire.SetReadDeadline(time.Now().Add(2 * time.Second))
			got := make([]byte, len(test.want)+1)
			n, _ := io.ReadAtLeast(wire, got, max(len(test.want), 1))
			if !strings.HasPrefix(string(got[:n]), test.want) || test.want == "" && n > 0 {
				t.Errorf("got %q, want %q", got[:n], test.want)
			}
		})
	}
}

// An attacker without the key can append a plaintext message to the request for TLS. The server
// must not read it as part of the encrypted session.
func TestPlaintextAfterTLSRequestIsRejected(t *testing.T) {
	s := newTestServer(t, withTLS(certificate(t, false)))
	wire := s.dial()
	send(t, wire, append(startupPacket(tlsRequestCode, ""), startupPacket(protocol30, "user\x00admin\x00\x00")...))
	got, _ := io.ReadAll(wire)
	if len(got) == 0 || got[0] != 'S' || strings.Contains(string(got), "SCRAM") {
		t.Errorf("got %q", got)
	}
}

func TestNegotiateProtocolVersion(t *testing.T) {
	wire := newTestServer(t).dial()
	send(t, wire, startupPacket(protocol30+2, "_pq_.a\x00b\x00user\x00admin\x00\x00"))
	m, err := pgproto3.NewFrontend(wire, wire).Receive()
	if err != nil {
		t.Fatal(err)
	}
	got, is := m.(*pgproto3.NegotiateProtocolVersion)
	if !is || got.NewestMinorProtocol != protocol30 || len(got.UnrecognizedOptions) != 1 || got.UnrecognizedOptions[0] != "_pq_.a" {
		t.Errorf("got %#v", m)
	}
}

func TestParseOptions(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"-c a=b", "a=b"},
		{"  -c  a=b   -cc=d --e-f=g ", "a=b c=d e_f=g"},
		{`-c a=b\ c`, "a=b c"},
		{`-c a=\\`, `a=\`},
		{"-c a=", "a="},
		{"-c", "!"},
		{"-c a", "!"},
		{"a=b", "!"},
		{"--a", "a="},
	} {
		list, err := parseOptions(test.text)
		var all []string
		for _, one := range list {
			all = append(all, one[0]+"="+one[1])
		}
		got := strings.Join(all, " ")
		if err != nil {
			got = "!"
		}
		if got != test.want {
			t.Errorf("%q: got %q, want %q", test.text, got, test.want)
		}
	}
}
