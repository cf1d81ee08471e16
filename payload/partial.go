package payload

import (
	"encoding/json"
	"strconv"
	"strings"
)

// CheckPartial checks params that others complete, such as the default params of a
// template. It refuses what no further param can correct: an unknown param, or a value
// that is wrong. It accepts that a param is missing. Params are merged by key, so that
// a value that is an object is complete.
func (c *Compiled) CheckPartial(params json.RawMessage) error {
	if c.Check(params) == nil {
		return nil
	}
	return c.relaxed().Check(params)
}

// relaxed returns the schema of partial params. If it does not compile, as when a
// reference leads to a part that was left out, it accepts every object: the complete
// params are checked later.
func (c *Compiled) relaxed() *Compiled {
	c.relaxOnce.Do(func() {
		text, err := json.Marshal(relaxRoot(c.schema.(map[string]any)))
		if err == nil {
			c.partial, err = Compile(text)
		}
		if err != nil {
			c.partial, _ = Compile(json.RawMessage(`{"type": "object"}`))
		}
	})
	return c.partial
}

// relaxedWords are the keywords that hold for an object with some of its properties if
// they hold for the whole object.
var relaxedWords = []string{
	"title", "description", "type", "properties", "patternProperties", "additionalProperties", "propertyNames", "maxProperties",
}

// rootWords are the keywords of the document as a whole.
var rootWords = []string{"$schema", "$id", "id", "$defs", "definitions"}

// relaxDepth bounds the schemas inside each other that apply to the same object.
const relaxDepth = 20

// relaxer relaxes the schemas of one document.
type relaxer struct {
	root    map[string]any
	refOnly bool // the draft ignores the keywords beside a $ref
}

func relaxRoot(root map[string]any) map[string]any {
	draft, _ := root["$schema"].(string)
	r := relaxer{root: root, refOnly: strings.Contains(draft, "draft-0")}
	relaxed := r.object(root, 0)
	for _, word := range rootWords {
		if v, has := root[word]; has {
			relaxed[word] = v
		}
	}
	return relaxed
}

// schema relaxes a schema that applies to the params themselves.
func (r *relaxer) schema(schema any, depth int) any {
	object, is := schema.(map[string]any)
	if !is {
		return schema
	}
	if _, has := object["$id"]; has || object["id"] != nil || depth > relaxDepth {
		return true // its references have another base
	}
	return r.object(object, depth)
}

func (r *relaxer) object(schema map[string]any, depth int) map[string]any {
	relaxed, ref := map[string]any{}, schema["$ref"]
	var all []any
	if ref == nil || !r.refOnly {
		for _, word := range relaxedWords {
			if v, has := schema[word]; has {
				relaxed[word] = v
			}
		}
		all = r.list(schema["allOf"], depth)
		for _, word := range []string{"anyOf", "oneOf"} { // more than one may match partial params
			if some := r.list(schema[word], depth); len(some) > 0 {
				all = append(all, map[string]any{"anyOf": some})
			}
		}
	}
	if target, found := r.target(ref); found {
		all = append(all, r.schema(target, depth+1))
	}
	if len(all) > 0 {
		relaxed["allOf"] = all
	}
	return relaxed
}

func (r *relaxer) list(v any, depth int) (relaxed []any) {
	list, _ := v.([]any)
	for _, one := range list {
		relaxed = append(relaxed, r.schema(one, depth+1))
	}
	return relaxed
}

// target finds the schema of a $ref to a JSON pointer.
func (r *relaxer) target(ref any) (schema any, found bool) {
	pointer, _ := ref.(string)
	if !strings.HasPrefix(pointer, "#/") {
		return nil, false
	}
	schema = r.root
	for _, token := range tokensOf(pointer) {
		switch in := schema.(type) {
		case map[string]any:
			if schema, found = in[token]; !found {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil, false
			}
			schema = in[i]
		default:
			return nil, false
		}
	}
	return schema, true
}
