package sys

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/rotajobs/rota/console/dialect"
	"github.com/rotajobs/rota/console/kind"
)

// held is an argument as a value of a kind is held. Whoever sends one may have sent a
// text, a number of JSON, or the thing itself.
func held(k Kind, arg any) (any, error) {
	switch v := arg.(type) {
	case nil:
		return nil, nil
	case bool:
		if k == Boolean {
			return map[bool]int64{true: 1}[v], nil
		}
		return dialect.Held(k, strconv.FormatBool(v))
	case int:
		return held(k, int64(v))
	case int64:
		if k.Number() && k != Boolean {
			return v, nil
		}
		return dialect.Held(k, strconv.FormatInt(v, 10))
	case float64:
		if whole := int64(v); float64(whole) == v { // a number of JSON
			return held(k, whole)
		}
		if k == kind.Float || k == kind.Float4 || k == kind.Numeric {
			return v, nil
		}
		return dialect.Held(k, strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		return dialect.Held(k, v)
	case []byte:
		if k == kind.Bytea {
			return v, nil
		}
		return dialect.Held(k, string(v))
	case time.Time:
		if k == kind.Local {
			return v.Format("2006-01-02T15:04:05.000000"), nil
		}
		return dialect.Held(k, v.UTC().Format(TimeLayout))
	case json.Number:
		return dialect.Held(k, v.String())
	}
	return nil, &Error{State: StateType, Offset: -1, Message: fmt.Sprintf("it is a %T, which no column holds", arg)}
}

// badArgument says which argument is wrong.
func badArgument(i int, err error) error {
	var of *Error
	if !errors.As(refusal(err), &of) {
		return err
	}
	named := *of
	named.Message, named.Offset = fmt.Sprintf("argument %d: %s", i+1, of.Message), -1
	return &named
}
