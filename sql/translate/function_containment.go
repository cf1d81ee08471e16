package translate

// containment compares documents. Each element of an array can be compared with all elements of
// another one, so the budget limits the number of comparisons.
type containment struct{ budget int }

// containmentMax is the maximum number of comparisons.
const containmentMax = 20_000_000

// containsJSON is @>: x contains all of y.
func containsJSON(x, y any) any {
	c := &containment{containmentMax}
	is := c.contains(x, y, true)
	if c.budget <= 0 {
		panic(valueError(StateLimit, "the documents are too large for a containment test").WithHint("test a part of the document: x -> 'name'"))
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

// hasKey is ?: an object has a key, an array has a text.
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
