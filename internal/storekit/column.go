package storekit

import (
	"encoding/json"
	"time"

	"github.com/rotajobs/rota"
)

// Column is one column of a table of T: its name, and how a field of T is read from it and written
// to it. Reading and writing are on the path of every job, so each costs two calls of a function.
type Column[T any] struct {
	Name  string
	Kind  Kind
	read  func(r Row, col int, t *T)         // called unless the value is NULL; nil: the column repeats another field and is only written
	write func(p Param, t *T, optional bool) // optional: a zero value is NULL

	valid func(t *T) bool // unless it holds the value is NULL; nil: always
	usual func(t *T) bool // whether the value is the default of the column; nil: never

	decode func(t *T) any // where a document is decoded to; nil: not a document

	required bool // a zero value is written as it is
	key      bool // part of the key
	fixed    bool // no update writes it
	later    bool // the insert does not write it
}

// Write passes the value of t to p.
func (c *Column[T]) Write(p Param, t *T) {
	if c.valid != nil && !c.valid(t) {
		p.Null()
		return
	}
	c.write(p, t, !c.required)
}

// HasValue reports whether an insert of t has to write the column: its value is not the default.
func (c *Column[T]) HasValue(t *T) bool { return c.usual == nil || !c.usual(t) }

// A zero value is NULL, unless a comment says otherwise.

func text[T any, S ~string](name string, at func(*T) *S) Column[T] {
	return Column[T]{
		Name: name, Kind: Text,
		read:  func(r Row, col int, t *T) { *at(t) = S(r.Text(col)) },
		usual: func(t *T) bool { return *at(t) == "" },
		write: func(p Param, t *T, optional bool) {
			if v := *at(t); optional && v == "" {
				p.Null()
			} else {
				p.Text(string(v))
			}
		},
	}
}

func id[T any, I rota.ID | rota.Token](name string, at func(*T) *I) Column[T] {
	return Column[T]{
		Name: name, Kind: ID,
		read:  func(r Row, col int, t *T) { *at(t) = I(r.ID(col)) },
		usual: func(t *T) bool { return *at(t) == I{} },
		write: func(p Param, t *T, optional bool) {
			if v := at(t); optional && *v == (I{}) {
				p.Null()
			} else {
				p.ID(rota.ID(*v))
			}
		},
	}
}

// moment is a time, stored in microseconds.
func moment[T any](name string, at func(*T) *time.Time) Column[T] {
	return Column[T]{
		Name: name, Kind: Int,
		read:  func(r Row, col int, t *T) { *at(t) = r.Time(col) },
		usual: func(t *T) bool { return at(t).IsZero() },
		write: func(p Param, t *T, optional bool) {
			if v := at(t); optional && v.IsZero() {
				p.Null()
			} else {
				p.Int(v.UnixMicro())
			}
		},
	}
}

func duration[T any](name string, at func(*T) *time.Duration) Column[T] {
	return Column[T]{
		Name: name, Kind: Int,
		read:  func(r Row, col int, t *T) { *at(t) = r.Duration(col) },
		usual: func(t *T) bool { return *at(t) == 0 },
		write: func(p Param, t *T, optional bool) {
			if v := *at(t); optional && v == 0 {
				p.Null()
			} else {
				p.Int(v.Microseconds())
			}
		},
	}
}

func float[T any](name string, at func(*T) *float64) Column[T] {
	return Column[T]{
		Name: name, Kind: Float,
		read:  func(r Row, col int, t *T) { *at(t) = r.Float(col) },
		usual: func(t *T) bool { return *at(t) == 0 },
		write: func(p Param, t *T, optional bool) {
			if v := *at(t); optional && v == 0 {
				p.Null()
			} else {
				p.Float(v)
			}
		},
	}
}

func raw[T any](name string, at func(*T) *json.RawMessage) Column[T] {
	return Column[T]{
		Name: name, Kind: Text,
		read:  func(r Row, col int, t *T) { *at(t) = r.JSON(col) },
		usual: func(t *T) bool { return len(*at(t)) == 0 },
		write: func(p Param, t *T, optional bool) {
			if v := *at(t); optional && len(v) == 0 {
				p.Null()
			} else {
				p.Text(string(v))
			}
		},
	}
}

