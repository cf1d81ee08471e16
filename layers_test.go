package rota_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/rotajobs/rota"

// room is one package directory. It may import rooms on lower floors only,
// and a room with an only list is entered by those on it and nobody else.
type room struct {
	floor int
	only  []string // who may import it; empty: everybody above
	tests []string // what its tests may import beyond that
}

// rooms is the plan of the house. A new directory is added here on purpose,
// or the test fails.
var rooms = map[string]room{
	"cmd/rota":          {floor: 8},
	"node/crashtest":    {floor: 8}, // a server that kills itself, and the tests that start it
	"worker/workertest": {floor: 8}, // servers and workers that tests kill, freeze and cut off

	"pgwire/drivertest": {floor: 8}, // tests alone: clients of PostgreSQL at the SQL port of a node

	"examples":           {floor: 9}, // tests alone: they run what stands below
	"examples/embedded":  {floor: 8},
	"examples/worker-go": {floor: 8},

	"examples/webhook-receiver": {floor: 8}, // in Python; its test is not

	"node": {floor: 7},

	"httpapi": {floor: 6},
	"pgwire":  {floor: 6},

	"console":     {floor: 5, tests: []string{"store/sqlite", "store/postgres", "store/postgres/pgtest"}},
	"console/sys": {floor: 4, only: []string{"console", "httpapi", "pgwire", "node", "cmd/rota"}, tests: []string{"store/sqlite"}},
	"report":      {floor: 5},

	"console/pgcatalog": {floor: 3, tests: []string{"store/postgres/pgtest"}}, // PostgreSQL's catalogue, of our tables
	"console/dialect":   {floor: 2, tests: []string{"store/postgres/pgtest"}}, // what a query means
	"console/query":     {floor: pure},
	"console/kind":      {floor: pure},

	"telemetry": {floor: 5, tests: []string{"httpapi", "worker"}},
	"worker":    {floor: 5, tests: []string{"worker/workertest", "httpapi"}},
	"action":    {floor: 5}, // its handlers ask the engine whose run they are

	"action/mariatest": {floor: 4}, // servers for tests

	"engine":          {floor: 4, tests: []string{"store/sqlite", "store/wrap", "store/postgres", "store/postgres/pgtest"}},
	"store/sqlite":    {floor: 4, tests: []string{"store/storetest", "store/wrap"}},
	"store/postgres":  {floor: 4, tests: []string{"store/storetest", "store/wrap", "store/postgres/pgtest"}},
	"store/dynamo":    {floor: 4, tests: []string{"store/storetest", "store/wrap"}},
	"store/raft":      {floor: 4, tests: []string{"store/storetest", "store/wrap", "store/sqlite"}},
	"store/remote":    {floor: 4, tests: []string{"store/storetest", "store/wrap", "store/sqlite"}},
	"store/wrap":      {floor: 4, tests: []string{"store/storetest", "store/sqlite"}},
	"store/storetest": {floor: 4, tests: []string{"store/sqlite", "store/wrap"}},

	"store/postgres/pgtest": {floor: 4}, // servers for tests

	"store/postgres/pgtest/withpostgres": {floor: 5}, // starts one for the tests of all packages

	// The law is for those who keep rows. Above all the suite and its model
	// keep out: a law that is tested against itself is always right.
	"internal/rules":  {floor: 3, only: []string{"store/sqlite", "store/postgres", "store/dynamo"}},
	"internal/fanout": {floor: 3, only: []string{"store/sqlite", "store/postgres", "store/dynamo"}},
	"access":          {floor: 3},
	"payload":         {floor: 3},
	"eventring":       {floor: 3, tests: []string{"store/sqlite"}},

	"store/storetest/model": {floor: 3, only: []string{"store/storetest"}},

	".": {floor: 2, tests: []string{"store/sqlite", "engine"}}, // its examples show the whole

	"internal/suggest": {floor: 0}, // below everything: words to suggest, which pure rooms need too

	"internal/depth": {floor: 0}, // below everything: how many rounds tests run

	"internal/faultproxy": {floor: pure}, // a network for tests
	"internal/hours":      {floor: pure}, // runs tests at other hours
	"internal/scrub":      {floor: pure},

	"cron":    {floor: pure},
	"crontab": {floor: pure},
	"ddl":     {floor: pure},
	"web":     {floor: pure},
}

// pure is the floor with nothing below it but the ground: not us, and not
// anybody else's code either.
const pure = 1

