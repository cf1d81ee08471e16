package rota_test

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

const module = "github.com/rotajobs/rota"

// packageRule says which packages a package may import: those of lower layers.
type packageRule struct {
	layer  int
	only   []string // the only packages that may import it; empty: all of higher layers
	tests  []string // packages that its tests may import in addition
	beside []string // packages of its own layer that it may import
}

// packageRules holds the layers of the design. The tests fail for a directory
// that is missing here, and for an entry without a directory.
var packageRules = map[string]packageRule{
	"cmd/rota":          {layer: 8},
	"node/crashtest":    {layer: 8}, // a server that kills itself, and the tests that start it
	"worker/workertest": {layer: 8}, // servers and workers that tests kill, freeze and cut off

	"store/txcrash": {layer: 5}, // tests only: they kill programs that use the queue in their own transactions

	"sql/pgwire/drivertest": {layer: 8}, // tests only: PostgreSQL clients against the SQL port of a node

	"examples":           {layer: 9}, // tests only: they run the examples
	"deploy":             {layer: 9}, // tests only: they run what the unit, the image and the compose file run
	"examples/embedded":  {layer: 8},
	"examples/dynamodb":  {layer: 8},
	"examples/worker-go": {layer: 8},

	"examples/webhook-receiver": {layer: 8}, // the example is in Python, its test in Go

	"node": {layer: 7},

	"httpapi": {layer: 6},

	"httpapi/longpoll": {layer: 5, only: []string{"httpapi"}, tests: []string{"store/sqlite"}},

	"sql/pgwire": {layer: 6},

	"sql/session": {layer: 5, tests: []string{"store/sqlite", "store/postgres", "store/postgres/pgtest"}},
	"sql/system":  {layer: 4, only: []string{"sql/session", "httpapi", "sql/pgwire", "node", "cmd/rota"}, tests: []string{"store/sqlite"}},
	"report":      {layer: 5},
	"definitions": {layer: 5},

	"sql/catalog":   {layer: 3, tests: []string{"store/postgres/pgtest"}}, // PostgreSQL's catalogue tables
	"sql/translate": {layer: 2, tests: []string{"store/postgres/pgtest"}}, // types and translates queries
	"sql/query":     {layer: pure},
	"sql/kind":      {layer: pure},

	"telemetry": {layer: 5, tests: []string{"httpapi", "worker"}},
	"client":    {layer: 5, tests: []string{"httpapi", "node"}},
	"worker":    {layer: 5, tests: []string{"worker/workertest", "httpapi"}},
	"runlog":    {layer: 5}, // in files, or in a store that can keep them
	"action":    {layer: 5}, // its handlers read their run from the engine

	"action/mariatest": {layer: 4}, // servers for tests

	"action/sandbox": {layer: 3}, // starts one program; knows nothing of jobs

	"action/sandbox/internal/shim": {layer: 2, only: []string{"action/sandbox"}}, // the process around the program; imports little

	"engine":          {layer: 4, tests: []string{"store/sqlite", "store/wrap", "store/postgres", "store/postgres/pgtest"}},
	"store/sqlite":    {layer: 4, tests: []string{"store/storetest", "store/wrap", "store/sqlite/sqlitetest"}},
	"store/postgres":  {layer: 4, tests: []string{"store/storetest", "store/wrap", "store/postgres/pgtest"}},
	"store/wrap":      {layer: 4, tests: []string{"store/storetest", "store/sqlite"}},
	"store/storetest": {layer: 4, tests: []string{"store/sqlite", "store/wrap"}},

	"store/transfer": {layer: 3, beside: []string{"internal/storekit"}, tests: []string{"store/sqlite", "store/postgres", "store/postgres/pgtest", "store/storetest"}},

	"store/postgres/pgtest": {layer: 4}, // servers for tests

	"store/sqlite/sqlitetest": {layer: 5}, // changes files for tests

	"store/dynamo":         {layer: 5, tests: []string{"store/dynamo/dyntest", "store/sqlite/sqlitetest", "store/storetest"}},
	"store/dynamo/dyntest": {layer: 4}, // servers for tests

	"store/postgres/pgtest/withpostgres": {layer: 5}, // starts one for the tests of all packages

	// Only stores import the rules. The conformance suite and its model must not:
	// rules that are tested against themselves always pass.
	"internal/rules":      {layer: 3, only: []string{"internal/verify", "internal/explain", "internal/storekit", "store/sqlite", "store/postgres"}},
	"internal/verify":     {layer: 3, only: []string{"internal/storekit", "store/sqlite", "store/postgres"}, beside: []string{"internal/rules"}},
	"internal/explain":    {layer: 3, only: []string{"internal/storekit", "store/sqlite", "store/postgres"}, beside: []string{"internal/rules"}},
	"internal/storekit":   {layer: 3, only: []string{"store/sqlite", "store/postgres", "store/dynamo", "store/transfer"}, beside: []string{"internal/rules", "internal/verify", "internal/explain", "internal/auditchain"}},
	"internal/auditchain": {layer: 3},
	"internal/codec":      {layer: 3, tests: []string{"internal/samples"}},
	"internal/samples":    {layer: 3}, // commands for tests
	"internal/fanout":     {layer: 3, only: []string{"store/sqlite", "store/postgres", "internal/logstore"}},
	"internal/logstore":   {layer: 4, tests: []string{"store/sqlite", "store/sqlite/sqlitetest", "store/storetest"}},                                                                // stores over a log
	"access":              {layer: 3, tests: []string{"internal/buffertx", "internal/samples", "store/sqlite", "store/postgres", "store/postgres/pgtest", "api", "node", "secret"}}, // the matrix runs a node
	"secret":              {layer: 3, tests: []string{"store/sqlite", "store/storetest"}},
	"api":                 {layer: 3},
	"api/problem":         {layer: 4},

	"internal/apiclient":    {layer: 4}, // requests of cmd/rota, client and worker
	"internal/buffertx":     {layer: 3}, // transactions of callers, for tests
	"internal/partialstore": {layer: 3}, // what a store on another machine does not support

	"internal/yamlfile": {layer: 3, only: []string{"node", "cmd/rota"}},
	"payload":           {layer: 3},
	"eventring":         {layer: 3, tests: []string{"store/sqlite"}},

	"store/storetest/model": {layer: 3, only: []string{"store/storetest"}},

	".": {layer: 2, tests: []string{"store/sqlite", "engine", "internal/buffertx", "internal/codec", "internal/samples"}}, // its examples run the engine on a store

	"internal/diff":     {layer: 2},
	"internal/nofollow": {layer: 2}, // opens files without following links

	"internal/suggest": {layer: 0}, // imported by pure packages too

	"sql/lexer": {layer: 0}, // imported by the parsers, which are pure

	"internal/mask": {layer: 0}, // hides secret values in text

	"internal/depth": {layer: 0}, // how many rounds tests run

	"internal/faultproxy": {layer: pure}, // a network proxy for tests
	"internal/hours":      {layer: pure}, // runs tests at other hours
	"internal/testskips":  {layer: pure}, // runs tests and lists the skipped ones
	"internal/scrub":      {layer: pure},

	"cron":    {layer: pure},
	"crontab": {layer: pure},
	"sql/ddl": {layer: pure},
}

