package catalog

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// Env is the session that calls a function.
type Env struct {
	User, Database string
	PID            int
	Version        string   // server_version; empty: that of the subject
	SearchPath     []string // pg_catalog is searched first unless it is listed

	// Setting returns a setting of the session. Unknown ones have the value of
	// pg_settings. It may be nil.
	Setting func(name string) (value string, known bool)
	// Set changes a setting; local means for the current transaction. If it is nil,
	// set_config cannot change settings.
	Set func(name, value string, local bool) error
	// Roles returns the users and roles that the session sees. If it is nil, there is only the owner.
	Roles func() (*Roles, error)
}

// Error is an error of a call.
type Error struct{ State, Message, Hint string }

func (e *Error) Error() string { return e.Message }

// SQLSTATE codes of errors.
const (
	stateUnsupported = "0A000"
	stateBadValue    = "22023"
	stateNoSchema    = "3F000"
	stateSyntax      = "42601"
	stateBadName     = "42602"
	stateNoColumn    = "42703"
	stateNoObject    = "42704"
	stateAmbiguous   = "42725"
	stateNoFunction  = "42883"
	stateNoTable     = "42P01"
)

func fail(state, format string, args ...any) error {
	return &Error{State: state, Message: fmt.Sprintf(format, args...)}
}

// Function is a function of the catalogue. Arguments and results are int64, float64, string and
// nil; booleans are 0 and 1. Name and number of arguments are unique.
type Function struct {
	translate.Signature
	Call func(env *Env, c *Catalog, args []any) (any, error)
}

// Functions returns all functions of the catalogue.
var Functions = sync.OnceValue(func() (all []Function) {
	for _, r := range readData("functions").rows {
		all = append(all, functionsOf(r)...)
	}
	for _, name := range []string{"user", "current_role"} { // words of the grammar
		all = append(all, fn(name, nil, kind.Name, userName))
	}
	all = append(all, fn("current_catalog", nil, kind.Name, databaseName))
	return append(all, nameFunctions()...)
})

// call is the implementation of a function. Most of them use only the catalogue.
type call = func(env *Env, c *Catalog, args []any) (any, error)

// functionsOf returns the functions of a row of data/functions.tsv. Their signatures are those of
// pg_proc. The answer is "go" for a function of calls, "translate" for one of sql/translate, or
// else the value that the function returns for all arguments.
func functionsOf(r dataRow) (all []Function) {
	name, answer := r.text("name"), r.text("answer")
	if answer == "translate" {
		return nil
	}
	for _, s := range allProcs().signatures(name) {
		do := calls[name]
		if answer != "go" {
			do = constant(s, answer)
		}
		if allProcs().byName[name][0].strict && !s.Set {
			do = strict(do)
		}
		all = append(all, Function{s, do})
	}
	return all
}

// constant implements a function that always returns the same value; \N is NULL.
func constant(s translate.Signature, answer string) call {
	var value any
	switch {
	case answer == `\N`:
	case s.Set:
		value = answer
	default:
		value = parseField(s.Returns, answer)
	}
	return func(*Env, *Catalog, []any) (any, error) { return value, nil }
}

// fn declares a strict function that is not in pg_proc.
func fn(name string, args []kind.Kind, returns kind.Kind, do call) Function {
	return Function{translate.Signature{Name: name, Args: args, Returns: returns}, strict(do)}
}

// strict makes a function return NULL if an argument is NULL.
func strict(do call) call {
	return func(env *Env, c *Catalog, args []any) (any, error) {
		for _, arg := range args {
			if arg == nil {
				return nil, nil
			}
		}
		return do(env, c, args)
	}
}

func kinds(kinds ...kind.Kind) []kind.Kind { return kinds }

// oid converts an argument to a number; a text can contain digits.
func oid(arg any) (int64, bool) {
	switch v := arg.(type) {
	case int64:
		return v, true
	case float64:
		return int64(v), true
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		return n, err == nil
	}
	return 0, false
}

// oidOr0 converts an argument to a number, or to 0, which is no valid OID.
func oidOr0(arg any) int64 {
	n, _ := oid(arg)
	return n
}

func textOf(arg any) string {
	switch v := arg.(type) {
	case string:
		return v
	case []byte:
		return string(v)
	case nil:
		return ""
	}
	return fmt.Sprint(arg)
}

// isTrue reads a boolean.
func isTrue(arg any) bool {
	switch v := arg.(type) {
	case bool:
		return v
	case int64:
		return v != 0
	case string:
		return v == "t" || v == "true" || v == "on" || v == "1" || v == "yes"
	}
	return false
}
