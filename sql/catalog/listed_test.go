package catalog

import (
	"errors"
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
