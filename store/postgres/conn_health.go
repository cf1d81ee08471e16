package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pingAfter is how long a connection may lie idle before it is asked whether it
// still leads somewhere: a firewall may have forgotten it without a word. Before
// that it is enough that the server has not ended it, and that costs no round trip.
const pingAfter = 30 * time.Second

// pingAfterUnpeeked is the same where this machine cannot be asked, as the pool has it.
const pingAfterUnpeeked = time.Second

func shouldPing(_ context.Context, p pgxpool.ShouldPingParams) bool {
	after := pingAfter
	if !canPeek {
		after = pingAfterUnpeeked
	}
	return p.IdleDuration > after || !isQuiet(p.Conn.PgConn().Conn())
}

// lostAtBegin is that a connection turned out to lead nowhere when a transaction was to
// begin: nothing was done over it, or it is found when it is sent again, and another
// may do.
type lostAtBegin struct{ error }

func (u *lostAtBegin) Unwrap() error { return u.error }

func isLostAtBegin(err error) bool {
	var u *lostAtBegin
	return errors.As(err, &u)
}
