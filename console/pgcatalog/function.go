package pgcatalog

import (
	"fmt"
	"strconv"

	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
)

// Env is the session that calls a function.
type Env struct {
	User, Database string
	PID            int
	Version        string   // what server_version says; empty: as the subject has it
	SearchPath     []string // without pg_catalog, which is looked in first, unless it is named

	// Setting is a setting of the session. Those that it does not know are as
	// pg_settings has them. It may be nil.
	Setting func(name string) (value string, known bool)
	// Set changes a setting, of the transaction alone if local. If it is nil,
	// set_config refuses to change anything.
	Set func(name, value string, local bool) error
}

// Error is what is wrong with a call.
type Error struct{ State, Message, Hint string }

func (e *Error) Error() string { return e.Message }

// The states of errors, as PostgreSQL has them.
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

// Function is a function of the catalogue. A call takes and gives int64, float64,
// string and nil; booleans are 0 and 1. Of one name and number of arguments there is
// one.
type Function struct {
	dialect.Signature
	Call func(env *Env, c *Catalog, args []any) (any, error)
}

// Functions are all functions.
func Functions() (all []Function) {
	for _, some := range [][]Function{
		showFunctions, typeFunctions, commentFunctions, visibleFunctions, sessionFunctions, settingFunctions, privilegeFunctions(),
		sizeFunctions, countFunctions(), nameFunctions(), refusedFunctions(), standardFunctions,
	} {
		all = append(all, some...)
	}
	return all
}

// call is what a function does. Calls of most of them look at nothing but the
// catalogue.
type call = func(env *Env, c *Catalog, args []any) (any, error)

// fn is a function of some kinds, which are strict: given a NULL it gives NULL.
func fn(name string, args []kind.Kind, returns kind.Kind, do call) Function {
	return Function{dialect.Signature{Name: name, Args: args, Returns: returns}, strict(do)}
}

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

// optional has the last arguments of a function left out, if one likes.
func (f Function) optional(n int) Function {
	f.Optional = n
	return f
}

// always has a function give the same.
func always(value any) call {
	return func(*Env, *Catalog, []any) (any, error) { return value, nil }
}

func of(kinds ...kind.Kind) []kind.Kind { return kinds }

// oid is an argument as a number: one that came as text may be written in digits.
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

// oidOr0 is for functions to which a number that nobody has stands for nothing.
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
