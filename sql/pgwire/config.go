package pgwire

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/session"
)

// Session is one session of the console, implemented by *session.Session. One goroutine at a
// time uses it.
type Session interface {
	Run(ctx context.Context, text string, args []any, each func(*session.Answer) error) error
	Prepare(ctx context.Context, text string, params []kind.Kind) (*session.Prepared, error)
	Execute(ctx context.Context, p *session.Prepared, args []any) (*session.Answer, error)
	BeginImplicit()
	Sync(ctx context.Context) error
	Fail()
	Status() session.Status
	Setting(name string) (value string, known bool)
	Set(name, value string) error
	Memory() *session.Memory
}

// Config configures a server. Session and Verifier are required; the other fields have
// defaults.
type Config struct {
	// Session creates the session of an authenticated user.
	Session func(id access.Identity) Session
	// Verifier returns the verifier of a user's password, and the identity that the password proves. The identity is zero for an
	// unknown user, who is asked for a password as well.
	Verifier func(ctx context.Context, user string) (access.Verifier, access.Identity, error)
	// CertificateUser returns the identity that a client certificate with this common name proves. TLS has verified the
	// certificate. If it is that of the user that the client names, no password is asked for. Nil: certificates log
	// nobody in.
	CertificateUser func(ctx context.Context, commonName string) (access.Identity, error)
	// Rights returns what an identity may do. An error of which access.Ended is true ends the connections of the identity. Nil:
	// rights never change.
	Rights func(ctx context.Context, id access.Identity) (access.Stamp, error)
	// LoggedIn and LoginFailed are called for each login, with the network of the client. Nil: no callback.
	LoggedIn    func(id access.Identity, network string)
	LoginFailed func(user, network string)

	TLS        *tls.Config // nil: TLS is not offered
	RequireTLS bool        // refuse connections without TLS

	Logins *access.LoginThrottle // slows down failed logins, also those of other interfaces; nil: a new one
	Rate   *access.RateLimiter   // limits the statements of each user; nil: no limit

	Logger  *slog.Logger
	Version string // of Rota, shown in server_version

	ConnectionsMax int // authenticated connections; 0: 500
	// ConnectionsPerUserMax is how many of them one user may have; 0: a fifth of ConnectionsMax. The built-in admin may have all.
	ConnectionsPerUserMax int
	// ConnectionsReserved is how many of them only the built-in admin may have; 0: one of fifty.
	ConnectionsReserved int
	PendingMax          int // connections not authenticated yet; 0: as ConnectionsMax
	// PendingPerAddressMax is how many of them may come from one address; IPv6 addresses of one /64 network count as
	// one. 0: half of PendingMax.
	PendingPerAddressMax int
	MessageMax           int // bytes of a message; 0: 16 MiB

	LoginTime         time.Duration // from connecting to the end of authentication, TLS included; 0: 10 s
	MessageTime       time.Duration // from the first byte of a message to its last; 0: 1 min
	WriteTime         time.Duration // for a client to read an answer; 0: 1 min
	IdleTime          time.Duration // between statements, outside of a transaction; 0: no limit
	IdleInTransaction time.Duration // between statements of a transaction; 0: 1 h, negative: no limit
	CheckEvery        time.Duration // between two checks whether the identity of an idle client is still valid; 0: 10 s
	Grace             time.Duration // for running statements at shutdown; 0: 5 s

	// GuessDelay is the delay before the refusal of the first wrong password of a user from a
	// network. It doubles with each further one, up to eight times the value. 0: 250 ms.
	GuessDelay time.Duration
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	if c.Logins == nil {
		c.Logins = access.NewLoginThrottle(nil)
	}
	c.ConnectionsMax = orDefault(c.ConnectionsMax, 500)
	c.ConnectionsPerUserMax = orDefault(c.ConnectionsPerUserMax, (c.ConnectionsMax+4)/5)
	c.ConnectionsReserved = orDefault(c.ConnectionsReserved, c.ConnectionsMax/50)
	c.PendingMax = orDefault(c.PendingMax, c.ConnectionsMax)
	c.PendingPerAddressMax = orDefault(c.PendingPerAddressMax, (c.PendingMax+1)/2)
	c.MessageMax = orDefault(c.MessageMax, 16<<20)
	c.LoginTime = orDefault(c.LoginTime, 10*time.Second)
	c.MessageTime = orDefault(c.MessageTime, time.Minute)
	c.WriteTime = orDefault(c.WriteTime, time.Minute)
	c.IdleInTransaction = orDefault(c.IdleInTransaction, time.Hour)
	c.CheckEvery = orDefault(c.CheckEvery, 10*time.Second)
	c.Grace = orDefault(c.Grace, 5*time.Second)
	c.GuessDelay = orDefault(c.GuessDelay, 250*time.Millisecond)
	return c
}

func orDefault[N int | time.Duration](given, fallback N) N {
	if given == 0 {
		return fallback
	}
	return given
}

// messageMin is the smallest allowed MessageMax: a login must fit.
const messageMin = 1 << 10

func (c *Config) validate() error {
	switch {
	case c.Session == nil:
		return rota.Invalidf("session", "is missing; set the function that creates a console session")
	case c.Verifier == nil:
		return rota.Invalidf("verifier", "is missing; set the function that returns the verifier of a user's password")
	case c.RequireTLS && c.TLS == nil:
		return rota.Invalidf("tls", "is required of clients, but no TLS configuration is set; set TLS or clear RequireTLS")
	case c.ConnectionsMax < 0 || c.ConnectionsPerUserMax < 0 || c.ConnectionsReserved < 0 || c.PendingMax < 0 || c.PendingPerAddressMax < 0:
		return rota.Invalidf("connections", "the maximum is negative; use a positive number, or 0 for the default")
	case c.MessageMax < messageMin || c.MessageMax > 1<<30:
		return rota.Invalidf("message", "the maximum of %d bytes is out of range; use %d to %d", c.MessageMax, messageMin, 1<<30)
	case c.LoginTime < 0 || c.MessageTime < 0 || c.WriteTime < 0 || c.IdleTime < 0 || c.CheckEvery < 0 || c.Grace < 0 || c.GuessDelay < 0:
		return rota.Invalidf("time", "a time limit is negative; use a positive duration, or 0 for the default")
	}
	return nil
}
