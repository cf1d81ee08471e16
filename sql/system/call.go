package system

import (
	"sync"

	"github.com/rotajobs/rota/sql/catalog"
	"github.com/rotajobs/rota/sql/translate"
	"zombiezen.com/go/sqlite"
)

// catalogSignatures are the functions of PostgreSQL's catalogue, by name.
var catalogSignatures = sync.OnceValue(func() map[string][]translate.Signature {
	all := map[string][]translate.Signature{}
	for _, f := range catalog.Functions() {
		all[f.Name] = append(all[f.Name], f.Signature)
	}
	return all
})

// addTranslationFunctions registers the functions that translated queries call, and those of PostgreSQL's catalogue.
func (d *memoryDB) addTranslationFunctions() error {
	for _, f := range translate.Functions {
		call := func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			if d.query.err != nil { // SQLite may compute further constants of a query that has failed
				return null, d.query.err
			}
			return d.call(f.Call, args)
		}
		if err := d.conn.CreateFunction(f.Name, &sqlite.FunctionImpl{NArgs: f.Args, Scalar: call, Deterministic: true, AllowIndirect: true}); err != nil {
			return err
		}
	}
	weigh := &sqlite.FunctionImpl{NArgs: 1, Scalar: d.countCollected, AllowIndirect: true}
	if err := d.conn.CreateFunction("rota_weigh", weigh); err != nil {
		return err
	}
	for _, f := range catalog.Functions() {
		call := func(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
			return d.functionResult(f.Call(d.query.env(), builtCatalog(), goValues(args)))
		}
		least, most := len(f.Args)-f.Optional, len(f.Args)
		if f.Variadic {
			least, most = -1, -1 // any number
		}
		for n := least; n <= most; n++ {
			if err := d.conn.CreateFunction(calledAs(f.Signature), &sqlite.FunctionImpl{NArgs: n, Scalar: call, AllowIndirect: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// call calls a function of the translator. One call with long arguments runs at a time.
func (d *memoryDB) call(f func([]any) (any, error), args []sqlite.Value) (sqlite.Value, error) {
	list, bytes := make([]any, len(args)), 0
	for i, a := range args {
		list[i] = goValue(a)
		before := bytes
		if bytes += textBytes(list[i]); before <= largeBytes && bytes > largeBytes {
			d.large.mu.Lock()
			defer d.large.mu.Unlock()
		}
	}
	return d.functionResult(f(list))
}

// textBytes is the length of a text or byte string, and 0 for other values.
func textBytes(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []byte:
		return len(v)
	}
	return 0
}

// countCollected counts the bytes that a query aggregates into arrays and documents, because SQLite has no limit of its
// own. It fails the query when there are too many.
func (d *memoryDB) countCollected(_ sqlite.Context, args []sqlite.Value) (sqlite.Value, error) {
	bytes := collectedPerRow
	if args[0].Type() == sqlite.TypeInteger { // NULL has no length
		bytes += int(args[0].Int64())
	}
	return integer(1), d.query.charge(bytes)
}

// collectedPerRow is how many bytes count for each row in addition to its text.
const collectedPerRow = 16

// calledAs returns the name of a function in SQLite.
func calledAs(s translate.Signature) string {
	if s.As != "" {
		return s.As
	}
	return s.Name
}

// goValues converts arguments of SQLite to Go values.
func goValues(args []sqlite.Value) []any {
	list := make([]any, len(args))
	for i, a := range args {
		list[i] = goValue(a)
	}
	return list
}

func goValue(v sqlite.Value) any {
	switch v.Type() {
	case sqlite.TypeInteger:
		return v.Int64()
	case sqlite.TypeFloat:
		return v.Float()
	case sqlite.TypeText:
		return v.Text()
	case sqlite.TypeBlob:
		return append([]byte{}, v.Blob()...)
	}
	return nil
}

// functionResult converts the result of a function for SQLite. It keeps an error in the query, because the SQLite
// package returns only its text.
func (d *memoryDB) functionResult(v any, err error) (sqlite.Value, error) {
	if err != nil {
		return null, d.query.fail(asError(err))
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
		if len(v) > int(d.query.valueMax) {
			return null, d.query.fail(d.query.tooLong())
		}
		return sqlite.TextValue(v), nil
	case []byte:
		if len(v) > int(d.query.valueMax) {
			return null, d.query.fail(d.query.tooLong())
		}
		return sqlite.BlobValue(v), nil
	}
	return null, nil
}
