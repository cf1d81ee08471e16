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

// gate lets in who shows the token.
type gate struct {
	sum   [sha256.Size]byte // of the token, so that comparing takes the same time whatever is shown
	wrong guesses
}

func newGate(token string, clock func() time.Time) *gate {
	return &gate{sum: sha256.Sum256([]byte(token)), wrong: guesses{clock: clock, by: map[string]*guess{}}}
}

// actor says on whose behalf a request is made, or why it is refused. The right
// token is let in however many wrong ones came from its address: who shares an
// address with somebody hostile must not be locked out.
func (g *gate) actor(r *http.Request) (string, *Problem) {
	token, found := bearer(r)
	if !found {
		return "", unauthorized("this address needs a token")
	}
	sum := sha256.Sum256([]byte(token))
	if subtle.ConstantTimeCompare(sum[:], g.sum[:]) == 1 {
		return admin, nil
	}
	if g.wrong.tooMany(r.RemoteAddr) {
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

// guesses counts wrong tokens by address.
type guesses struct {
	clock func() time.Time
	mu    sync.Mutex
	by    map[string]*guess
}

type guess struct {
	count int
	since time.Time
}

const (
	guessesMax   = 10          // wrong tokens that an address is told about
	guessesFor   = time.Minute // in so long
	addressesMax = 10_000      // that are remembered; a flood from more forgets all
)

// tooMany counts a wrong token.
func (g *guesses) tooMany(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = address
	}
	now := g.clock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.by) >= addressesMax {
		clear(g.by)
	}
	one := g.by[host]
	if age := now.Sub(timeOf(one)); one == nil || age < 0 || age > guessesFor {
		one = &guess{since: now}
		g.by[host] = one
	}
	one.count++
	return one.count > guessesMax
}

func timeOf(g *guess) time.Time {
	if g == nil {
		return time.Time{}
	}
	return g.since
}
