package sqlite

import (
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// row is the current row of a statement. It implements storekit.Row.
type row struct{ *sqlite.Stmt }

func (r row) Len() int              { return r.ColumnCount() }
func (r row) Null(col int) bool     { return r.ColumnIsNull(col) }
func (r row) Size(col int) int      { return r.ColumnLen(col) }
func (r row) Int(col int) int64     { return r.ColumnInt64(col) }
func (r row) Bool(col int) bool     { return r.ColumnInt64(col) != 0 }
func (r row) Float(col int) float64 { return r.ColumnFloat(col) }

func (r row) Text(col int) string { return r.ColumnText(col) }

func (r row) ID(col int) (id rota.ID) {
	r.ColumnBytes(col, id[:])
	return id
}

func (r row) Time(col int) time.Time {
	n := r.ColumnInt64(col)
	if n == 0 && r.ColumnIsNull(col) {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

func (r row) Duration(col int) time.Duration {
	return time.Duration(r.ColumnInt64(col)) * time.Microsecond
}

func (r row) JSON(col int) json.RawMessage {
	n := r.ColumnLen(col)
	if n == 0 {
		return nil
	}
	doc := make(json.RawMessage, n)
	r.ColumnBytes(col, doc)
	return doc
}

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

// bind binds the arguments of a query. It binds as many as the statement has parameters.
func bind(stmt *sqlite.Stmt, args []any) {
	b := binder{stmt: stmt}
	for _, arg := range args[:min(len(args), stmt.BindParamCount())] {
		storekit.Pass(&b, arg)
	}
}

// dialect rewrites statements of the kit, which have PostgreSQL's placeholders. A statement that
// changes rows uses OR ROLLBACK, so that SQLite needs no statement journal for a table with a
// trigger and a constraint. A limit is an expression, so that SQLite does not plan the statement
// again for each value. Long params of a job have a table of their own.
var dialect = strings.NewReplacer(
	"j.params", "coalesce(j.params, (SELECT long.params FROM rota_params long WHERE long.job_id = j.id))",
	"p.params", "coalesce(p.params, (SELECT long.params FROM rota_params long WHERE long.job_id = p.id))",
	"LIMIT $", "LIMIT +?", "$", "?", "INSERT INTO", "INSERT OR ROLLBACK INTO", "UPDATE rota_", "UPDATE OR ROLLBACK rota_")

var rewritten sync.Map // statements by their text before dialect

func rewrite(sql string) string {
	if text, known := rewritten.Load(sql); known {
		return text.(string)
	}
	text := dialect.Replace(sql)
	rewritten.Store(sql, text)
	return text
}
