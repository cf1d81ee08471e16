package pgwire

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

const (
	plain = "SCRAM-SHA-256"
	plus  = "SCRAM-SHA-256-PLUS"
)

// proofMost is the length of a message of the login.
const proofMost = 4 << 10

// prove authenticates a user by password. An unknown user gets the same exchange, the same
// error and the same delay.
func (c *conn) prove(user string) error {
	offered := []string{plain}
	if c.binding.IsSupported() {
		offered = []string{plus, plain} // clients take the first that they know
	}
	c.out.send(&pgproto3.AuthenticationSASL{AuthMechanisms: offered})
	mechanism, first, err := c.initial()
	if err != nil {
		return err
	}
	if !slices.Contains(offered, mechanism) {
		return fatally(stateProtocol, "", "client selected an invalid SASL authentication mechanism")
	}
	if (mechanism == plus) != strings.HasPrefix(first, "p=") {
		return fatally(stateProtocol, "", "malformed SCRAM message")
	}
	return c.converse(user, first)
}

// converse is the exchange of SCRAM: a challenge, and its answer.
func (c *conn) converse(user, first string) error {
	verifier, known := c.server.verifier(user)
	talk := c.server.conversation(verifier, c.binding)
	challenge, err := talk.Step(first)
	if err != nil {
		return malformed(challenge)
	}
	if talk.AuthzID() != "" {
		return fatally(stateNotSupported, "", "client uses authorization identity, but it is not supported")
	}
	c.out.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	answer, err := c.proof()
	if err != nil {
		return err
	}
	verdict, err := talk.Step(string(answer))
	switch {
	case err != nil && verdict == "":
		return malformed(verdict)
	case err != nil || !talk.Valid() || !known:
		return errWrong
	}
	c.out.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(verdict)})
	return nil
}

// errWrong is a proof that proves nothing.
var errWrong = errors.New("wrong password")

// malformed refuses a message that is none of SCRAM. What the library thinks of it
// repeats the message, and is not told.
func malformed(verdict string) error {
	if verdict == scram.ErrServerDoesSupportChannelBinding {
		return fatally(stateNotAuthorized, "somebody may be in the middle who takes it out of what is offered",
			"SCRAM channel binding negotiation error: the client supports it and thinks that the server does not")
	}
	return fatally(stateProtocol, "", "malformed SCRAM message")
}

// conversation begins an exchange about a verifier. The name that stands in the
// messages of SCRAM is not looked at: drivers put anything there.
func (s *Server) conversation(v Verifier, binding scram.ChannelBinding) *scram.ServerConversation {
	server, _ := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return v.credentials(), nil })
	if binding.IsSupported() {
		return server.NewConversationWithChannelBinding(binding)
	}
	return server.NewConversation()
}

// verifier is that of a user, or one that nobody can prove anything against.
func (s *Server) verifier(user string) (v Verifier, known bool) {
	pretended := mock(s.secret, user)
	if v, known = s.config.Verifier(user); known && v.iterations > 0 {
		return v, true
	}
	return pretended, false
}

// initial reads which mechanism a client has chosen, and its first message.
func (c *conn) initial() (mechanism, first string, err error) {
	body, err := c.proof()
	if err != nil {
		return "", "", err
	}
	name, rest, found := strings.Cut(string(body), "\x00")
	if !found || len(rest) < 4 || int(binary.BigEndian.Uint32([]byte(rest))) != len(rest)-4 {
		return "", "", fatally(stateProtocol, "", "malformed SASL message")
	}
	return name, rest[4:], nil
}

// proof reads a message of the login.
func (c *conn) proof() ([]byte, error) {
	c.out.flush()
	if c.out.err != nil {
		return nil, c.out.err
	}
	f, err := c.framer.next()
	switch {
	case err != nil:
		return nil, err
	case f.kind == 'X':
		return nil, errDone
	case f.kind != 'p':
		return nil, fatally(stateProtocol, "", "expected SASL response, got message type %d", f.kind)
	}
	return f.body, nil
}

// refuseLogin answers a wrong password, slower the more often an address was wrong.
func (c *conn) refuseLogin(user string) error {
	address := host(c.raw.RemoteAddr())
	c.server.config.Logger.Info("a login was refused", "user", user, "from", address)
	timer := time.NewTimer(c.server.guard.delay(address))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closing:
	}
	return fatally(stateWrongPassword, "", "password authentication failed for user %q", user)
}
