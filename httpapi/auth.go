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
)

// admin is who shows the admin's token.
const admin = "admin"

// authenticator lets in who shows the token.
type authenticator struct {
	hash   [sha256.Size]byte // of the token, so that comparing takes the same time whatever is shown
	logins loginLimiter
}

func newAuthenticator(token string, clock func() time.Time) *authenticator {
	return &authenticator{hash: sha256.Sum256([]byte(token)), logins: loginLimiter{clock: clock, byHost: map[string]*loginFailures{}}}
}

// actor says on whose behalf a request is made, or why it is refused. The right
// token is let in however many wrong ones came from its address: who shares an
// address with somebody hostile must not be locked out.
func (g *authenticator) actor(r *http.Request) (string, *Problem) {
	token, found := bearer(r)
	if !found {
		return "", unauthorized("this address needs a token")
	}
	hash := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(hash[:], g.hash[:]) == 1 {
		return admin, nil
	}
	if g.logins.tooMany(r.RemoteAddr) {
		return "", &Problem{
			Title: "Too many requests", Status: http.StatusTooManyRequests, Code: codeTooMany,
			Detail: "too many wrong tokens came from this address", Hint: "wait a minute",
		}
	}
	return "", unauthorized("the token is wrong")
}

func bearer(r *http.Request) (token string, found bool) {
	scheme, token, found := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), found && strings.EqualFold(scheme, "Bearer")
}

func unauthorized(detail string) *Problem {
	return &Problem{
		Title: "Not authorized", Status: http.StatusUnauthorized, Code: string(rota.Denied), Detail: detail,
		Hint: "send the header Authorization: Bearer TOKEN; the admin's token stands in the file admin.token of the data directory",
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

// loginLimiter counts wrong tokens by address.
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
	failedLoginsMax    = 10          // wrong tokens that an address is told about
	failedLoginsPeriod = time.Minute // in so long
	failedHostsMax     = 10_000      // that are remembered; a flood from more forgets all
)

// tooMany counts a wrong token.
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
