package catalog

import "testing"

// Each row has a value for each column, and the value matches the kind of the column.
func TestRowsMatchColumnKinds(t *testing.T) {
	for _, r := range New(subject).Relations() {
		for _, row := range r.Rows {
			if len(row) != len(r.Columns) {
				t.Fatalf("%s has %d columns and a row of %d values", r.Name, len(r.Columns), len(row))
			}
			for i, v := range row {
				if !matchesKind(r.Columns[i].Kind, v) {
					t.Fatalf("%s.%s is %s and holds %#v", r.Name, r.Columns[i].Name, r.Columns[i].Kind, v)
				}
			}
		}
	}
}
