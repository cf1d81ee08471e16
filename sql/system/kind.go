package system

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/kind"
	"zombiezen.com/go/sqlite"
)

// Kind is what a column holds.
type Kind = kind.Kind

// The kinds of our own columns.
const (
	Text      = kind.Text
	UUID      = kind.UUID
	Integer   = kind.Integer
	Int4      = kind.Int4
	Float     = kind.Float
	Boolean   = kind.Boolean
	Timestamp = kind.Timestamp
	JSON      = kind.JSON
	Bytea     = kind.Bytea
)

// declared returns the SQLite type of a column of a kind. It sets the affinity of the column, so that a number written
// as text still equals it.
func declared(k Kind) string {
	switch {
	case k == kind.Float || k == kind.Float4:
		return "REAL"
	case k == kind.Numeric:
		return "NUMERIC"
	case k.Number():
		return "INTEGER"
	case k == kind.Bytea:
		return "BLOB"
	}
	return "TEXT"
}

// collation is how values of a kind are compared.
func collation(k Kind) string {
	switch k {
	case UUID: // upper case is equal
		return "NOCASE"
	case Timestamp:
		return timeCollation
	}
	return "BINARY"
}

// timeCollation compares times however they are written.
const timeCollation = "ROTA_TIME"

// TimeLayout is how a timestamp is written: of one length, so that texts sort as
// times do.
const TimeLayout = "2006-01-02T15:04:05.000000Z"

// null is SQL NULL, the zero Value.
var null sqlite.Value

func text(s string) sqlite.Value {
	if s == "" {
		return null
	}
	return sqlite.TextValue(s)
}

// notNullText returns a text; unlike text, it does not convert an empty text to NULL.
func notNullText(s string) sqlite.Value { return sqlite.TextValue(s) }

func uuid(id rota.ID) sqlite.Value {
	if id.IsZero() {
		return null
	}
	return sqlite.TextValue(id.String())
}

// definitionUUID returns the id of the definition with a name.
func definitionUUID(name string) sqlite.Value {
	if name == "" {
		return null
	}
	return uuid(rota.DefinitionID(name))
}

func integer(n int64) sqlite.Value { return sqlite.IntegerValue(n) }

func integerOf[N ~int | ~int64](n *N) sqlite.Value {
	if n == nil {
		return null
	}
	return integer(int64(*n))
}

func boolean(is bool) sqlite.Value {
	if is {
		return integer(1)
	}
	return integer(0)
}

// millis is a time as in document 002, in milliseconds.
func millis(t time.Time) sqlite.Value {
	if t.IsZero() {
		return null
	}
	return integer(t.UnixMilli())
}

// timestamp is a time as people read it.
func timestamp(t time.Time) sqlite.Value {
	if t.IsZero() {
		return null
	}
	return sqlite.TextValue(t.UTC().Format(TimeLayout))
}

func seconds(d time.Duration) sqlite.Value { return integer(int64(WholeSeconds(d) / time.Second)) }

// WholeSeconds rounds a duration up, as SQL shows it: 0 often means that there is no limit or no delay.
func WholeSeconds(d time.Duration) time.Duration {
	if part := d % time.Second; part > 0 {
		return d - part + time.Second
	}
	return d
}

func bytesOf(doc json.RawMessage) sqlite.Value {
	if len(doc) == 0 {
		return null
	}
	return sqlite.BlobValue(doc)
}

func document(doc json.RawMessage) sqlite.Value {
	if len(doc) == 0 {
		return null
	}
	return sqlite.TextValue(string(doc))
}

// encoded is a value as a document.
func encoded(v any) sqlite.Value { return document(rota.EncodeSpec(v)) }
