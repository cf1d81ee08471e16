package pgwire

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

// certificate creates a certificate for localhost.
func certificate(t testing.TB, edwards bool) tls.Certificate {
	t.Helper()
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "rota"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	if edwards {
		public, key, _ := ed25519.GenerateKey(rand.Reader)
		raw, err := x509.CreateCertificate(rand.Reader, form, form, public, key)
		if err != nil {
			t.Fatal(err)
		}
		return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	raw, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}
}

func withTLS(certificates ...tls.Certificate) func(*Config) {
	return func(c *Config) { c.TLS = &tls.Config{Certificates: certificates} }
}

func codeOf(err error) string {
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return refused.Code
	}
	return fmt.Sprint(err)
}

func TestLogin(t *testing.T) {
	s := newTestServer(t, withTLS(certificate(t, false)))
	edwards := newTestServer(t, withTLS(certificate(t, true)))
	bare := newTestServer(t)
	strict := newTestServer(t, withTLS(certificate(t, false)), func(c *Config) { c.RequireTLS = true })
	for _, test := range []struct {
		name  string
		site  *testServer
		user  string
		proof string
		more  string
		code  string // empty: the login succeeds
	}{
		{"right", s, "admin", password, "sslmode=disable", ""},
		{"over TLS, bound", s, "admin", password, "sslmode=require&channel_binding=require", ""},
		{"over TLS, not bound", s, "admin", password, "sslmode=require&channel_binding=disable", ""},
		{"a certificate that nothing is bound to", edwards, "admin", password, "sslmode=require", ""},
		{"TLS preferred and not there", bare, "admin", password, "sslmode=prefer", ""},
		{"TLS required and there", strict, "admin", password, "sslmode=require", ""},
		{"TLS required and not asked for", strict, "admin", password, "sslmode=disable", "28000"},
		{"wrong", s, "admin", "wrong", "sslmode=disable", "28P01"},
		{"wrong over TLS", s, "admin", "wrong", "sslmode=require&channel_binding=require", "28P01"},
		{"unknown user", s, "nobody", password, "sslmode=disable", "28P01"},
		{"empty", s, "admin", "", "sslmode=disable", "28P01"},
		{"no database", s, "admin", password, "sslmode=disable&dbname=other", "3D000"},
		{"a database called postgres", s, "admin", password, "sslmode=disable&dbname=postgres", ""},
		{"a database called as the user", s, "admin", password, "sslmode=disable&dbname=admin", ""},
		{"settings", s, "admin", password, "sslmode=disable&options=-c%20a.b%3D1%20--c-d%3D2&client_encoding=utf-8", ""},
		{"a setting that is none", s, "admin", password, "sslmode=disable&nonsense=1", "42704"},
		{"options that are none", s, "admin", password, "sslmode=disable&options=-z", "42601"},
		{"another encoding", s, "admin", password, "sslmode=disable&client_encoding=LATIN1", "22023"},
		{"replication", s, "admin", password, "sslmode=disable&replication=database", "0A000"},
	} {
		t.Run(test.name, func(t *testing.T) {
			host, port, _ := net.SplitHostPort(test.site.addr)
			url := fmt.Sprintf("postgres://%s:%s?user=%s&password=%s&%s", host, port, test.user, strings.ReplaceAll(test.proof, " ", "%20"), test.more)
			if !strings.Contains(test.more, "dbname") {
				url += "&dbname=rota"
			}
			conn, err := pgconn.Connect(context.Background(), url)
			if test.code != "" {
				if codeOf(err) != test.code {
					t.Errorf("got %v, want %s", err, test.code)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.Background())
			if got := conn.ParameterStatus("server_version"); got != "15.0 (Rota 0.9)" {
				t.Error(got)
			}
		})
	}
}

// handshake sends the messages of a login one by one and returns the answers.
type handshake struct {
	t    testing.TB
	wire net.Conn
	f    *pgproto3.Frontend
}

func (s *testServer) handshake(user string, secure bool) *handshake {
	wire := s.dial()
	if secure {
		_, _ = wire.Write([]byte{0, 0, 0, 8, 4, 210, 22, 47})
		one := make([]byte, 1)
		if _, err := wire.Read(one); err != nil || one[0] != 'S' {
			s.t.Fatal(one, err)
		}
		wire = tls.Client(wire, &tls.Config{InsecureSkipVerify: true})
	}
	h := &handshake{s.t, wire, pgproto3.NewFrontend(wire, wire)}
	h.f.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": user}})
	_ = h.f.Flush()
	return h
}

func (h *handshake) receive() pgproto3.BackendMessage {
	m, err := h.f.Receive()
	if err != nil {
		return &pgproto3.ErrorResponse{Message: "closed"}
	}
	return m
}

func (h *handshake) answer(m pgproto3.FrontendMessage) pgproto3.BackendMessage {
	h.f.Send(m)
	_ = h.f.Flush()
	return h.receive()
}

func TestInvalidFirstSCRAMMessageIsRefused(t *testing.T) {
	s := newTestServer(t, withTLS(certificate(t, false)))
	first := func(mechanism, text string) pgproto3.FrontendMessage {
		return &pgproto3.SASLInitialResponse{AuthMechanism: mechanism, Data: []byte(text)}
	}
	for _, test := range []struct {
		name   string
		secure bool
		say    pgproto3.FrontendMessage
		want   string
	}{
		{"unknown mechanism", false, first("PLAIN", "n,,n=,r=abc"), "FATAL 08P01 client selected an invalid SASL authentication mechanism"},
		{"binding without TLS", false, first(mechanismPlus, "p=tls-server-end-point,,n=,r=abc"), "FATAL 08P01 client selected an invalid SASL authentication mechanism"},
		{"binding without the PLUS mechanism", true, first(mechanismPlain, "p=tls-server-end-point,,n=,r=abc"), "FATAL 08P01 malformed SCRAM message"},
		{"PLUS mechanism without binding", true, first(mechanismPlus, "n,,n=,r=abc"), "FATAL 08P01 malformed SCRAM message"},
		{"another binding", true, first(mechanismPlus, "p=tls-unique,,n=,r=abc"), "FATAL 08P01 malformed SCRAM message"},
		{"downgrade by a proxy", true, first(mechanismPlain, "y,,n=,r=abc"), "FATAL 28000 SCRAM channel binding negotiation error"},
		{"authorization identity", false, first(mechanismPlain, "n,a=root,n=,r=abc"), "FATAL 0A000 client uses authorization identity"},
		{"nothing", false, first(mechanismPlain, ""), "FATAL 08P01 malformed SCRAM message"},
		{"bytes", false, first(mechanismPlain, "\x00\xff\xfe,,,"), "FATAL 08P01 malformed SCRAM message"},
		{"extensions", false, first(mechanismPlain, "n,,m=x,n=,r=abc"), "FATAL 08P01 malformed SCRAM message"},
		{"too long", false, first(mechanismPlain, "n,,n=,r="+strings.Repeat("x", loginMessageMax)), "FATAL 08P01 message of"},
		{"a query", false, &pgproto3.Query{String: "one"}, "FATAL 08P01 expected SASL response"},
		{"a plain password", false, &pgproto3.PasswordMessage{Password: password}, "FATAL 08P01 malformed SASL message"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := s.handshake("admin", test.secure)
			h.receive() // the offered mechanisms
			if got := formatMessage(h.answer(test.say)); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestInvalidFinalSCRAMMessageIsRefused(t *testing.T) {
	s := newTestServer(t)
	for _, test := range []struct{ name, final, want string }{
		{"nothing", "", "FATAL 08P01 malformed"},
		{"no proof", "c=biws,r=%s", "FATAL 08P01 malformed"},
		{"no base64", "c=biws,r=%s,p=!", "FATAL 08P01 malformed"},
		{"a short proof", "c=biws,r=%s,p=AAAA", "FATAL 28P01 password authentication failed for user \"admin\""},
		{"an empty proof", "c=biws,r=%s,p=", "FATAL 28P01"},
		{"a wrong proof", "c=biws,r=%s,p=" + strings.Repeat("A", 43) + "=", "FATAL 28P01"},
		{"another nonce", "c=biws,r=x%s,p=" + strings.Repeat("A", 43) + "=", "FATAL 28P01"},
		{"another binding", "c=eSws,r=%s,p=" + strings.Repeat("A", 43) + "=", "FATAL 28P01"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := s.handshake("admin", false)
			h.receive()
			more := h.answer(&pgproto3.SASLInitialResponse{AuthMechanism: mechanismPlain, Data: []byte("n,,n=,r=abc")}).(*pgproto3.AuthenticationSASLContinue)
			nonce, _, _ := strings.Cut(strings.TrimPrefix(string(more.Data), "r="), ",")
			final := test.final
			if strings.Contains(final, "%s") {
				final = fmt.Sprintf(final, nonce)
			}
			if got := formatMessage(h.answer(&pgproto3.SASLResponse{Data: []byte(final)})); !strings.HasPrefix(got, test.want) {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// A client cannot distinguish an unknown user from a known one, even with two logins.
func TestUnknownUserGetsSameChallengeAndError(t *testing.T) {
	s := newTestServer(t)
	login := func(user string) (challenge, refusal string) {
		h := s.handshake(user, false)
		h.receive()
		scramClient, _ := scram.SHA256.NewClient("", "wrong", "")
		conversation := scramClient.NewConversation()
		text, _ := conversation.Step("")
		more := h.answer(&pgproto3.SASLInitialResponse{AuthMechanism: mechanismPlain, Data: []byte(text)}).(*pgproto3.AuthenticationSASLContinue)
		final, err := conversation.Step(string(more.Data))
		if err != nil {
			t.Fatal(err)
		}
		_, challenge, _ = strings.Cut(string(more.Data), ",")
		return challenge, strings.ReplaceAll(formatMessage(h.answer(&pgproto3.SASLResponse{Data: []byte(final)})), user, "USER")
	}
	salt, refusal := login("unknown")
	again, _ := login("unknown")
	other, _ := login("other")
	real, really := login("admin")
	if salt != again || salt == other || len(salt) != len(real) || refusal != really {
		t.Errorf("unknown: %s and %s, %s; other: %s; admin: %s, %s", salt, again, refusal, other, real, really)
	}
}

// FuzzSCRAM sends any two SCRAM messages; NONCE in the second one stands for the nonce of the exchange. None of them is a
// proof, and each is answered.
func FuzzSCRAM(f *testing.F) {
	s := newTestServer(f)
	f.Add("n,,n=,r=abc", "c=biws,r=NONCE,p="+strings.Repeat("A", 43)+"=")
	f.Add("n,,n=admin,r=", "c=biws,r=NONCE,p=")
	f.Add("y,,n=,r=abc", "c=eSws,r=NONCE,p=AAAA")
	f.Add("n,a=root,n=,r=abc", "")
	f.Add("p=tls-server-end-point,,n=,r=abc", "\x00")
	f.Fuzz(func(t *testing.T, first, final string) {
		wire, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer wire.Close()
		_ = wire.SetDeadline(time.Now().Add(20 * time.Second))
		h := &handshake{t, wire, pgproto3.NewFrontend(wire, wire)}
		h.answer(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "admin"}})
		switch m := h.answer(&pgproto3.SASLInitialResponse{AuthMechanism: mechanismPlain, Data: []byte(first)}).(type) {
		case *pgproto3.AuthenticationSASLContinue:
			nonce, _, _ := strings.Cut(strings.TrimPrefix(string(m.Data), "r="), ",")
			final = strings.ReplaceAll(final, "NONCE", nonce)
		case *pgproto3.ErrorResponse:
			return
		default:
			t.Fatalf("%q was answered with %s", first, formatMessage(m))
		}
		if m, refused := h.answer(&pgproto3.SASLResponse{Data: []byte(final)}).(*pgproto3.ErrorResponse); !refused || m.Code == stateInternal {
			t.Errorf("%q was answered with %s", final, formatMessage(m))
		}
	})
}
