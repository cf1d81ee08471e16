package translate

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go test -run TestKnownNamesEqualPostgres . -update

var (
	//go:embed data/postgres_functions.txt
	postgresFunctions string
	//go:embed data/postgres_relations.txt
	postgresRelations string

	knownFunctions = readNames(&postgresFunctions)
	knownRelations = readNames(&postgresRelations)
)

// readNames reads a data file with one name on each line, at its first use.
func readNames(text *string) func() map[string]bool {
	return sync.OnceValue(func() map[string]bool {
		names := make(map[string]bool, strings.Count(*text, "\n"))
		for name := range strings.Lines(*text) {
			names[strings.TrimSuffix(name, "\n")] = true
		}
		return names
	})
}

// KnownToPostgreSQL reports whether PostgreSQL has a built-in function of this name. A call of such
// a function that Rota does not have is refused as not supported (0A000), not as unknown (42883).
func KnownToPostgreSQL(name string) bool { return knownFunctions()[name] }

// relationOfPostgreSQL reports whether PostgreSQL has a catalogue relation of this name. A query of
// such a relation that Rota does not have is refused as not supported (0A000), not as unknown (42P01).
func relationOfPostgreSQL(schema, name string) bool {
	if schema != "" {
		return knownRelations()[schema+"."+name]
	}
	return knownRelations()["pg_catalog."+name]
}
