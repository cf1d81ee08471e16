package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
)

// authenticator finds out who sends a request: by its bearer token, or without one by the client certificate.
type authenticator struct {
	hash        [sha256.Size]byte // SHA-256 of the admin token, so that a comparison takes constant time
	logins      *access.LoginThrottle
	directory   directory
	crossOrigin *http.CrossOriginProtection
}

// directory is the part of access.Directory that finds out who sends a request.
type directory interface {
	ByToken(ctx context.Context, token string) (access.Identity, error)
	ByCertificate(ctx context.Context, commonName string) (access.Identity, error)
	LoginFailed(user, origin string)
}

func newAuthenticator(config *Config) *authenticator {
	return &authenticator{
		hash: sha256.Sum256([]byte(config.Token)), logins: config.Logins,
		directory: config.Access, crossOrigin: http.NewCrossOriginProtection(),
	}
}

// refusal is why a request is refused.
type refusal struct {
	problem *api.Problem
	wait    time.Duration // until the request may be sent again; 0: not known
}

func (r *refusal) write(w http.ResponseWriter) { writeProblem(w, r.asError(w)) }

// asError sets the headers of the refusal, and returns its problem.
func (r *refusal) asError(w http.ResponseWriter) *api.Problem {
	if r.wait > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int((r.wait+time.Second-1)/time.Second)))
	}
	return r.problem
}

// identity returns who sends a request, or the reason to refuse it. The right token is accepted
// regardless of wrong tokens from the same address: a hostile client must not lock out others behind
// the same address.
func (a *authenticator) identity(r *http.Request) (none access.Identity, _ *refusal) {
	if r.Header.Get("Authorization") == "" && r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
		return a.certificateIdentity(r)
	}
	token, found := bearer(r)
	if !found {
		return none, unauthorized("the request has no token")
	}
	return a.byToken(r, token)
}

// byToken returns whose token it is.
func (a *authenticator) byToken(r *http.Request, token string) (none access.Identity, _ *refusal) {
	if a.isAdminToken(token) {
		return access.Admin(), nil
	}
	identity, err := a.directory.ByToken(r.Context(), token)
	switch {
	case err == nil:
		return identity, nil
	case rota.CodeOf(err) != rota.Denied:
		return none, &refusal{problem: problemOf(err)}
	}
	a.directory.LoginFailed(loginName(token), "http from "+access.NetworkOf(r.RemoteAddr))
	if !errors.Is(err, access.ErrWrongToken) { // the token has ended, and its sender must always learn that
		return none, refusedToken(err)
	}
	return none, a.wrongToken(loginName(token), r.RemoteAddr, err)
}

// isAdminToken reports whether a text is the admin token of this node.
func (a *authenticator) isAdminToken(text string) bool {
	hash := sha256.Sum256([]byte(text))
	return subtle.ConstantTimeCompare(hash[:], a.hash[:]) == 1
}

// wrongToken counts a wrong token, and returns its refusal.
func (a *authenticator) wrongToken(user, address string, err error) *refusal {
	if failed := a.logins.Failed(user, address); failed.Wait > 0 {
		return &refusal{wait: failed.Wait, problem: &api.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
			Detail: "too many requests with a wrong token from this address", Hint: "wait one minute, then send the right token",
		}}
	}
	return refusedToken(err)
}

// refusedToken is the refusal of a token with the reason of the directory.
func refusedToken(err error) *refusal {
	refused := unauthorized("the token is wrong")
	var e *rota.Error
	if errors.As(err, &e) {
		refused.problem.Detail = e.Reason
		if e.Hint != "" {
			refused.problem.Hint = e.Hint
		}
	}
	return refused
}

// loginName is the name under which a wrong token is counted: that of the token on the SQL port, or admin.
func loginName(token string) string {
	id, found := strings.CutPrefix(token, rota.TokenPrefix)
	if !found {
		return rota.AdminUser
	}
	id, _, _ = strings.Cut(id, "_")
	return rota.TokenPrefix + id
}

// certificateIdentity returns the user of the client certificate. A browser sends its certificate with the requests of
// every web page, so that those of foreign pages are refused.
func (a *authenticator) certificateIdentity(r *http.Request) (none access.Identity, _ *refusal) {
	name, verified := access.CommonName(r.TLS)
	if !verified {
		return none, unauthorized("the request has no token, and its connection has no client certificate with a common name")
	}
	identity, err := a.directory.ByCertificate(r.Context(), name)
	switch {
	case rota.CodeOf(err) == rota.Denied:
		return none, unauthorized("the request has no token, and no user has the client certificate of its connection")
	case err != nil:
		return none, &refusal{problem: problemOf(err)}
	}
	if err := a.crossOrigin.Check(r); err != nil {
		return none, &refusal{problem: &api.Problem{
			Title: "Forbidden", Status: http.StatusForbidden, Code: string(rota.Denied),
			Detail: "a web page of another origin sent the request with the client certificate of the browser", Hint: "send a token, or send the request from this server's own pages",
		}}
	}
	return identity, nil
}

func bearer(r *http.Request) (token string, found bool) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}

func unauthorized(detail string) *refusal {
	return &refusal{problem: &api.Problem{
		Title: "Not authorized", Status: http.StatusUnauthorized, Code: string(rota.Denied), Detail: detail,
		Hint: "send the header Authorization: Bearer TOKEN; the admin token is in the file admin.token of the data directory",
	}}
}

type identityKey struct{}

func withIdentity(r *http.Request, identity access.Identity) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), identityKey{}, identity))
}

func identityOf(r *http.Request) access.Identity {
	identity, _ := r.Context().Value(identityKey{}).(access.Identity)
	return identity
}
