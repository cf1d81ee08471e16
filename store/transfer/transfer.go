package transfer

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

// Source is a store that no other process changes until it is closed.
type Source interface {
	reader
	// Name returns the URL of the store without user and password.
	Name() string
	// Moved returns the mark of a store that was moved before; nil if it was not.
	Moved() *storekit.Moved
	// SelectIDs executes a query that returns ids.
	SelectIDs(ctx context.Context, sql string) ([]rota.ID, error)
	// MarkMoved marks the store as moved, so that it cannot be opened for writing.
	MarkMoved(ctx context.Context, mark storekit.Moved) error
}

// Target is a store that no other process uses until it is closed.
type Target interface {
	reader
	// Name returns the URL of the store without user and password.
	Name() string
	// State returns the state of a copy that is not complete; nil if there is none.
	State() *storekit.CopyState
	// Begin marks the store as the target of a copy and switches its triggers off, because they
	// refuse rows that do not begin as new ones. discard deletes the rows of an earlier copy.
	Begin(ctx context.Context, state storekit.CopyState, discard bool) error
	// Write writes rows and the new state in one transaction.
	Write(ctx context.Context, t *storekit.RowTable, rows *storekit.Rows, state storekit.CopyState) error
	// Restore switches the triggers on.
	Restore(ctx context.Context) error
	// VerifyProgress checks every invariant.
	VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error]
	// Finish removes the mark.
	Finish(ctx context.Context) error
}

type reader interface {
	ReadRows(ctx context.Context, q *storekit.RowQuery) (*storekit.RowPage, error)
	CountRows(ctx context.Context, t *storekit.RowTable, waiting bool) (int64, error)
}

// Options are the options of a copy.
type Options struct {
	History  bool           // also copy what has ended
	Restart  bool           // discard what an unfinished copy has written to the target
	Keep     bool           // do not mark the source: it is a backup
	Progress func(Progress) // called after each page; may be nil

	// Also copies what belongs to the store besides its rows, if it is not nil. Copy calls it when the
	// rows are verified, before the target can be used, and again if the copy is resumed after that.
	Also func(ctx context.Context) error

	Now time.Time

	pageRows, pageBytes int // for tests; 0: the defaults
}

// Progress describes how far a copy has come.
type Progress struct {
	Step  Step
	Table string
	Rows  int64 // rows of all tables that are done
	Total int64 // rows of all tables
}

// Step is a part of a copy.
type Step string

// The steps of a copy, in their order.
const (
	Copying   Step = "copying"
	Comparing Step = "comparing"
	Verifying Step = "verifying"
)

// TableResult describes the rows of one table after the copy.
type TableResult struct {
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"sha256"` // of the rows in the order of their key
}

// Result describes a complete copy.
type Result struct {
	From    string        `json:"from"`
	To      string        `json:"to"`
	History bool          `json:"history"`
	Resumed bool          `json:"resumed"`
	Rows    int64         `json:"rows"`    // rows of all tables
	Written int64         `json:"written"` // rows that this run wrote; fewer than Rows if it resumed a copy
	Tables  []TableResult `json:"tables"`
	Moved   bool          `json:"moved"` // whether the source is marked as moved
}

// Copy copies the rows of a store into another one. See the comment of the package.
func Copy(ctx context.Context, from Source, to Target, o Options) (*Result, error) {
	state, err := begin(ctx, from, to, &o)
	if err != nil {
		return nil, err
	}
	c := &copier{
		from: from, to: to, o: o, state: *state,
		result: &Result{From: from.Name(), To: to.Name(), History: o.History, Resumed: state.Rows > 0},
	}
	for _, step := range []func(context.Context) error{c.plan, c.copyTables, c.compare, c.verify, c.finish} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return c.result, nil
}

// begin checks that the stores can be copied, and marks the target unless it resumes a copy.
func begin(ctx context.Context, from Source, to Target, o *Options) (*storekit.CopyState, error) {
	if from.Name() == to.Name() {
		return nil, rota.Invalidf("to", "names the same store as from, %s; name another one", to.Name())
	}
	state := to.State()
	if moved := from.Moved(); moved != nil && (state == nil || state.From != from.Name() || moved.To != to.Name()) {
		return nil, refuse("copy from "+moved.To, "%s was moved to %s at %s", from.Name(), moved.To, moved.At.UTC().Format(time.RFC3339))
	}
	discard := state != nil && o.Restart
	switch {
	case state == nil || discard:
		if !discard {
			if err := checkEmpty(ctx, to); err != nil {
				return nil, err
			}
		}
		state = &storekit.CopyState{From: from.Name(), History: o.History, Began: o.Now.UTC().Truncate(time.Second)}
	case state.From != from.Name():
		return nil, refuse("complete that copy first, or discard it with --restart", "%s holds an unfinished copy of %s", to.Name(), state.From)
	case state.History != o.History:
		word := "without --history"
		if state.History {
			word = "with --history"
		}
		return nil, refuse("run it again "+word+", or begin again with --restart", "the unfinished copy in %s was begun %s", to.Name(), word)
	}
	return state, to.Begin(ctx, *state, discard)
}

// checkEmpty refuses a target that has rows.
func checkEmpty(ctx context.Context, to Target) error {
	for _, t := range storekit.RowTables {
		if t.Preset {
			continue
		}
		n, err := to.CountRows(ctx, t, false)
		if err != nil {
			return err
		}
		if n > 0 {
			return refuse("name an empty store", "%s is not empty: %s has %d rows", to.Name(), TableName(t), n)
		}
	}
	return nil
}

// TableName returns the name of a table for people.
func TableName(t *storekit.RowTable) string { return t.Name[len("rota_"):] }

func refuse(hint, reason string, args ...any) *rota.Error {
	return &rota.Error{Code: rota.Conflict, Act: "copy", Reason: fmt.Sprintf(reason, args...), Hint: hint}
}
