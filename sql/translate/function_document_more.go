package translate

import (
	"strconv"
	"strings"
)

// containment compares documents. Each element of an array can be compared with all elements of
// another one, so the budget limits the number of comparisons.
type containment struct{ budget int }

// containmentMax is the maximum number of comparisons.
const containmentMax = 20_000_000

// containsJSON is @>: x contains all of y.
func containsJSON(x, y any) (any, error) {
	c := &containment{containmentMax}
	is := c.contains(x, y, true)
	if c.budget <= 0 {
		return nil, valueError(StateLimit, "the documents are too large for a containment test").withHint("test a part of the document: x -> 'name'")
	}
	return boolean(is)
}

func (c *containment) contains(x, y any, top bool) bool {
	if c.budget--; c.budget <= 0 {
		return false
	}
	switch y := y.(type) {
	case *object:
		o, is := x.(*object)
		if !is {
			return false
		}
		for _, key := range y.keys {
			v, there := o.values[key]
			if !there || !c.contains(v, y.values[key], false) {
				return false
			}
		}
		return true
	case []any:
		list, is := x.([]any)
		if !is {
			return false
		}
		for _, e := range y {
			if !c.anyContains(list, e) {
				return false
			}
		}
		return true
	}
	if list, is := x.([]any); is && top {
		return c.anyContains(list, y)
	}
	return equalJSON(x, y)
}

func (c *containment) anyContains(list []any, e any) bool {
	for _, have := range list {
		if c.contains(have, e, false) {
			return true
		}
	}
	return false
}

// equalJSON compares JSON scalars.
func equalJSON(x, y any) bool {
	if typeOfJSON(x) != typeOfJSON(y) {
		return false
	}
	if typeOfJSON(x) == "number" {
		return elementKey(x) == elementKey(y)
	}
	switch x.(type) {
	case []any, *object:
		return false
	}
	return x == y
}

// jsonHas is ?, ?| and ?&: a key, any of several keys, all of them.
func jsonHas(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	if a.text(2) == "?" {
		return boolean(hasKey(v, a.text(1)))
	}
	keys, err := a.array(1)
	if err != nil {
		return nil, err
	}
	all := a.text(2) == "?&"
	if list, is := v.([]any); is { // its texts, to be found at once
		o := &object{values: map[string]any{}}
		for _, e := range list {
			if key, text := e.(string); text {
				o.values[key] = e
			}
		}
		v = o
	}
	for _, key := range keys {
		if hasKey(v, asText(key)) != all {
			return boolean(!all)
		}
	}
	return boolean(all)
}

func hasKey(v any, key string) bool {
	switch v := v.(type) {
	case *object:
		_, there := v.values[key]
		return there
	case []any:
		for _, e := range v {
			if e == key {
				return true
			}
		}
	case string:
		return v == key
	}
	return false
}

// jsonConcat is ||: merges two objects or concatenates two arrays.
func jsonConcat(a arguments) (any, error) {
	x, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	y, err := decode(a.text(1))
	if err != nil {
		return nil, err
	}
	p, isP := x.(*object)
	q, isQ := y.(*object)
	if isP && isQ {
		for _, key := range q.keys {
			p.put(key, q.values[key])
		}
		sortKeys(p)
		return checkLength(encode(p))
	}
	return checkLength(encode(append(append([]any{}, asList(x)...), asList(y)...)))
}

func asList(v any) []any {
	if list, is := v.([]any); is {
		return list
	}
	return []any{v}
}

// jsonDelete is -: removes a key or an element.
func jsonDelete(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case *object:
		out := &object{values: map[string]any{}}
		for _, key := range v.keys {
			if key != a.text(1) {
				out.put(key, v.values[key])
			}
		}
		return encode(out), nil
	case []any:
		at, number := a[1].(int64)
		if at < 0 {
			at += int64(len(v))
		}
		out := []any{}
		for i, e := range v {
			if number && int64(i) == at || !number && e == a[1] {
				continue
			}
			out = append(out, e)
		}
		return encode(out), nil
	}
	return nil, valueError(StateValue, "cannot delete from scalar")
}

// jsonDeleteKeys is - with an array: removes several keys, or texts from an array.
func jsonDeleteKeys(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	keys, err := a.array(1)
	if err != nil {
		return nil, err
	}
	without := elementSet(keys)
	switch v := v.(type) {
	case *object:
		out := &object{values: map[string]any{}}
		for _, key := range v.keys {
			if !without[key] {
				out.put(key, v.values[key])
			}
		}
		return encode(out), nil
	case []any:
		out := []any{}
		for _, e := range v {
			if text, is := e.(string); !is || !without[text] {
				out = append(out, e)
			}
		}
		return encode(out), nil
	}
	return nil, valueError(StateValue, "cannot delete from scalar")
}

// stripNulls removes the fields of objects that are null.
func stripNulls(v any) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = stripNulls(v[i])
		}
	case *object:
		out := &object{values: map[string]any{}}
		for _, key := range v.keys {
			if v.values[key] != nil {
				out.put(key, stripNulls(v.values[key]))
			}
		}
		return out
	}
	return v
}

// pretty formats a document on several lines.
func pretty(b *strings.Builder, v any, line string) {
	inner := line + "    "
	switch v := v.(type) {
	case []any:
		b.WriteByte('[')
		for i, e := range v {
			if b.Len() > valueMax { // it is refused anyway
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			pretty(b, e, inner)
		}
		b.WriteString(line + "]")
	case *object:
		b.WriteByte('{')
		for i, key := range v.keys {
			if b.Len() > valueMax {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(inner)
			writeJSONString(b, key)
			b.WriteString(": ")
			pretty(b, v.values[key], inner)
		}
		b.WriteString(line + "}")
	default:
		writeJSON(b, v, " ")
	}
}

// jsonSet sets the value at a path.
func jsonSet(a arguments) (any, error) {
	v, err := decode(a.text(0))
	if err != nil {
		return nil, err
	}
	path, err := a.array(1)
	if err != nil {
		return nil, err
	}
	with, err := decode(a.text(2))
	if err != nil {
		return nil, err
	}
	v = setAt(v, path, with, a.int(3) != 0)
	sortKeys(v)
	return checkLength(encode(v))
}

func setAt(v any, path []any, with any, create bool) any {
	if len(path) == 0 {
		return with
	}
	key := asText(path[0])
	switch v := v.(type) {
	case *object:
		have, there := v.values[key]
		if there || create && len(path) == 1 {
			v.put(key, setAt(have, path[1:], with, create))
		}
	case []any:
		at, err := strconv.Atoi(key)
		if err != nil {
			return v
		}
		if at < 0 {
			at += len(v)
		}
		switch {
		case at >= 0 && at < len(v):
			v[at] = setAt(v[at], path[1:], with, create)
		case create && len(path) == 1 && at < 0:
			return append([]any{with}, v...)
		case create && len(path) == 1:
			return append(v, with)
		}
	}
	return v
}
