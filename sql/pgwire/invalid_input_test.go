package pgwire

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/access"
)

// panicLog is a log handler that collects panics.
type panicLog struct {
	slog.Handler
	panics chan string
}

func newPanicLog() *panicLog { return &panicLog{slog.DiscardHandler, make(chan string, 100)} }

func (a *panicLog) Enabled(context.Context, slog.Level) bool { return true }

func (a *panicLog) Handle(_ context.Context, r slog.Record) error {
	if strings.Contains(r.Message, "panic") {
		text := r.Message
		r.Attrs(func(one slog.Attr) bool { text += "\n" + one.String(); return true })
		select {
		case a.panics <- text:
		default:
		}
	}
	return nil
}

func (a *panicLog) check(t *testing.T) {
	t.Helper()
	select {
	case text := <-a.panics:
		t.Error(text)
	default:
	}
}

// Clients send invalid bytes at each phase; the server continues and no handler panics.
func TestServerSurvivesInvalidInput(t *testing.T) {
	log := newPanicLog()
	s := newTestServer(t, func(c *Config) {
		c.Logger = slog.New(log)
		c.LoginTime, c.MessageTime = 300*time.Millisecond, 300*time.Millisecond
	})
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	before := [][]byte{
		nil,
		{0},
		{0, 0, 0, 8},
		{0xff, 0xff, 0xff, 0xff},
		noise, bytes.Repeat([]byte{0}, 4096), bytes.Repeat([]byte{0xff}, 4096),
		[]byte("GET / HTTP/1.0\r\n\r\n"), []byte("\x16\x03\x01\x02\x00\x01"), []byte("SSH-2.0-x\r\n"),
		startupPacket(protocol30, strings.Repeat("a\x00b\x00", 2000)), startupPacket(tlsRequestCode, strings.Repeat("x", 9000)),
	}
	for i, say := range before {
		wire := s.dial()
		send(t, wire, say)
		if i%2 == 0 {
			_ = wire.Close()
			continue
		}
		_, _ = io.ReadAll(wire)
	}
	after := [][]byte{
		noise, bytes.Repeat([]byte{0}, 4096), []byte("Q\x7f\xff\xff\xff"), []byte("Q\x00\x00\x00\x00"), []byte("P\x00\x00\x00\x05\x00"),
		[]byte("B\x00\x00\x00\x0c\x00\x00\xff\xff\xff\xff\xff\xff"), []byte("Q\x00\x00\x00\x08abcd"), []byte("D\x00\x00\x00\x05S"),
		[]byte("S\x00\x00\x00\x05\x00"), []byte("p\x00\x00\x00\x04"), []byte("F\x00\x00\x00\x04"), []byte("X\x00\x00\x00\x04Q"),
	}
	for _, say := range after {
		c := s.client()
		send(t, c.wire, say)
		_ = c.wire.(*net.TCPConn).CloseWrite()
		_, _ = io.ReadAll(c.wire)
	}
	if got := s.client().query("rows 1"); len(got) != 4 {
		t.Error(got)
	}
	log.check(t)
}

// A message that cannot be decoded is an error of its own; the next message is answered.
func TestUndecodableMessageIsAnsweredWithError(t *testing.T) {
	c := newTestServer(t).client()
	send(t, c.wire, []byte("Q\x00\x00\x00\x08abcd"))
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 08P01 invalid message format", "ReadyForQuery I"})
	send(t, c.wire, []byte("P\x00\x00\x00\x05\x00S\x00\x00\x00\x04"))
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 08P01 invalid message format", "ReadyForQuery I"})
	send(t, c.wire, []byte("D\x00\x00\x00\x06X\x00S\x00\x00\x00\x04"))
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 08P01 invalid DESCRIBE message subtype 88", "ReadyForQuery I"})
	send(t, c.wire, []byte("C\x00\x00\x00\x06X\x00S\x00\x00\x00\x04"))
	wantLines(t, c.receiveUntilReady(1), []string{"ERROR 08P01 invalid CLOSE message subtype 88", "ReadyForQuery I"})
}