func lines[T any](name string, at func(*T) *[]string) Column[T] {
	return Column[T]{
		Name: name, Kind: Text,
		read:  func(r Row, col int, t *T) { *at(t) = splitLines(r.Text(col)) },
		write: func(p Param, t *T, _ bool) { p.Text(joinLines(*at(t))) },
	}.onlyIf(func(t *T) bool { return len(*at(t)) > 0 })
}

// micros is a time in microseconds.
func micros[T any](name string, at func(*T) *int64) Column[T] {
	return number(name, at).onlyIf(func(t *T) bool { return *at(t) != 0 })
}

// number is never NULL.
func number[T any](name string, at func(*T) *int64) Column[T] {
	return Column[T]{
		Name: name, Kind: Int,
		read:  func(r Row, col int, t *T) { *at(t) = r.Int(col) },
		write: func(p Param, t *T, _ bool) { p.Int(*at(t)) },
	}
}

// small is an integer of 32 bits, never NULL.
func small[T any, N ~int | ~uint8](name string, at func(*T) *N) Column[T] {
	return Column[T]{
		Name: name, Kind: Small,
		read:  func(r Row, col int, t *T) { *at(t) = N(r.Int(col)) },
		write: func(p Param, t *T, _ bool) { p.Small(int(*at(t))) },
	}
}

// pointer is an integer that is NULL if the pointer is nil.
func pointer[T any, N int | int64](name string, at func(*T) **N) Column[T] {
	return Column[T]{
		Name: name, Kind: Int,
		read:  func(r Row, col int, t *T) { *at(t) = new(N(r.Int(col))) },
		write: func(p Param, t *T, _ bool) { p.Int(int64(**at(t))) },
	}.onlyIf(func(t *T) bool { return *at(t) != nil })
}

// boolean is never NULL.
func boolean[T any](name string, at func(*T) *bool) Column[T] {
	return Column[T]{
		Name: name, Kind: Bool,
		read:  func(r Row, col int, t *T) { *at(t) = r.Bool(col) },
		write: func(p Param, t *T, _ bool) { p.Bool(*at(t)) },
	}
}

// document is a JSON document. Table.Scan decodes it into what at returns.
func document[T any](name string, at func(*T) any) Column[T] {
	return Column[T]{
		Name: name, Kind: Text,
		read:   func(Row, int, *T) {}, // Table.Scan reads it, because it may fail
		write:  func(p Param, t *T, _ bool) { p.Text(string(rota.EncodeSpec(at(t)))) },
		decode: at,
	}
}

// derived is a text that repeats a part of a document, for an index.
func derived[T any](name string, value func(*T) string) Column[T] {
	return Column[T]{Name: name, Kind: Text, write: func(p Param, t *T, _ bool) { p.Text(value(t)) }}
}

// derivedNumber is a number that repeats a part of a document, for an index.
func derivedNumber[T any](name string, value func(*T) int) Column[T] {
	return Column[T]{Name: name, Kind: Small, write: func(p Param, t *T, _ bool) { p.Small(value(t)) }}
}

// notNull writes a zero value as it is.
func (c Column[T]) notNull() Column[T] {
	c.required, c.usual = true, nil
	return c
}

// onlyIf writes NULL unless a condition holds.
func (c Column[T]) onlyIf(holds func(*T) bool) Column[T] {
	c.valid, c.usual = holds, func(t *T) bool { return !holds(t) }
	return c
}

// defaultIf states when the value is the default of the column.
func (c Column[T]) defaultIf(is func(*T) bool) Column[T] {
	c.usual = is
	return c
}

func (c Column[T]) asKey() Column[T] {
	c.key = true
	return c.notNull()
}

// insertOnly excludes a column from updates.
func (c Column[T]) insertOnly() Column[T] {
	c.fixed = true
	return c
}

// updateOnly excludes a column from the insert.
func (c Column[T]) updateOnly() Column[T] {
	c.later = true
	return c
}
