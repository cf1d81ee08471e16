package rota_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Words in the path or the source of a test that show which store it tests.
var (
	onBoth     = []string{"onEachStore(", "withLeaseOnEachStore("}
	onSQLite   = []string{"newHarness(", "sqliteHarness, ", "newClockHarness(", "newServerDir(", "newCrash(", "store/sqlite/"}
	onPostgres = []string{"newPostgresHarness(", "postgresHarness, ", "newTestCluster(", "onSharedStores(", "store/postgres/"}
)

// Each row of the page must name tests for both stores. Each test must exist and must
// test the store of its column.
func TestFailuresPageNamesExistingTests(t *testing.T) {
	page := readDoc(t, "docs/failures.md")
	row := regexp.MustCompile(`(?m)^\| ([^|]+) \|([^|]*)\|([^|]*)\|([^|]*)\|$`)
	stories := storiesOf(t)
	rows := 0
	for _, cells := range row.FindAllStringSubmatch(page, -1) {
		if cells[1] == "failure" {
			continue
		}
		rows++
		named := [3]int{}
		for i, about := range [][]string{onBoth, slices.Concat(onBoth, onSQLite), slices.Concat(onBoth, onPostgres)} {
			for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[i+2], -1) {
				named[i]++
				if dir, test, found := strings.Cut(name[1], ".Test"); !found {
					checkStory(t, stories, name[1])
				} else {
					checkTest(t, dir, "Test"+test, about)
				}
			}
		}
		if named[0] == 0 && (named[1] == 0 || named[2] == 0) {
			t.Errorf("%q has no test for one of the stores", cells[1])
		}
	}
	if rows < 18 {
		t.Errorf("only %d failures were found", rows)
	}
}

// Each test that the page about security names must exist.
func TestSecurityPageNamesExistingTests(t *testing.T) {
	names := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z]+)`").FindAllStringSubmatch(readDoc(t, "docs/security.md"), -1)
	for _, name := range names {
		checkTest(t, name[1], name[2], []string{""})
	}
	if len(names) < 25 {
		t.Errorf("only %d tests are named", len(names))
	}
}

// checkTest finds a test in a directory and checks that its source has one of the words.
func checkTest(t *testing.T, dir, name string, about []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		_, text, found := strings.Cut(readDoc(t, file), "\nfunc "+name+"(t *testing.T) {")
		if !found {
			continue
		}
		text, _, _ = strings.Cut(text, "\n}\n")
		if !slices.ContainsFunc(about, func(word string) bool { return strings.Contains(file+text, word) }) {
			t.Errorf("%s is not about the store that it is named for", name)
		}
		return
	}
	t.Errorf("there is no %s in %s", name, dir)
}

// checkStory finds a story by its part of the suite and its name.
func checkStory(t *testing.T, stories []string, name string) {
	t.Helper()
	part, story, _ := strings.Cut(name, "/")
	if !slices.Contains(stories, part) && part != "Races" && part != "Concurrent" || !slices.Contains(stories, story) {
		t.Errorf("there is no story %q", name)
	}
}

// storiesOf returns the names of the stories and of the parts of the suite: the first
// texts in the rows of the suite's tables.
func storiesOf(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("store/storetest/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			if row, is := n.(*ast.CompositeLit); is && row.Type == nil && len(row.Elts) > 1 {
				if text, is := row.Elts[0].(*ast.BasicLit); is && text.Kind == token.STRING {
					names = append(names, strings.Trim(text.Value, `"`))
				}
			}
			return true
		})
	}
	return names
}
