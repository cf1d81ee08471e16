package catalog

import (
	"encoding/json"
	"strings"
)

// records returns the rows of a function in their stored form.
func records(rows []map[string]any) (any, error) {
	text, err := json.Marshal(rows)
	return string(text), err
}

// keywordRecords implements pg_get_keywords.
func keywordRecords(*Env, *Catalog, []any) (any, error) {
	rows := []map[string]any{}
	for _, r := range readData("keywords").rows {
		row := map[string]any{"barelabel": boolInt(r.bool("barelabel"))}
		for _, column := range []string{"word", "catcode", "catdesc", "baredesc"} {
			row[column] = r.text(column)
		}
		rows = append(rows, row)
	}
	return records(rows)
}

// settingRecords implements pg_show_all_settings, whose rows are those of pg_settings.
func settingRecords(_ *Env, c *Catalog, _ []any) (any, error) {
	rows := []map[string]any{}
	for _, relation := range c.relations {
		if relation.Name != "pg_settings" {
			continue
		}
		for _, values := range relation.Rows {
			row := map[string]any{}
			for i, column := range relation.Columns {
				row[column.Name] = values[i]
			}
			rows = append(rows, row)
		}
	}
	return records(rows)
}

// privilegeNames are the privileges of access lists by their letters.
var privilegeNames = map[rune]string{
	'r': "SELECT", 'a': "INSERT", 'w': "UPDATE", 'd': "DELETE", 'D': "TRUNCATE", 'x': "REFERENCES", 't': "TRIGGER",
	'X': "EXECUTE", 'U': "USAGE", 'C': "CREATE", 'c': "CONNECT", 'T': "TEMPORARY",
}

// privilegeRecords implements aclexplode. The lists of the catalogue grant privileges to the owner and to PUBLIC.
func privilegeRecords(_ *Env, _ *Catalog, args []any) (any, error) {
	var items []string
	if err := json.Unmarshal([]byte(textOf(args[0])), &items); err != nil {
		return records([]map[string]any{})
	}
	rows := []map[string]any{}
	for _, item := range items {
		grantee, rest, _ := strings.Cut(item, "=")
		letters, _, _ := strings.Cut(rest, "/")
		role := int64(ownerRole)
		if grantee == "" {
			role = 0
		}
		for _, letter := range letters {
			rows = append(rows, map[string]any{"grantor": ownerRole, "grantee": role, "privilege_type": privilegeNames[letter], "is_grantable": 0})
		}
	}
	return records(rows)
}
