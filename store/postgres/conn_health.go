package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pingAfter is the idle time after which a connection is pinged before use, because a firewall may
// have dropped it silently. Before that it suffices that the server has not closed it, which costs
// no round trip.
const pingAfter = 30 * time.Second

// pingAfterUnpeeked is pingAfter where the operating system offers no way to peek. It is the
// default of the pool.
const pingAfterUnpeeked = time.Second

func shouldPing(_ context.Context, p pgxpool.ShouldPingParams) bool {
	after := pingAfter
	if !canPeek {
		after = pingAfterUnpeeked
	}
	return p.IdleDuration > after || !isQuiet(p.Conn.PgConn().Conn())
}

// lostAtBegin is the error of a connection that breaks before the first answer of a transaction.
// Apply retries on another connection: nothing was applied, or the repeated commands find what was
// applied.
type lostAtBegin struct{ error }

func (u *lostAtBegin) Unwrap() error { return u.error }

func isLostAtBegin(err error) bool {
	var u *lostAtBegin
	return errors.As(err, &u)
}
