package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// pingAfter is how long a connection may lie idle before it is asked whether it
// still leads somewhere: a firewall may have forgotten it without a word. Before
// that it is enough that the server has not ended it, and that costs no round trip.
const pingAfter = 30 * time.Second

func shouldPing(_ context.Context, p pgxpool.ShouldPingParams) bool {
	return p.IdleDuration > pingAfter || !silent(p.Conn.PgConn().Conn())
}
