package storekit

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// Row is one row of a result, valid until the next row is read. Its columns count from 0. A NULL
// reads as the zero value.
type Row interface {
	Len() int // number of columns
	Null(col int) bool
	Size(col int) int // length of a text or an id in bytes
	Text(col int) string
	Int(col int) int64
	Float(col int) float64
	Bool(col int) bool
	ID(col int) rota.ID
	Time(col int) time.Time
	Duration(col int) time.Duration
	JSON(col int) json.RawMessage // a copy
	Bytes(col int) []byte         // a copy
}

// Param receives the value of one parameter of a statement.
type Param interface {
	Null()
	Text(string)
	Int(int64)
	Small(int) // an integer of 32 bits
	Float(float64)
	Bool(bool)
	ID(rota.ID)
	Bytes([]byte)
}

// Kind is the type of the values of a column.
type Kind int

// The kinds of columns. Times and durations are Int, in microseconds; documents are Text.
const (
	Text Kind = iota
	Int
	Small // an integer of 32 bits
	Float
	Bool
	ID
	Bytes
)

// splitLines reads artifacts, which are stored as one JSON string on each line.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i, line := range lines {
		var plain string
		if json.Unmarshal([]byte(line), &plain) == nil {
			lines[i] = plain
		}
	}
	return lines
}

func joinLines(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		quoted, _ := json.Marshal(line) // a string always marshals
		b.Write(quoted)
		b.WriteByte('\n')
	}
	return b.String()
}

// shifted is a row without its first columns.
type shifted struct {
	Row
	by int
}

// From returns a row without its first columns.
func From(r Row, col int) Row { return shifted{r, col} }

func (s shifted) Len() int                       { return s.Row.Len() - s.by }
func (s shifted) Null(col int) bool              { return s.Row.Null(col + s.by) }
func (s shifted) Size(col int) int               { return s.Row.Size(col + s.by) }
func (s shifted) Text(col int) string            { return s.Row.Text(col + s.by) }
func (s shifted) Int(col int) int64              { return s.Row.Int(col + s.by) }
func (s shifted) Float(col int) float64          { return s.Row.Float(col + s.by) }
func (s shifted) Bool(col int) bool              { return s.Row.Bool(col + s.by) }
func (s shifted) ID(col int) rota.ID             { return s.Row.ID(col + s.by) }
func (s shifted) Time(col int) time.Time         { return s.Row.Time(col + s.by) }
func (s shifted) Duration(col int) time.Duration { return s.Row.Duration(col + s.by) }
func (s shifted) JSON(col int) json.RawMessage   { return s.Row.JSON(col + s.by) }
func (s shifted) Bytes(col int) []byte           { return s.Row.Bytes(col + s.by) }
