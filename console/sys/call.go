package sys

import (
	"fmt"
	"strings"
	"sync"

	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/pgcatalog"
	"zombiezen.com/go/sqlite"
)

// catalogSignatures are the functions of PostgreSQL's catalogue, by name.
var catalogSignatures = sync.OnceValue(func() map[string][]dialect.Signature {
	all := map[string][]dialect.Signature{}
	for _, f := range pgcatalog.Functions() {
		all[f.Name] = append(all[f.Name], f.Signature)
	}
	return all
})

// lend gives a connection the functions that the translation of a query calls, and
// those of PostgreSQL's catalogue.
func (d *memoryDB) lend() error {
	for _, f := range dialect.Functions {
		call := func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return d.result(f.Call(given(args)))
		}
		if err := d.conn.CreateFunction(f.Name, &sqlite.FunctionImpl{NArgs: f.Args, Scalar: call, Deterministic: true, AllowIndirect: true}); err != nil {
			return err
		}
	}
	weigh := &sqlite.FunctionImpl{NArgs: 1, Scalar: d.weigh, AllowIndirect: true}
	if err := d.conn.CreateFunction("rota_weigh", weigh); err != nil {
		return err
	}
	for _, f := range pgcatalog.Functions() {
		call := func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return d.result(f.Call(d.query.env(), catalog(), given(args)))
		}
		least := len(f.Args) - f.Optional
		for n := least; n <= len(f.Args); n++ {
			if err := d.conn.CreateFunction(calledAs(f.Signature), &sqlite.FunctionImpl{NArgs: n, Scalar: call, AllowIndirect: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// weigh counts what a query gathers into one value, which SQLite would do without
// end, and lets every row through until it is too much.
func (d *memoryDB) weigh(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	d.query.gathered += gatheredRow
	switch v := args[0]; v.Type() {
	case sqlite.TypeText:
		d.query.gathered += len(v.Text())
	case sqlite.TypeBlob:
		d.query.gathered += len(v.Blob())
	}
	if d.query.gathered > gatheredMost {
		return null, d.query.fail(&Error{
			State: StateTooMuch, Offset: -1, Message: fmt.Sprintf("the query collects more than %d MiB into arrays or documents", gatheredMost>>20), Hint: "aggregate fewer rows",
		})
	}
	return integer(1), nil
}

// What a query may gather, and what a row of it counts beside its text.
const (
	gatheredMost = 64 << 20
	gatheredRow  = 16
)

// calledAs is what SQLite knows a function by.
func calledAs(s dialect.Signature) string {
	if s.As != "" {
		return s.As
	}
	return s.Name
}

// lent are the names of all those functions.
var lent = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{}
	for _, f := range dialect.Functions {
		all[strings.ToLower(f.Name)] = true
	}
	for _, f := range pgcatalog.Functions() {
		all[strings.ToLower(calledAs(f.Signature))] = true
	}
	return all
})

// given are arguments as a function takes them.
func given(args []sqlite.Value) []any {
	list := make([]any, len(args))
	for i, a := range args {
		switch a.Type() {
		case sqlite.TypeInteger:
			list[i] = a.Int64()
		case sqlite.TypeFloat:
			list[i] = a.Float()
		case sqlite.TypeText:
			list[i] = strings.Clone(a.Text())
		case sqlite.TypeBlob:
			list[i] = append([]byte{}, a.Blob()...)
		}
	}
	return list
}

// result is what a function gives, to SQLite. An error ends the query: the package
// that we reach SQLite by would lose it.
func (d *memoryDB) result(v any, err error) (sqlite.Value, error) {
	if err != nil {
		return null, d.query.fail(refusal(err))
	}
	switch v := v.(type) {
	case int64:
		return sqlite.IntegerValue(v), nil
	case int:
		return sqlite.IntegerValue(int64(v)), nil
	case float64:
		return sqlite.FloatValue(v), nil
	case bool:
		return boolean(v), nil
	case string:
		if len(v) > valueMost {
			return null, d.query.fail(&Error{State: StateTooMuch, Offset: -1, Message: fmt.Sprintf("a value is longer than %d bytes", valueMost), Hint: "select shorter values"})
		}
		return sqlite.TextValue(v), nil
	case []byte:
		return sqlite.BlobValue(v), nil
	}
	return null, nil
}
