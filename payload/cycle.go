package payload

import (
	"maps"
	"slices"
	"strconv"

	"github.com/rotajobs/rota"
)

// samePlace are the keywords whose schemas hold the very value that the schema
// around them holds, not a part of it.
var samePlace = []string{
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "$ref", "$dynamicRef", "$recursiveRef",
}

// ends refuses a schema that leads back to itself without going into the value:
// a check of it would never be done.
func (s *survey) ends(schema any) error {
	c := &cycle{survey: s, state: map[string]int{}}
	for _, at := range slices.Sorted(maps.Keys(s.schemas)) {
		if c.visit(at) {
			return &rota.Error{
				Code: rota.Invalid, Field: pathOf("schema", schema, tokensOf("#"+c.closedBy)), Reason: "leads back to itself without end: no value could be checked",
				Hint: "a schema may refer to itself from what stands under properties or items",
			}
		}
	}
	return nil
}

// cycle is a search for one.
type cycle struct {
	*survey
	state    map[string]int // by pointer
	closedBy string         // the pointer of what leads back
}

const (
	visiting = 1
	visited  = 2
)

func (c *cycle) visit(at string) (found bool) {
	if c.state[at] != 0 {
		return c.state[at] == visiting
	}
	c.state[at] = visiting
	object, _ := c.schemas[at].(map[string]any)
	for _, word := range samePlace {
		under := at + "/" + word
		for _, to := range c.next(object[word], keywords[word], under) {
			if c.state[to] == visiting {
				c.closedBy = under
			}
			if c.visit(to) {
				return true
			}
		}
	}
	c.state[at] = visited
	return false
}

// next are the pointers of the schemas that a keyword leads to.
func (c *cycle) next(v any, form form, at string) (pointers []string) {
	switch v := v.(type) {
	case string:
		if to, here := c.leadsTo(v); here {
			return []string{to}
		}
	case []any:
		for i := range v {
			pointers = append(pointers, at+"/"+strconv.Itoa(i))
		}
	case map[string]any:
		if form != formMap {
			return []string{at}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pointers = append(pointers, at+"/"+escaped(name))
		}
	}
	return pointers
}
