package storekit

import (
	"fmt"
	"time"

	"github.com/rotajobs/rota"
)

// OptionalText is the argument of a query that is NULL if it is empty.
type OptionalText string

// OptionalID is the argument of a query that is NULL if it is zero.
type OptionalID rota.ID

// Null is an argument that is NULL.
type Null struct{ Kind Kind }

// Pass passes the argument of a statement on. A time is NULL if it is zero.
func Pass(p Param, arg any) {
	switch v := arg.(type) {
	case Null:
		p.Null()
	case string:
		p.Text(v)
	case int:
		p.Int(int64(v))
	case int64:
		p.Int(v)
	case float64:
		p.Float(v)
	case bool:
		p.Bool(v)
	case rota.ID:
		p.ID(v)
	case []byte:
		if v == nil {
			p.Null()
			return
		}
		p.Bytes(v)
	case OptionalText:
		if v == "" {
			p.Null()
			return
		}
		p.Text(string(v))
	case OptionalID:
		if v == (OptionalID{}) {
			p.Null()
			return
		}
		p.ID(rota.ID(v))
	case time.Time:
		if v.IsZero() {
			p.Null()
			return
		}
		p.Int(v.UnixMicro())
	default:
		panic(fmt.Sprintf("storekit: an argument of a query is a %T", arg))
	}
}

// KindOf returns the kind of the parameter of an argument.
func KindOf(arg any) Kind {
	switch v := arg.(type) {
	case Null:
		return v.Kind
	case float64:
		return Float
	case string, OptionalText:
		return Text
	case bool:
		return Bool
	case rota.ID, OptionalID:
		return ID
	case []byte:
		return Bytes
	}
	return Int
}

// args returns the values of a row as arguments.
func args[T any](columns []*Column[T], row *T) []any {
	all := make([]any, len(columns))
	for i, c := range columns {
		taken := taker{Null{c.Kind}}
		c.Write(&taken, row)
		all[i] = taken.arg
	}
	return all
}

// taker is a Param that keeps the value as an argument.
type taker struct{ arg any }

func (t *taker) Null()            {}
func (t *taker) Text(text string) { t.arg = text }
func (t *taker) Int(n int64)      { t.arg = n }
func (t *taker) Small(n int)      { t.arg = n }
func (t *taker) Float(f float64)  { t.arg = f }
func (t *taker) Bool(is bool)     { t.arg = is }
func (t *taker) ID(id rota.ID)    { t.arg = id }
func (t *taker) Bytes(b []byte)   { t.arg = b }
