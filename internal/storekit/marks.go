package storekit

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// Keys of rota_meta with the marks of a copy.
const (
	MetaMoved = "moved" // of the source, after the copy is complete: a Moved
	MetaCopy  = "copy"  // of the target, until the copy is complete: a CopyState
)

// Moved marks a store whose rows were moved to another one.
type Moved struct {
	To string    `json:"to"` // URL of the other store, without user and password
	At time.Time `json:"at"`
}

// CopyState marks a store that is the target of a copy that is not complete, and records how far the
// copy has come.
type CopyState struct {
	From    string    `json:"from"` // URL of the source, without user and password
	History bool      `json:"history"`
	Began   time.Time `json:"began"`
	Table   string    `json:"table,omitempty"` // the last table that rows were written to
	After   []byte    `json:"after,omitempty"` // key of the last row written
	Rows    int64     `json:"rows"`            // rows written in all tables
}

// EncodeMark returns the text of a mark.
func EncodeMark(mark any) string {
	text, _ := json.Marshal(mark) // texts, numbers and times always marshal
	return string(text)
}

// DecodeMark reads the text of a mark. An empty text is no mark.
func DecodeMark[T any](text string) (*T, error) {
	if text == "" {
		return nil, nil
	}
	mark := new(T)
	if err := json.Unmarshal([]byte(text), mark); err != nil {
		return nil, &rota.Error{Code: rota.Internal, Act: "open", Reason: "a mark of rota copy in the table meta cannot be decoded", Err: err, Hint: "restore a backup"}
	}
	return mark, nil
}

// CheckMarks returns an error if a store must not be opened for writing: it was moved to another
// store, or a copy into it is not complete.
func CheckMarks(act, moved, copying string, allowMoved bool) error {
	state, err := DecodeMark[CopyState](copying)
	if err != nil {
		return err
	}
	if state != nil {
		return &rota.Error{
			Code: rota.Conflict, Act: act, Reason: fmt.Sprintf("the copy of %s into this store, begun at %s, is not complete", state.From, stamp(state.Began)),
			Hint: "run the same command again, which completes it",
		}
	}
	mark, err := DecodeMark[Moved](moved)
	if err != nil || mark == nil || allowMoved {
		return err
	}
	return &rota.Error{
		Code: rota.Conflict, Act: act, Reason: fmt.Sprintf("this store was moved to %s at %s", mark.To, stamp(mark.At)),
		Hint: "start the server with that store; to use this one again nevertheless, rota serve --allow-moved, which removes the mark",
	}
}

func stamp(at time.Time) string { return at.UTC().Format(time.RFC3339) }
