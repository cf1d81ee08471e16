package sqlite

import (
	"regexp"

	"github.com/rotajobs/rota"
)

var placeholder = regexp.MustCompile(`:[a-z]+\b`)

// namedIn binds the jobs that a statement names as :name.
func namedIn(sql string, jobs map[string]rota.ID) map[string]any {
	named := map[string]any{}
	for _, name := range placeholder.FindAllString(sql, -1) {
		if id, known := jobs[name[1:]]; known {
			named[name] = id[:]
		}
	}
	return named
}
