package access

import (
	"context"
	"crypto/subtle"
	"strings"

	"github.com/rotajobs/rota"
)

// errLogin is the refusal of a login. It does not say whether the user exists.
func errLogin(reason string) *rota.Error {
	return &rota.Error{Code: rota.Denied, Act: actLogin, Reason: reason}
}

// ErrWrongToken is the refusal of a token that does not exist, or whose secret is wrong. Only these say that somebody guesses:
// the sender of a token that has ended knows its secret.
var ErrWrongToken = errLogin("the token is wrong")

// ErrWrongPassword is the refusal of an unknown user and of a wrong password.
var ErrWrongPassword = errLogin("the user or the password is wrong")

// ByToken returns the identity of a token rota_ID_SECRET. Any refusal is Denied; other errors are those of the store.
func (d *Directory) ByToken(ctx context.Context, token string) (Identity, error) {
	id, is := TokenID(token)
	if !is {
		return Identity{}, ErrWrongToken
	}
	s, err := d.snapshot(ctx)
	if err != nil {
		return Identity{}, err
	}
	t, err := d.token(ctx, s, id)
	if rota.CodeOf(err) == rota.NotFound {
		return Identity{}, ErrWrongToken
	}
	if err != nil {
		return Identity{}, err
	}
	if subtle.ConstantTimeCompare([]byte(HashToken(token)), []byte(t.Hash)) != 1 {
		return Identity{}, ErrWrongToken
	}
	identity, err := d.tokenIdentity(s, t)
	if err == nil {
		d.recorder.used(t.ID, d.clock())
	}
	return identity, err
}

// tokenIdentity returns the identity of a token that was proved.
func (d *Directory) tokenIdentity(s *snapshot, t *rota.AccessToken) (Identity, error) {
	identity := Identity{User: t.User, Token: t.ID}
	if t.User != rota.AdminUser {
		u := s.user(t.User)
		if u == nil {
			return Identity{}, errEnded("the user of token "+t.ID+" was dropped", "create one with rota token create")
		}
		identity.UserSince = u.CreatedAt
	}
	if err := d.usable(s, t, identity); err != nil {
		return Identity{}, err
	}
	return identity, nil
}

// ByPassword returns the identity of a user by its password. An unknown user takes as long as a known one. No user has a
// password beyond PasswordMax, whose preparation would take seconds.
func (d *Directory) ByPassword(ctx context.Context, user, password string) (Identity, error) {
	if len(password) > PasswordMax {
		return Identity{}, ErrWrongPassword
	}
	verifier, identity, err := d.Credentials(ctx, user)
	if err != nil {
		return Identity{}, err
	}
	if !verifier.Matches(password) || identity.User == "" {
		return Identity{}, ErrWrongPassword
	}
	return identity, nil
}

// Credentials returns what a login by SCRAM is checked against: the verifier of a user, or of a token under the name
// rota_ID. The identity is valid only after the proof. It is zero for an unknown name, a user without a password, and a token
// that was revoked or has expired; the verifier is then one that no password matches.
func (d *Directory) Credentials(ctx context.Context, name string) (Verifier, Identity, error) {
	mocks, err := d.loginMocks(ctx)
	if err != nil {
		return Verifier{}, Identity{}, err
	}
	mock := mocks.Verifier(name) // also for known users, so that both take the same time
	v, identity, err := d.credentials(ctx, name)
	if err != nil || !v.IsZero() {
		return v, identity, err
	}
	return mock, Identity{}, nil
}

// loginMocks returns the verifiers of unknown users. They are the same at all nodes of a store, and after a restart.
func (d *Directory) loginMocks(ctx context.Context) (*Mocks, error) {
	if m := d.mocks.Load(); m != nil {
		return m, nil
	}
	secret := ""
	if keeps, does := rota.StoreAs[rota.LoginSecret](d.store); does {
		var err error
		if secret, err = keeps.LoginSecret(ctx); err != nil {
			return nil, err
		}
	}
	d.mocks.CompareAndSwap(nil, NewMocks(secret))
	return d.mocks.Load(), nil
}

func (d *Directory) credentials(ctx context.Context, name string) (Verifier, Identity, error) {
	s, err := d.snapshot(ctx)
	if err != nil {
		return Verifier{}, Identity{}, err
	}
	if id, is := strings.CutPrefix(name, rota.TokenPrefix); is {
		return d.tokenCredentials(ctx, s, id)
	}
	u := s.user(name)
	if u == nil || u.Spec.Verifier == "" {
		return Verifier{}, Identity{}, nil
	}
	v, err := ParseVerifier(u.Spec.Verifier)
	return v, Identity{User: u.Name, UserSince: u.CreatedAt}, err
}

func (d *Directory) tokenCredentials(ctx context.Context, s *snapshot, id string) (Verifier, Identity, error) {
	if !alphanumeric(id) {
		return Verifier{}, Identity{}, nil
	}
	t, err := d.token(ctx, s, id)
	if rota.CodeOf(err) == rota.NotFound || err == nil && t.Verifier == "" {
		return Verifier{}, Identity{}, nil
	}
	if err != nil {
		return Verifier{}, Identity{}, err
	}
	identity, err := d.tokenIdentity(s, t)
	if err != nil { // expired or revoked: refused like a wrong password
		return Verifier{}, Identity{}, nil
	}
	v, err := ParseVerifier(t.Verifier)
	return v, identity, err
}

// ByCertificate returns the identity of the user that has the common name of a verified certificate.
func (d *Directory) ByCertificate(ctx context.Context, commonName string) (Identity, error) {
	s, err := d.snapshot(ctx)
	if err != nil {
		return Identity{}, err
	}
	if u := s.byCertificate[commonName]; u != nil && commonName != "" {
		return Identity{User: u.Name, UserSince: u.CreatedAt}, nil
	}
	return Identity{}, errLogin("no user has the certificate of the client")
}