// pure is the layer whose packages import the standard library only.
const pure = 1

func TestPackagesImportLowerLayersOnly(t *testing.T) {
	problems, err := checkLayers(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

func TestTableOfLayersListsExistingPackages(t *testing.T) {
	for dir, rule := range packageRules {
		for _, name := range slices.Concat([]string{dir}, rule.only, rule.tests, rule.beside) {
			if files, err := filepath.Glob(filepath.Join(name, "*.go")); err != nil || len(files) == 0 {
				t.Errorf("%s has no Go file: %v", name, err)
			}
		}
	}
}

// checkLayers reads every Go file of the module, whatever its build tags, and
// returns the imports that break a rule. It skips modules inside the module.
func checkLayers(tree fs.FS) (problems []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return skipOrEnter(tree, name)
		case path.Ext(name) != ".go":
			return nil
		}
		found, err := checkFile(tree, name)
		problems = append(problems, found...)
		return err
	})
	return problems, err
}

func skipOrEnter(tree fs.FS, dir string) error {
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
	if _, known := packageRules[dir]; !known {
		return []string{fmt.Sprintf("%s: the directory %s is not in the table of layers", name, dir)}, nil
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

// forbidden returns why a file in dir must not import a package, or an empty text.
func forbidden(dir, imported string, test bool) string {
	from := packageRules[dir]
	if imported != module && !strings.HasPrefix(imported, module+"/") {
		first, _, _ := strings.Cut(imported, "/")
		if from.layer <= pure && !test && strings.Contains(first, ".") {
			return fmt.Sprintf("layer %d is pure and imports the standard library only", from.layer)
		}
		return ""
	}
	target := strings.TrimPrefix(strings.TrimPrefix(imported, module), "/")
	if target == "" {
		target = "."
	}
	to, known := packageRules[target]
	switch {
	case !known:
		return "it is not in the table of layers"
	case test && (target == dir || slices.Contains(from.tests, target)), slices.Contains(from.beside, target):
		return ""
	case to.layer >= from.layer:
		return fmt.Sprintf("layer %d must not import layer %d", from.layer, to.layer)
	case to.only != nil && !slices.Contains(to.only, dir):
		return "only these may import it: " + strings.Join(to.only, ", ")
	}
	return ""
}

// TestLayerCheckFindsForbiddenImports checks trees of one file each.
func TestLayerCheckFindsForbiddenImports(t *testing.T) {
	for _, test := range []struct{ file, imports, want string }{
		{"store/sqlite/store.go", module, ""},
		{"store/sqlite/store.go", module + "/internal/rules", ""},
		{"store/sqlite/store_test.go", module + "/store/storetest", ""},
		{"cron/cron.go", "time", ""},
		{"sql/ddl/error.go", module + "/internal/suggest", ""},
		{"cron/oracle_test.go", "example.org/oracle", ""},
		{"cron/example_test.go", module + "/cron", ""},
		{"cmd/rota/main.go", module + "/store/sqlite", ""},
		{"example_test.go", module + "/store/sqlite", ""},
		{"bench/main.go", module + "/store/sqlite", ""},
		{"store/testdata/x.go", module + "/node", ""},

		{"store/sqlite/store.go", module + "/engine", "layer 4 must not import layer 4"},
		{"store/sqlite/store.go", module + "/store/postgres", "layer 4 must not import layer 4"},
		{"store/sqlite/store_test.go", module + "/store/postgres", "layer 4 must not import layer 4"},
		{"store/sqlite/store.go", module + "/store/storetest", "layer 4 must not import layer 4"},
		{"job.go", module + "/internal/rules", "layer 2 must not import layer 3"},
		{"cron/cron.go", module, "layer 1 must not import layer 2"},
		{"cron/cron.go", module + "/sql/ddl", "layer 1 must not import layer 1"},
		{"cron/cron.go", "example.org/oracle", "standard library only"},
		{"internal/suggest/suggest.go", "example.org/oracle", "standard library only"},
		{"internal/suggest/suggest.go", module + "/cron", "layer 0 must not import layer 1"},
		{"node/node.go", module + "/internal/rules", "only these may import it: internal/verify"},
		{"store/storetest/suite.go", module + "/internal/rules", "only these may import it: internal/verify"},
		{"store/storetest/model/model.go", module + "/internal/rules", "layer 3 must not import layer 3"},
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