// serveBytes runs a connection that reads raw and then the end of the input. With a session
// the connection starts after the login.
func serveBytes(t *testing.T, raw []byte, session Session) {
	t.Helper()
	log := newPanicLog()
	server, err := New(Config{
		Session: func(access.Identity) Session { return session },
		Verifier: func(_ context.Context, user string) (access.Verifier, access.Identity, error) {
			return verifier, access.Identity{User: user}, nil
		},
		MessageMax: 64 << 10, Logger: slog.New(log), GuessDelay: time.Nanosecond, LoginTime: 5 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	h := newConnGroup(context.Background())
	defer h.drain()
	c := newConn(server, far, h)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if session == nil {
			c.serve()
			return
		}
		defer c.cleanUp()
		c.session, c.prepared, c.framer = session, newPreparedSet(session.Memory()), newFramer(far, 0, 0)
		c.closeWith(c.serveMessages())
	}()
	go func() { _, _ = io.Copy(io.Discard, near) }()
	_, _ = near.Write(raw)
	_ = near.Close()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection did not end after the client disconnected")
	}
	log.check(t)
}

func FuzzStartup(f *testing.F) {
	f.Add([]byte{})
	f.Add(startupPacket(tlsRequestCode, ""))
	f.Add(startupPacket(cancelRequestCode, "12345678"))
	user := startupPacket(protocol30, "user\x00admin\x00options\x00-c a=b\x00\x00")
	f.Add(user)
	first, _ := (&pgproto3.SASLInitialResponse{AuthMechanism: mechanismPlain, Data: []byte("n,,n=,r=abc")}).Encode(nil)
	final, _ := (&pgproto3.SASLResponse{Data: []byte("c=biws,r=abc,p=AAAA")}).Encode(nil)
	f.Add(append(append(startupPacket(protocol30+2, "user\x00admin\x00\x00"), first...), final...))
	f.Fuzz(func(t *testing.T, raw []byte) { serveBytes(t, raw, nil) })
}

func FuzzMessages(f *testing.F) {
	for _, list := range [][]pgproto3.FrontendMessage{
		{&pgproto3.Query{String: "one; rows 3; begin"}},
		{&pgproto3.Parse{Query: "echo", ParameterOIDs: []uint32{1184}}, &pgproto3.Bind{Parameters: [][]byte{[]byte("2026-01-01")}}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{MaxRows: 1}, &pgproto3.Sync{}},
		{&pgproto3.Parse{Name: "a", Query: "echo", ParameterOIDs: []uint32{1007}}, &pgproto3.Bind{PreparedStatement: "a", ParameterFormatCodes: []int16{1}, Parameters: [][]byte{make([]byte, 24)}, ResultFormatCodes: []int16{1}}, &pgproto3.Execute{}, &pgproto3.Close{ObjectType: 'S', Name: "a"}, &pgproto3.Flush{}},
		{&pgproto3.Parse{Query: "echo", ParameterOIDs: []uint32{1700}}, &pgproto3.Bind{ParameterFormatCodes: []int16{1}, Parameters: [][]byte{{0, 1, 0, 0, 0, 0, 0, 0, 0, 1}}}, &pgproto3.Execute{}, &pgproto3.Sync{}},
		{&pgproto3.FunctionCall{}, &pgproto3.CopyData{}, &pgproto3.Terminate{}},
	} {
		var raw []byte
		for _, m := range list {
			raw, _ = m.Encode(raw)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, word := range []string{"wait", "panic", "linger"} {
			if bytes.Contains(raw, []byte(word)) {
				return
			}
		}
		serveBytes(t, raw, newFakeSession(newFakeStore()))
	})
}

// FuzzArgument reads any bytes as an argument of any kind.
func FuzzArgument(f *testing.F) {
	f.Add(uint32(23), false, []byte("1"))
	f.Add(uint32(17), false, []byte(`\x00`))
	f.Add(uint32(1186), true, make([]byte, 16))
	f.Add(uint32(1700), true, []byte{0, 1, 0, 0, 0, 0, 0, 0, 0, 1})
	f.Add(uint32(1007), true, binary.BigEndian.AppendUint32(make([]byte, 20), 1))
	f.Fuzz(func(t *testing.T, oid uint32, inBinary bool, raw []byte) {
		list, err := kindsOf([]uint32{oid % 5000})
		if err != nil {
			return
		}
		format := int16(0)
		if inBinary {
			format = 1
		}
		value, err := argument(1, list[0], format, raw)
		if err != nil && stateOf(err) == stateInternal {
			t.Error(err)
		}
		if text, is := value.(string); is && (!utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
			t.Errorf("%s %q was read as %q", list[0], raw, text)
		}
	})
}
