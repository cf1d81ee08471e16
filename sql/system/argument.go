package system

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/translate"
)

// argumentValue converts an argument to the stored form of its kind. The name of a catalogue object becomes its OID.
func (d *memoryDB) argumentValue(k Kind, arg any) (any, error) {
	if name, is := arg.(string); is {
		if number, is, err := builtCatalog().ParseOID(d.query.env, k, name); is {
			return number, err
		}
	}
	return storedForm(k, arg, d.query.session.zone())
}

// storedForm is an argument in the stored form of its kind. A client may send a text, a JSON number, or the value itself;
// all but the simplest are read like the text that PostgreSQL would be sent. A time without a zone is in the zone of the
// session.
func storedForm(k Kind, arg any, zone string) (any, error) {
	switch v := arg.(type) {
	case nil:
		return nil, nil
	case string:
		if k.Elem() != kind.Unknown && strings.HasPrefix(v, "[") {
			return storedArray(k, v, zone)
		}
		return translate.ParseValueIn(zone, k, v)
	case []byte:
		if k == kind.Bytea {
			return v, nil
		}
		return translate.ParseValueIn(zone, k, string(v))
	case time.Time:
		if k == kind.Local {
			return v.Format("2006-01-02T15:04:05.000000"), nil
		}
		return translate.ParseValue(k, v.UTC().Format(TimeLayout))
	case float64:
		if whole := int64(v); float64(whole) == v { // a number of JSON
			return storedForm(k, whole, zone)
		}
		return translate.ParseValue(k, strconv.FormatFloat(v, 'g', -1, 64))
	case bool, int, int64, json.Number:
		return translate.ParseValue(k, fmt.Sprint(v))
	}
	return nil, &Error{State: StateType, Offset: -1, Message: fmt.Sprintf("an argument of type %T is not supported", arg), Hint: "pass a text, a number, a boolean, a time or bytes"}
}

// storedArray converts an array that was passed as JSON, the form in which query results contain arrays.
func storedArray(k Kind, text, zone string) (any, error) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return translate.ParseValueIn(zone, k, text)
	}
	all := make([]any, len(list))
	for i, raw := range list {
		if elem := k.Elem(); elem == JSON || elem == kind.PlainJSON {
			all[i] = raw
			continue
		}
		one := json.NewDecoder(bytes.NewReader(raw))
		one.UseNumber()
		var member any
		if err := one.Decode(&member); err != nil {
			return nil, err
		}
		var err error
		if all[i], err = storedForm(k.Elem(), member, zone); err != nil {
			return nil, err
		}
	}
	out, err := json.Marshal(all)
	return string(out), err
}

// badArgument says which argument is wrong.
func badArgument(i int, err error) error {
	var of *Error
	if !errors.As(asError(err), &of) {
		return err
	}
	named := *of
	named.Message, named.Offset = fmt.Sprintf("argument %d: %s", i+1, of.Message), -1
	return &named
}
