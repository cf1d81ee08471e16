package pgwire

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/access"
	"github.com/xdg-go/scram"
)

const (
	mechanismPlain = "SCRAM-SHA-256"
	mechanismPlus  = "SCRAM-SHA-256-PLUS"
)

// loginMessageMax limits the bytes of one authentication message.
const loginMessageMax = 4 << 10

// authenticate authenticates a user by client certificate or by password. A certificate of somebody else counts as none.
func (c *conn) authenticate(user string) error {
	c.user = user
	proved, err := c.hasCertificateOf(user)
	if err == nil && !proved {
		if err := c.checkThrottle(user); err != nil {
			return err
		}
		err = c.checkPassword(user)
	}
	switch {
	case errors.Is(err, errWrongPassword):
		return c.refuseLogin(user)
	case err != nil:
		return loginTimeout(err)
	}
	c.user = c.identity.User
	if told := c.server.config.LoggedIn; told != nil {
		told(c.identity, access.NetworkOf(c.raw.RemoteAddr().String()))
	}
	return nil
}

// checkPassword authenticates a user by password. An unknown user gets the same exchange, the same
// error and the same delay.
func (c *conn) checkPassword(user string) error {
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
	verifier, identity, err := c.server.verifier(c.ctx, user)
	if err != nil {
		return err
	}
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
	if err := c.beginPasswordCheck(user); err != nil {
		return err
	}
	reply, err := conversation.Step(string(answer))
	switch {
	case err != nil && reply == "":
		return malformedSCRAM(reply)
	case err != nil || !conversation.Valid() || identity.User == "":
		return errWrongPassword
	}
	c.passwordCheck.Succeeded()
	c.identity = identity
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
func (s *Server) newConversation(v access.Verifier, binding scram.ChannelBinding) *scram.ServerConversation {
	server, _ := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return v.Credentials(), nil })
	if binding.IsSupported() {
		return server.NewConversationWithChannelBinding(binding)
	}
	return server.NewConversation()
}

// verifier returns the verifier of a user, or one that no password matches.
func (s *Server) verifier(ctx context.Context, user string) (access.Verifier, access.Identity, error) {
	mock := s.mocks.Verifier(user) // also for known users, so that both take the same time
	v, identity, err := s.config.Verifier(ctx, user)
	if err != nil {
		return v, identity, fatalf(stateUnavailable, "try again later", "the users cannot be read: %v", err)
	}
	if v.IsZero() {
		return mock, identity, nil
	}
	return v, identity, nil
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
