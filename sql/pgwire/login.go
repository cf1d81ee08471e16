package pgwire

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/xdg-go/scram"
)

const (
	mechanismPlain = "SCRAM-SHA-256"
	mechanismPlus  = "SCRAM-SHA-256-PLUS"
)

// loginMessageMax limits the bytes of one authentication message.
const loginMessageMax = 4 << 10

// authenticate authenticates a user by password. An unknown user gets the same exchange, the same
// error and the same delay.
func (c *conn) authenticate(user string) error {
	offered := []string{mechanismPlain}
	if c.binding.IsSupported() {
		offered = []string{mechanismPlus, mechanismPlain} // clients choose the first one that they support
	}
	c.out.send(&pgproto3.AuthenticationSASL{AuthMechanisms: offered})
	mechanism, first, err := c.readInitialResponse()
	if err != nil {
		return err
	}
	if !slices.Contains(offered, mechanism) {
		return fatalf(stateProtocol, "", "client selected an invalid SASL authentication mechanism")
	}
	if (mechanism == mechanismPlus) != strings.HasPrefix(first, "p=") {
		return fatalf(stateProtocol, "", "malformed SCRAM message")
	}
	return c.exchangeSCRAM(user, first)
}

// exchangeSCRAM sends the challenge and checks the client's proof.
func (c *conn) exchangeSCRAM(user, first string) error {
	verifier, known := c.server.verifier(user)
	conversation := c.server.newConversation(verifier, c.binding)
	challenge, err := conversation.Step(first)
	if err != nil {
		return malformedSCRAM(challenge)
	}
	if conversation.AuthzID() != "" {
		return fatalf(stateNotSupported, "", "client uses authorization identity, but it is not supported")
	}
	c.out.send(&pgproto3.AuthenticationSASLContinue{Data: []byte(challenge)})
	answer, err := c.readSASLResponse()
	if err != nil {
		return err
	}
	reply, err := conversation.Step(string(answer))
	switch {
	case err != nil && reply == "":
		return malformedSCRAM(reply)
	case err != nil || !conversation.Valid() || !known:
		return errWrongPassword
	}
	c.out.send(&pgproto3.AuthenticationSASLFinal{Data: []byte(reply)})
	return nil
}

// errWrongPassword is the result of an invalid proof.
var errWrongPassword = errors.New("wrong password")

// malformedSCRAM refuses an invalid SCRAM message. The library's own error repeats the client's
// input, so it is not sent.
func malformedSCRAM(reply string) error {
	if reply == scram.ErrServerDoesSupportChannelBinding {
		return fatalf(stateNotAuthorized, "an attacker between client and server may have removed SCRAM-SHA-256-PLUS from the offered mechanisms; check the network path",
			"SCRAM channel binding negotiation error: the client supports channel binding but thinks that the server does not")
	}
	return fatalf(stateProtocol, "", "malformed SCRAM message")
}

// newConversation starts a SCRAM exchange for a verifier. It ignores the user name in the SCRAM
// messages, since drivers send arbitrary names there.
func (s *Server) newConversation(v Verifier, binding scram.ChannelBinding) *scram.ServerConversation {
	server, _ := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return v.credentials(), nil })
	if binding.IsSupported() {
		return server.NewConversationWithChannelBinding(binding)
	}
	return server.NewConversation()
}

// verifier returns the verifier of a user, or one that no password matches.
func (s *Server) verifier(user string) (v Verifier, known bool) {
	mock := mockVerifier(s.secret, user)
	if v, known = s.config.Verifier(user); known && v.iterations > 0 {
		return v, true
	}
	return mock, false
}

// readInitialResponse reads the mechanism that the client chose, and its first message.
func (c *conn) readInitialResponse() (mechanism, first string, err error) {
	body, err := c.readSASLResponse()
	if err != nil {
		return "", "", err
	}
	m := &pgproto3.SASLInitialResponse{}
	if err := m.Decode(body); err != nil {
		return "", "", fatalf(stateProtocol, "", "malformed SASL message")
	}
	return m.AuthMechanism, string(m.Data), nil
}

// readSASLResponse reads one authentication message.
func (c *conn) readSASLResponse() ([]byte, error) {
	c.out.flush()
	if c.out.err != nil {
		return nil, c.out.err
	}
	f, err := c.framer.next()
	switch {
	case err != nil:
		return nil, err
	case f.kind == 'X':
		return nil, errClientDone
	case f.kind != 'p':
		return nil, fatalf(stateProtocol, "", "expected SASL response, got message type %d", f.kind)
	}
	return f.body, nil
}

// refuseLogin answers a wrong password. The delay grows with the failures of the address.
func (c *conn) refuseLogin(user string) error {
	address := host(c.raw.RemoteAddr())
	c.server.config.Logger.Info("SQL login refused: unknown user or wrong token", "user", user, "from", address)
	timer := time.NewTimer(c.server.throttle.delay(address))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.closing:
	}
	return fatalf(stateWrongPassword, "", "password authentication failed for user %q", user)
}
