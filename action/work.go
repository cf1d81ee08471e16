package action

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// work is what one run asks of a database: a script, or a call.
type work struct {
	execution rota.ID
	job       string // its name, for people who read the table of effects
	script    string
	call      *Call     // nil: the script
	role      string    // taken on inside of the login; empty: who logged in
	deadline  time.Time // zero: there is none
	cleanUp   bool      // effects of long ago are to be removed, too
}

// workResult is what came of a work.
type workResult struct {
	affected   int64
	statements int
	rows       *Rows     // of the last statement that returned rows; nil: none did
	earlier    time.Time // when an earlier attempt did it; zero: this one did
}

// database does works, each in a transaction of its own that holds its effect
// too. It is safe for concurrent use.
type database interface {
	do(ctx context.Context, w *work) (*workResult, error)
}
