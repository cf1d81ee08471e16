package pgwire

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/kind"
)

// Session is one conversation with the console, as *console.Session is. It is used
// by one goroutine at a time.
type Session interface {
	Run(ctx context.Context, text string, args []any, each func(*console.Answer) error) error
	Prepare(ctx context.Context, text string, params []kind.Kind) (*console.Prepared, error)
	Execute(ctx context.Context, p *console.Prepared, args []any) (*console.Answer, error)
	Gather()
	Sync(ctx context.Context) error
	Fail()
	Status() console.Status
	Setting(name string) (value string, known bool)
	Set(name, value string) error
}

// Config of a server. Session and Verifier are needed; the rest has defaults.
type Config struct {
	// Session begins a conversation of a user who has proved who they are.
	Session func(user string) Session
	// Verifier is what a user's password is proved against. Who is not known is
	// asked for a password all the same.
	Verifier func(user string) (v Verifier, known bool)

	TLS        *tls.Config // nil: it is not offered
	RequireTLS bool        // others than those who ask for TLS are refused

	Logger  *slog.Logger
	Version string // of the program

	ConnectionsMax int // who have proved who they are, at once; 0: 500
	PendingMax     int // who have not yet; 0: as many
	MessageMax     int // bytes of a message; 0: 16 MiB

	LoginTime         time.Duration // from the connection to the proof, TLS included; 0: 10 s
	MessageTime       time.Duration // from the first byte of a message to its last; 0: 1 min
	WriteTime         time.Duration // for a client to read what was answered; 0: 1 min
	IdleTime          time.Duration // between statements, outside of a transaction; 0: for ever
	IdleInTransaction time.Duration // between statements of a transaction; 0: 1 h, negative: for ever
	Grace             time.Duration // for running statements when the server is to end; 0: 5 s

	// GuessDelay is how long the refusal of the first wrong password from an address
	// takes. It doubles with each further one, up to eight times that. 0: 250 ms.
	GuessDelay time.Duration
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Version == "" {
		c.Version = "devel"
	}
	c.ConnectionsMax = orElse(c.ConnectionsMax, 500)
	c.PendingMax = orElse(c.PendingMax, c.ConnectionsMax)
	c.MessageMax = orElse(c.MessageMax, 16<<20)
	c.LoginTime = orElse(c.LoginTime, 10*time.Second)
	c.MessageTime = orElse(c.MessageTime, time.Minute)
	c.WriteTime = orElse(c.WriteTime, time.Minute)
	c.IdleInTransaction = orElse(c.IdleInTransaction, time.Hour)
	c.Grace = orElse(c.Grace, 5*time.Second)
	c.GuessDelay = orElse(c.GuessDelay, 250*time.Millisecond)
	return c
}

func orElse[N int | time.Duration](given, otherwise N) N {
	if given == 0 {
		return otherwise
	}
	return given
}

// messageLeast is what a message must be allowed to have, so that a login fits.
const messageLeast = 1 << 10

func (c *Config) validate() error {
	switch {
	case c.Session == nil:
		return rota.Invalidf("session", "is missing; the protocol speaks for a console")
	case c.Verifier == nil:
		return rota.Invalidf("verifier", "is missing; without it nobody could prove a password")
	case c.RequireTLS && c.TLS == nil:
		return rota.Invalidf("tls", "is required of clients and not offered to them")
	case c.ConnectionsMax < 0 || c.PendingMax < 0:
		return rota.Invalidf("connections", "their greatest number is negative")
	case c.MessageMax < messageLeast || c.MessageMax > 1<<30:
		return rota.Invalidf("message", "may have %d bytes; it is between %d and %d", c.MessageMax, messageLeast, 1<<30)
	case c.LoginTime < 0 || c.MessageTime < 0 || c.WriteTime < 0 || c.IdleTime < 0 || c.Grace < 0 || c.GuessDelay < 0:
		return rota.Invalidf("time", "one of the limits is negative")
	}
	return nil
}
