package pgwire

import (
	"context"
	"fmt"
	"net"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/access"
	"github.com/xdg-go/scram"
)

// logInAs logs in from an address with a password.
func (s *testServer) logInAs(user, password, from string) error {
	s.t.Helper()
	config, err := pgconn.ParseConfig("postgres://" + s.addr + "/rota?sslmode=disable")
	if err != nil {
		s.t.Fatal(err)
	}
	config.User, config.Password, config.DialFunc = user, password, dialerFrom(from)
	conn, err := pgconn.ConnectConfig(context.Background(), config)
	if err == nil {
		_ = conn.Close(context.Background())
	}
	return err
}

// everyUser accepts the password for bob and eve.
func everyUser(c *Config) {
	c.Verifier = passwordOf("bob", "eve")
}

// The refusals of the attack are delayed for longer than the test runs. They would otherwise hold all connections that the
// server allows before the login.
func TestBruteForceFromManyAddressesSlowsNobodyElse(t *testing.T) {
	s := newTestServer(t, everyUser, func(c *Config) { c.GuessDelay, c.PendingMax = time.Hour, 20 })
	if err := s.logInAs("bob", password, "127.1.0.1"); err != nil {
		t.Skipf("this machine has no address 127.1.0.1: %v", err)
	}
	var attack sync.WaitGroup
	defer attack.Wait()
	defer func() { _ = s.stop() }()
	work := make(chan int)
	for range 10 {
		attack.Go(func() {
			for n := range work {
				s.guess("bob", fmt.Sprintf("127.2.%d.%d", n>>8, n&255))
			}
		})
	}
	for n := range 1000 {
		work <- n
	}
	close(work)
	attack.Wait()
	for user, from := range map[string]string{"bob": "127.1.0.1", "eve": "127.2.0.7"} {
		if err := s.logInAs(user, password, from); err != nil {
			t.Errorf("%s at %s: %v", user, from, err)
		}
	}
}

// guess sends a wrong password and does not wait for the answer.
func (s *testServer) guess(user, from string) {
	config, err := pgconn.ParseConfig("postgres://" + s.addr + "/rota?sslmode=disable")
	if err != nil {
		s.t.Error(err)
		return
	}
	before := len(s.server.delays)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	config.User, config.Password, config.DialFunc = user, "wrong", dialerFrom(from)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := pgconn.ConnectConfig(ctx, config); err == nil {
			s.t.Error("the wrong password was accepted")
			_ = conn.Close(context.Background())
		}
	}()
	for len(s.server.delays) <= before && len(s.server.delays) < delaysMax {
		select {
		case <-done: // the server delays as many refusals as it may
			return
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	<-done
}

func TestTooManyFailuresOfOnePairAreNotChecked(t *testing.T) {
	s := newTestServer(t, everyUser)
	last := ""
	for range 11 {
		last = codeOf(s.logInAs("bob", "wrong", "127.0.0.1"))
	}
	if last != "53400" {
		t.Errorf("the eleventh failure is %s", last)
	}
	err := s.logInAs("bob", password, "127.0.0.1")
	if codeOf(err) != "53400" || !strings.Contains(err.Error(), "from this address") {
		t.Errorf("a guess without budget is checked: %v", err)
	}
	if err := s.logInAs("eve", password, "127.0.0.1"); err != nil {
		t.Errorf("another user at the same address: %v", err)
	}
}

func TestAdminIsNeverLockedOut(t *testing.T) {
	s := newTestServer(t)
	for range 15 {
		if code := codeOf(s.logInAs("admin", "wrong", "127.0.0.1")); code != "28P01" {
			t.Errorf("a wrong token is refused with %s", code)
		}
	}
	if err := s.logInAs("admin", password, "127.0.0.1"); err != nil {
		t.Errorf("the right token after many wrong ones: %v", err)
	}
}

// Known and unknown users take the same steps: one lookup, one mock verifier, one exchange, one refusal.
func TestUnknownUserTakesSameSteps(t *testing.T) {
	var lookups []string
	s := newTestServer(t, func(c *Config) {
		c.Verifier = func(ctx context.Context, user string) (access.Verifier, access.Identity, error) {
			lookups = append(lookups, user)
			return passwordOf("bob")(ctx, user)
		}
	})
	for n := range 12 {
		known, unknown := s.logInAs("bob", "wrong", "127.0.0.1"), s.logInAs("nob", "wrong", "127.0.0.1")
		if strings.ReplaceAll(known.Error(), "bob", "nob") != unknown.Error() {
			t.Errorf("attempt %d: %v, and %v", n, known, unknown)
		}
	}
	if s.stop() != nil || strings.Count(fmt.Sprint(lookups), "bob") != strings.Count(fmt.Sprint(lookups), "nob") {
		t.Error(lookups)
	}
}

// heldLogin is a connection that has the challenge of the server, and sends its proof later.
type heldLogin struct {
	frontend     *pgproto3.Frontend
	conversation *scram.ClientConversation
	challenge    string
}

func (s *testServer) holdLogin(user, password string) *heldLogin {
	s.t.Helper()
	raw, err := net.Dial("tcp", s.addr)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = raw.Close() })
	client, err := scram.SHA256.NewClient("", password, "")
	if err != nil {
		s.t.Fatal(err)
	}
	h := &heldLogin{frontend: pgproto3.NewFrontend(raw, raw), conversation: client.NewConversation()}
	h.frontend.Send(&pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": user}})
	h.receive(s.t, &pgproto3.AuthenticationSASL{})
	first, err := h.conversation.Step("")
	if err != nil {
		s.t.Fatal(err)
	}
	h.frontend.Send(&pgproto3.SASLInitialResponse{AuthMechanism: mechanismPlain, Data: []byte(first)})
	h.challenge = string(h.receive(s.t, &pgproto3.AuthenticationSASLContinue{}).(*pgproto3.AuthenticationSASLContinue).Data)
	return h
}

// receive sends what is buffered, and reads a message of a type.
func (h *heldLogin) receive(t testing.TB, want pgproto3.BackendMessage) pgproto3.BackendMessage {
	t.Helper()
	if err := h.frontend.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := h.frontend.Receive()
	if err != nil || reflect.TypeOf(got) != reflect.TypeOf(want) {
		t.Fatalf("received %#v, %v; want a %T", got, err, want)
	}
	return got
}

// A client that prepares many connections, and then sends a password on each, has no more guesses than on one connection.
func TestHeldConnectionsHaveTheGuessesOfOne(t *testing.T) {
	s := newTestServer(t, everyUser)
	held := make([]*heldLogin, 25)
	for i := range held {
		held[i] = s.holdLogin("bob", "a wrong password")
	}
	codes := map[string]int{}
	for _, h := range held {
		proof, err := h.conversation.Step(h.challenge)
		if err != nil {
			t.Fatal(err)
		}
		h.frontend.Send(&pgproto3.SASLResponse{Data: []byte(proof)})
		codes[h.receive(t, &pgproto3.ErrorResponse{}).(*pgproto3.ErrorResponse).Code]++
	}
	if checked := codes[stateWrongPassword]; checked != 10 || codes[stateRateExceeded] != len(held)-checked {
		t.Errorf("the server answered with %v, want 10 checked passwords", codes)
	}
}
