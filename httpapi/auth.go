package httpapi

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// admin is the actor of requests with the admin token.
const admin = "admin"

// authenticator checks the bearer token of requests.
type authenticator struct {
	hash   [sha256.Size]byte // SHA-256 of the token, so that a comparison takes constant time
	logins loginLimiter
}

func newAuthenticator(token string, clock func() time.Time) *authenticator {
	return &authenticator{hash: sha256.Sum256([]byte(token)), logins: loginLimiter{clock: clock, byHost: map[string]*loginFailures{}}}
}

// actor returns the actor of a request, or the reason to refuse it. The right token is accepted
// regardless of wrong tokens from the same address: a hostile client must not lock out others behind
// the same address.
func (a *authenticator) actor(r *http.Request) (string, *api.Problem) {
	token, found := bearer(r)
	if !found {
		return "", unauthorized("the request has no token")
	}
	hash := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], a.hash[:]) == 1 {
		return admin, nil
	}
	if a.logins.tooMany(r.RemoteAddr) {
		return "", &api.Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
			Detail: "too many requests with a wrong token from this address", Hint: "wait one minute, then send the right token",
		}
	}
	return "", unauthorized("the token is wrong")
}

func bearer(r *http.Request) (token string, found bool) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}

func unauthorized(detail string) *api.Problem {
	return &api.Problem{
		Title: "Not authorized", Status: http.StatusUnauthorized, Code: string(rota.Denied), Detail: detail,
		Hint: "send the header Authorization: Bearer TOKEN; the admin token is in the file admin.token of the data directory",
	}
}

type actorKey struct{}

func withActor(r *http.Request, actor string) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), actorKey{}, actor))
}

func actorOf(r *http.Request) string {
	actor, _ := r.Context().Value(actorKey{}).(string)
	return actor
}

// loginLimiter limits wrong tokens per address.
type loginLimiter struct {
	clock  func() time.Time
	mu     sync.Mutex
	byHost map[string]*loginFailures
}

type loginFailures struct {
	count int
	since time.Time
}

const (
	failedLoginsMax    = 10          // wrong tokens per address and period
	failedLoginsPeriod = time.Minute // length of the period
	failedHostsMax     = 10_000      // addresses remembered; at this number all are forgotten
)

// tooMany records a wrong token and reports whether the address exceeded its limit.
func (g *loginLimiter) tooMany(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	now := g.clock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.byHost) >= failedHostsMax {
		clear(g.byHost)
	}
	failures := g.byHost[host]
	if age := now.Sub(failingSince(failures)); failures == nil || age < 0 || age > failedLoginsPeriod {
		failures = &loginFailures{since: now}
		g.byHost[host] = failures
	}
	failures.count++
	return failures.count > failedLoginsMax
}

func failingSince(g *loginFailures) time.Time {
	if g == nil {
		return time.Time{}
	}
	return g.since
}
