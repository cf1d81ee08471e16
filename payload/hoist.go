package payload

// hoisted are the keywords that end a validation at once where they fail. A
// schema that ends so would not pay its toll.
var hoisted = []string{"type", "enum", "const", "format"}

// hoist moves these keywords of each schema in a document into an allOf of their
// own, which means the same: then it is a part of the schema that fails, and the
// schema itself goes on to pay.
func hoist(v any, form form) any {
	switch v := v.(type) {
	case map[string]any:
		if form == formMap {
			return hoistNamed(v)
		}
		if form == formSchema || form == formEither {
			return hoistSchema(v)
		}
	case []any:
		if form == formList || form == formEither {
			list := make([]any, len(v))
			for i, one := range v {
				list[i] = hoist(one, formSchema)
			}
			return list
		}
	}
	return v
}

func hoistNamed(schemas map[string]any) map[string]any {
	named := make(map[string]any, len(schemas))
	for name, one := range schemas {
		named[name] = hoist(one, formSchema)
	}
	return named
}

func hoistSchema(schema map[string]any) map[string]any {
	lean, part := make(map[string]any, len(schema)), map[string]any{}
	for word, v := range schema {
		lean[word] = hoist(v, keywords[word])
	}
	delete(lean, partMark) // only we set it: whoever has it pays nothing
	for _, word := range hoisted {
		if v, has := schema[word]; has {
			part[word] = v
			delete(lean, word)
		}
	}
	if len(part) > 0 {
		part[partMark] = true
		all, _ := lean["allOf"].([]any) // its own come first and keep their places
		lean["allOf"] = append(all[:len(all):len(all)], part)
	}
	return lean
}

// partMark marks what was hoisted, for which the schema around it pays.
const partMark = "x-rota-part"
