package translate

import (
	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
)

// arrayToJSON translates array_to_json.
func arrayToJSON(t *translator, e *query.Call, args []value) (value, error) {
	if len(args) == 0 {
		return value{}, noFunction("array_to_json", nil, args, e.Place(), t)
	}
	v, err := t.implicitIfUnknown(args[0], kind.Text.Array())
	if err != nil {
		return v, err
	}
	if costOf(v.kind, "array") < 0 {
		return value{}, noFunction("array_to_json", nil, args, e.Place(), t)
	}
	args[0] = v
	return toJSON(kind.PlainJSON)(t, e, args)
}

// timesAsText translates a function of any values that needs times in PostgreSQL's output
// format instead of the stored form.
func timesAsText(t *translator, e *query.Call, args []value) (value, error) {
	for i, a := range args {
		k := kind.Text
		if a.kind == kind.Boolean.Array() {
			args[i] = call(k.Array(), "rota_array_truths", a)
			continue
		}
		if isTime(a.kind.Elem()) {
			k = kind.Text.Array()
		} else if !isTime(a.kind) {
			continue
		}
		v, err := t.convert(a, k)
		if err != nil {
			return v, err
		}
		args[i] = v
	}
	name := e.Path[len(e.Path)-1].Text
	f, args, k, err := t.pick(name, scalars[name], args, e.Place())
	if err != nil {
		return value{}, err
	}
	return f.text(args, k, t.shownZone), nil
}
