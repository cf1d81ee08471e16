package catalog

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// emptyCatalogue has only the functions of sql/translate.
type emptyCatalogue struct{}

func (emptyCatalogue) Table(string, string) (*translate.Table, bool) { return nil, false }
func (emptyCatalogue) Functions(string) []translate.Signature        { return nil }
func (emptyCatalogue) Tables() []string                              { return nil }
func (emptyCatalogue) Zones() (written, shown string)                { return "", "" }

// refusal returns the message of a query that is not supported.
func refusal(t *testing.T, text string) string {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		return "" // the name has a syntax of its own, such as trim
	}
	_, err = translate.Translate(q, emptyCatalogue{}, nil)
	if e, is := errors.AsType[*translate.Error](err); is && e.State == stateUnsupported {
		return e.Message
	}
	return ""
}

// queryArgument is a value of a type, as an argument of a call.
func queryArgument(oid int64) string {
	switch allTypes().byOID[oid].name {
	case "any", "anyelement", "anynonarray", "anycompatible":
		return "NULL::int4"
	case "anyarray", "anycompatiblearray":
		return "NULL::int4[]"
	case "record":
		return "r"
	}
	return "NULL::" + allTypes().format(oid, nil, nil)
}

// queryCall is a query that calls a function with NULL as each of its arguments.
func queryCall(p *proc) string {
	var args []string
	for _, arg := range p.args {
		args = append(args, queryArgument(arg))
	}
	if p.variadic {
		args = append(args, args[len(args)-1])
	}
	call, from := p.name+"("+strings.Join(args, ", ")+")", " FROM (SELECT 1 AS a) AS r"
	switch {
	case p.name == "count" && len(args) == 0:
		call = "count(*)"
	case p.name == "extract" && len(args) == 2:
		call = "extract(epoch FROM " + args[1] + ")"
	case p.name == "position" && len(args) == 2:
		call = "position(" + args[0] + " IN " + args[1] + ")"
	case slices.Contains(translate.FunctionNames("within"), p.name):
		call = p.name + "(" + args[0] + ") WITHIN GROUP (ORDER BY " + args[1] + ")"
	case p.set:
		return "SELECT * FROM " + call
	case slices.Contains(translate.FunctionNames("over"), p.name):
		call += " OVER (ORDER BY a)"
	}
	return "SELECT " + call + from
}

// tryCall returns why a query cannot call a function with the types that pg_proc lists.
func tryCall(p *proc) error {
	q, err := query.Parse(queryCall(p))
	if err != nil {
		return err
	}
	_, err = translate.Translate(q, emptyCatalogue{}, nil)
	return err
}

// TestListedFunctionsAreThoseOfQueries compares the functions that pg_proc lists with those of sql/translate, and calls
// each with the types that pg_proc lists.
func TestListedFunctionsAreThoseOfQueries(t *testing.T) {
	listed := map[string]bool{}
	for _, name := range queryFunctions() {
		listed[name] = true
		for _, p := range allProcs().byName[name] {
			if err := tryCall(p); err != nil {
				t.Errorf("pg_proc lists %s(%s), and a query cannot call it: %s: %v", name, p.arguments(), queryCall(p), err)
			}
		}
	}
	for _, class := range []string{"", "set", "aggregate", "within", "over"} {
		for _, name := range translate.FunctionNames(class) {
			switch {
			case !translate.KnownToPostgreSQL(name): // it has a syntax of its own, such as coalesce and current_date
			case !listed[name]:
				t.Errorf("functions.tsv does not list %s, which queries can call", name)
			case len(allProcs().byName[name]) == 0:
				t.Errorf("pg_proc does not list %s, which queries can call; go test ./sql/catalog -run TestDataEqualsPostgres -update", name)
			}
		}
	}
}

// The catalogue lists only functions and operators that queries can use. A call without arguments
// is refused as unknown, and not as unsupported, if the function exists.
func TestListedFunctionsExist(t *testing.T) {
	for _, r := range readData("functions").rows {
		name := r.text("name")
		if r.text("answer") != "translate" {
			continue
		}
		if message := refusal(t, "SELECT "+name+"()"); strings.Contains(message, name+" is not supported") {
			t.Error(message)
		}
	}
	for _, r := range readData("pg_operator").rows {
		operand := func(column string) string {
			k := allTypes().byOID[r.number(column)].kind()
			if k == kind.AnyArray {
				k = kind.Int4.Array()
			}
			return "NULL::" + string(k)
		}
		message := refusal(t, "SELECT "+operand("oprleft")+" "+r.text("oprname")+" "+operand("oprright"))
		if strings.HasPrefix(message, "operator ") {
			t.Error(message)
		}
	}
}
