package catalog

import "encoding/json"

// keywordRows implements pg_get_keywords.
func keywordRows(*Env, *Catalog, []any) (any, error) {
	var rows []map[string]any
	for _, r := range readData("keywords").rows {
		row := map[string]any{"barelabel": boolInt(r.bool("barelabel"))}
		for _, column := range []string{"word", "catcode", "catdesc", "baredesc"} {
			row[column] = r.text(column)
		}
		rows = append(rows, row)
	}
	text, err := json.Marshal(rows)
	return string(text), err
}
