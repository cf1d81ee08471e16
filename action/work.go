package action

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
)

// work is what one run executes in a database: a script or a call.
type work struct {
	execution rota.ID
	job       string // job name, shown in the table of effects
	script    string
	call      *Call     // nil: the script
	role      string    // role to set after the login; empty: the login's own
	deadline  time.Time // zero: no deadline
	cleanUp   bool      // also remove old effects
}

// workResult is the result of a work.
type workResult struct {
	affected   int64
	statements int
	rows       *Rows     // rows of the last statement that returned some; nil: none did
	earlier    time.Time // when an earlier attempt committed; zero: this attempt did
}

// database executes works, each in its own transaction together with its effect. It is safe for concurrent use.
type database interface {
	do(ctx context.Context, w *work) (*workResult, error)
}
