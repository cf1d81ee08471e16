package catalog

import (
	"encoding/json"
	"strings"
	"sync"
)

// keywords maps the words of PostgreSQL's grammar to the letter of pg_get_keywords: U are not
// reserved; C cannot be the name of a function or a type; T can be nothing else; R are reserved.
var keywords = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for _, r := range readData("keywords").rows {
		all[r.text("word")] = r.text("catcode")
	}
	return all
})

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

// QuoteIdent quotes a name if needed: unless it consists of lower-case letters, digits and
// underscores and is not a keyword.
func QuoteIdent(name string) string {
	if letter := keywords()[name]; simple(name) && (letter == "" || letter == "U") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// simple reports whether a name consists of lower-case letters, digits and underscores and does
// not start with a digit.
func simple(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}
