package translate

import (
	_ "embed"
	"strings"
	"sync"
)

//go:generate go test -run TestKnownFunctionsEqualPostgres . -update

//go:embed data/postgres_functions.txt
var postgresFunctions string

// knownFunctions are the names of PostgreSQL's built-in functions, one to a line of the data file.
var knownFunctions = sync.OnceValue(func() map[string]bool {
	names := make(map[string]bool, strings.Count(postgresFunctions, "\n"))
	for name := range strings.Lines(postgresFunctions) {
		names[strings.TrimSuffix(name, "\n")] = true
	}
	return names
})

// KnownToPostgreSQL reports whether PostgreSQL has a built-in function of this name. A call of such
// a function that Rota does not have is refused as not supported (0A000), not as unknown (42883).
func KnownToPostgreSQL(name string) bool { return knownFunctions()[name] }