func TestImportsPointDown(t *testing.T) {
	problems, err := checkLayers(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// checkLayers reads every Go file of the module, whatever its build tags, and
// says what breaks the plan. Modules inside the module are left alone.
func checkLayers(tree fs.FS) (problems []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return enter(tree, name)
		case path.Ext(name) != ".go":
			return nil
		}
		found, err := checkFile(tree, name)
		problems = append(problems, found...)
		return err
	})
	return problems, err
}

func enter(tree fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if base == "testdata" || base == "node_modules" || base[0] == '.' || base[0] == '_' {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(dir, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func checkFile(tree fs.FS, name string) (problems []string, err error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
	if err != nil {
		return nil, err
	}
	dir := path.Dir(name)
	if _, known := rooms[dir]; !known {
		return []string{fmt.Sprintf("%s: the directory %s is not in the table of floors", name, dir)}, nil
	}
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, err
		}
		if why := forbidden(dir, imported, strings.HasSuffix(name, "_test.go")); why != "" {
			problems = append(problems, fmt.Sprintf("%s imports %s: %s", name, imported, why))
		}
	}
	return problems, nil
}

// forbidden says why a file in dir must not import a package, or nothing.
func forbidden(dir, imported string, test bool) string {
	from := rooms[dir]
	if imported != module && !strings.HasPrefix(imported, module+"/") {
		first, _, _ := strings.Cut(imported, "/")
		if from.floor <= pure && !test && strings.Contains(first, ".") {
			return fmt.Sprintf("floor %d is pure and imports the standard library only", from.floor)
		}
		return ""
	}
	target := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
	if target == "" {
		target = "."
	}
	to, known := rooms[target]
	switch {
	case !known:
		return "it is not in the table of floors"
	case test && (target == dir || slices.Contains(from.tests, target)):
		return ""
	case to.floor >= from.floor:
		return fmt.Sprintf("floor %d must not import floor %d", from.floor, to.floor)
	case to.only != nil && !slices.Contains(to.only, dir):
		return "it is for " + strings.Join(to.only, ", ") + " only"
	}
	return ""
}

// TestLayersAreGuarded breaks the plan in a house of paper, one file each.
func TestLayersAreGuarded(t *testing.T) {
	for _, test := range []struct{ file, imports, want string }{
		{"store/sqlite/store.go", module, ""},
		{"store/sqlite/store.go", module + "/internal/rules", ""},
		{"store/sqlite/store_test.go", module + "/store/storetest", ""},
		{"cron/cron.go", "time", ""},
		{"ddl/error.go", module + "/internal/suggest", ""},
		{"cron/oracle_test.go", "example.org/oracle", ""},
		{"cron/example_test.go", module + "/cron", ""},
		{"cmd/rota/main.go", module + "/store/sqlite", ""},
		{"example_test.go", module + "/store/sqlite", ""},
		{"bench/main.go", module + "/store/sqlite", ""},
		{"store/testdata/x.go", module + "/node", ""},

		{"store/sqlite/store.go", module + "/engine", "floor 4 must not import floor 4"},
		{"store/sqlite/store.go", module + "/store/postgres", "floor 4 must not import floor 4"},
		{"store/sqlite/store_test.go", module + "/store/postgres", "floor 4 must not import floor 4"},
		{"store/sqlite/store.go", module + "/store/storetest", "floor 4 must not import floor 4"},
		{"job.go", module + "/internal/rules", "floor 2 must not import floor 3"},
		{"cron/cron.go", module, "floor 1 must not import floor 2"},
		{"cron/cron.go", module + "/ddl", "floor 1 must not import floor 1"},
		{"cron/cron.go", "example.org/oracle", "standard library only"},
		{"internal/suggest/suggest.go", "example.org/oracle", "standard library only"},
		{"internal/suggest/suggest.go", module + "/cron", "floor 0 must not import floor 1"},
		{"node/node.go", module + "/internal/rules", "is for store/sqlite"},
		{"store/storetest/suite.go", module + "/internal/rules", "is for store/sqlite"},
		{"store/storetest/model/model.go", module + "/internal/rules", "floor 3 must not import floor 3"},
		{"node/node.go", module + "/attic", "not in the table"},
		{"attic/attic.go", "time", "directory attic is not in the table"},
	} {
		tree := fstest.MapFS{
			"bench/go.mod": {Data: []byte("module bench")},
			test.file:      {Data: fmt.Appendf(nil, "package p\n\nimport _ %q\n", test.imports)},
		}
		problems, err := checkLayers(tree)
		got := strings.Join(problems, "; ")
		if err != nil || (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s importing %s: got %q, %v; want %q", test.file, test.imports, got, err, test.want)
		}
	}
}
