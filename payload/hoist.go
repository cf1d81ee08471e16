package payload

// hoisted are the keywords whose failure ends the validation of a schema at once,
// before the step is counted in the budget.
var hoisted = []string{"type", "enum", "const", "format"}

// hoist moves these keywords of each schema in a document into an allOf, which has
// the same meaning. Then a failure ends the part in the allOf, and the validation
// of the schema itself continues and counts its step.
func hoist(v any, kind keywordValue) any {
	switch v := v.(type) {
	case map[string]any:
		if kind == valueSchemaMap {
			return hoistNamed(v)
		}
		if kind == valueSchema || kind == valueSchemaOrList {
			return hoistSchema(v)
		}
	case []any:
		if kind == valueSchemaList || kind == valueSchemaOrList {
			list := make([]any, len(v))
			for i, one := range v {
				list[i] = hoist(one, valueSchema)
			}
			return list
		}
	}
	return v
}

func hoistNamed(schemas map[string]any) map[string]any {
	named := make(map[string]any, len(schemas))
	for name, one := range schemas {
		named[name] = hoist(one, valueSchema)
	}
	return named
}

func hoistSchema(schema map[string]any) map[string]any {
	prepared, part := make(map[string]any, len(schema)), map[string]any{}
	for word, v := range schema {
		prepared[word] = hoist(v, keywords[word])
	}
	delete(prepared, hoistedMark) // set below only: a schema with the mark is not counted
	for _, word := range hoisted {
		if v, has := schema[word]; has {
			part[word] = v
			delete(prepared, word)
		}
	}
	if len(part) > 0 {
		part[hoistedMark] = true
		all, _ := prepared["allOf"].([]any) // existing entries come first and keep their indexes
		prepared["allOf"] = append(all[:len(all):len(all)], part)
	}
	return prepared
}

// hoistedMark marks a hoisted part, whose step the enclosing schema counts.
const hoistedMark = "x-rota-part"
