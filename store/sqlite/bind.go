package sqlite

import (
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// binder binds one parameter after the other. It implements storekit.Param. NULL needs no call:
// writer.stmt clears the parameters of a statement before each use.
type binder struct {
	stmt *sqlite.Stmt
	last int // number of the last parameter
}

func (b *binder) next() int {
	b.last++
	return b.last
}

func (b *binder) Null()            { b.next() }
func (b *binder) Text(text string) { b.stmt.BindText(b.next(), text) }
func (b *binder) Int(n int64)      { b.stmt.BindInt64(b.next(), n) }
func (b *binder) Small(n int)      { b.stmt.BindInt64(b.next(), int64(n)) }
func (b *binder) Float(f float64)  { b.stmt.BindFloat(b.next(), f) }
func (b *binder) Bool(is bool)     { b.stmt.BindBool(b.next(), is) }
func (b *binder) ID(id rota.ID)    { b.stmt.BindBytes(b.next(), id[:]) }
func (b *binder) Bytes(all []byte) { b.stmt.BindBytes(b.next(), all) }

// bind binds the arguments of a statement. Their number must be that of its parameters.
func bind(stmt *sqlite.Stmt, sql string, args []any) error {
	if want := stmt.BindParamCount(); len(args) != want {
		return fmt.Errorf("a statement has %d parameters and %d arguments: %s", want, len(args), sql)
	}
	b := binder{stmt: stmt}
	for _, arg := range args {
		storekit.Pass(&b, arg)
	}
	return nil
}
