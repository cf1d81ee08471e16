package payload

import (
	"maps"
	"slices"
	"strconv"

	"github.com/rotajobs/rota"
)

// sameValueKeywords are the keywords whose schemas apply to the same value as the
// enclosing schema, not to a part of it.
var sameValueKeywords = []string{
	"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies", "$ref", "$dynamicRef", "$recursiveRef",
}

// checkCycles refuses a schema that refers back to itself for the same value: its
// check would not terminate.
func (s *schemaIndex) checkCycles(schema any) error {
	c := &cycleSearch{schemaIndex: s, state: map[string]int{}}
	for _, at := range slices.Sorted(maps.Keys(s.schemas)) {
		if c.visit(at) {
			return &rota.Error{
				Code: rota.Invalid, Field: pathOf("schema", schema, tokensOf("#"+c.closedBy)), Reason: "refers back to itself for the same value, so no check would end",
				Hint: "refer to it only from a schema under properties or items",
			}
		}
	}
	return nil
}

// cycleSearch is a depth-first search for a cycle of references.
type cycleSearch struct {
	*schemaIndex
	state    map[string]int // by JSON pointer
	closedBy string         // JSON pointer of the keyword that closes the cycle
}

const (
	visiting = 1
	visited  = 2
)

func (c *cycleSearch) visit(at string) (found bool) {
	if c.state[at] != 0 {
		return c.state[at] == visiting
	}
	c.state[at] = visiting
	object, _ := c.schemas[at].(map[string]any)
	for _, word := range sameValueKeywords {
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

// next returns the JSON pointers of the schemas that a keyword applies.
func (c *cycleSearch) next(v any, kind keywordValue, at string) (pointers []string) {
	switch v := v.(type) {
	case string:
		if to, here := c.target(v); here {
			return []string{to}
		}
	case []any:
		for i := range v {
			pointers = append(pointers, at+"/"+strconv.Itoa(i))
		}
	case map[string]any:
		if kind != valueSchemaMap {
			return []string{at}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			pointers = append(pointers, at+"/"+pointerToken(name))
		}
	}
	return pointers
}
