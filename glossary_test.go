package rota_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode"
)

// The glossary is the table under this heading of CONTRIBUTING.md, the retired
// words are the table under the other.
const (
	glossaryPage    = "CONTRIBUTING.md"
	glossaryHeading = "## Glossary"
	retiredHeading  = "## Retired words"
)

func TestGlossaryDefinesEachWordOnce(t *testing.T) {
	words := tableWords(readDoc(t, glossaryPage), glossaryHeading)
	if len(words) < 40 {
		t.Fatalf("%s: %d words under %q; the table is missing or has another form", glossaryPage, len(words), glossaryHeading)
	}
	seen := map[string]bool{}
	for _, word := range words {
		if seen[word] {
			t.Errorf("%s defines %q twice: one word has one meaning", glossaryPage, word)
		}
		seen[word] = true
	}
	for _, word := range tableWords(readDoc(t, glossaryPage), retiredHeading) {
		if seen[word] {
			t.Errorf("%s defines %q and retires it", glossaryPage, word)
		}
	}
}

var quotedPath = regexp.MustCompile("`([a-zA-Z0-9_/.-]+(?:/|\\.go|\\.md)[a-zA-Z0-9_/.-]*)`")

func TestContributingPageNamesExistingFiles(t *testing.T) {
	found := quotedPath.FindAllStringSubmatch(readDoc(t, glossaryPage), -1)
	if len(found) < 30 {
		t.Fatalf("%s names %d files; the pattern is wrong", glossaryPage, len(found))
	}
	for _, match := range found {
		if _, err := os.Stat(match[1]); err != nil {
			t.Errorf("%s names %s: %v", glossaryPage, match[1], err)
		}
	}
}

func TestRetiredWordsAreGone(t *testing.T) {
	retired := newRetired(tableWords(readDoc(t, glossaryPage), retiredHeading))
	if len(retired) < 30 {
		t.Fatalf("%s: %d words under %q; the table is missing or has another form", glossaryPage, len(retired), retiredHeading)
	}
	problems, err := retired.checkTree(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		if i == 50 {
			t.Fatalf("and %d more", len(problems)-i)
		}
		t.Error(p)
	}
}

// tableWords returns the words of the first column of the table under a heading.
// A cell may hold several words, separated by commas.
func tableWords(page, heading string) (words []string) {
	_, rest, _ := strings.Cut(page, heading+"\n")
	rest, _, _ = strings.Cut(rest, "\n## ")
	for line := range strings.Lines(rest) {
		cells := strings.Split(line, "|")
		if len(cells) < 3 || strings.HasPrefix(strings.TrimSpace(cells[1]), "-") {
			continue
		}
		for word := range strings.SplitSeq(cells[1], ",") {
			if word = strings.Trim(word, " `"); word != "" && word != "word" {
				words = append(words, word)
			}
		}
	}
	return words
}

// retired holds the retired words in lower case, singular and plural. A word of
// two parts is one entry with a space between them.
type retired map[string]bool

func newRetired(words []string) retired {
	r := retired{}
	for _, word := range words {
		word = strings.Join(identifierWords(word), " ")
		r[word] = true
		r[word+"s"] = true
	}
	return r
}

// Applied migrations and golden files keep their names and text.
func keepsItsText(name string) bool {
	return strings.Contains(name, "/migrations/") || strings.HasPrefix(name, "internal/codec/testdata/")
}

// checkTree checks the names of all files, the identifiers and comments of Go
// files, and the text of Markdown files.
func (r retired) checkTree(tree fs.FS) (problems []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			base := path.Base(name)
			if name != "." && (base[0] == '.' || base == "node_modules" || base == "bin" || base == "rota-data") {
				return fs.SkipDir
			}
			return nil
		}
		if keepsItsText(name) {
			return nil
		}
		if word := r.find(identifierWords(strings.ReplaceAll(path.Base(name), "-", "_"))); word != "" {
			problems = append(problems, fmt.Sprintf("%s: the file name has the retired word %q", name, word))
		}
		found, err := r.checkFile(tree, name)
		problems = append(problems, found...)
		return err
	})
	return problems, err
}

func (r retired) checkFile(tree fs.FS, name string) ([]string, error) {
	if ext := path.Ext(name); ext != ".go" && ext != ".md" {
		return nil, nil
	}
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	if path.Ext(name) == ".md" {
		return r.checkText(name, 1, withoutRetiredTable(string(source))), nil
	}
	return r.checkGo(name, source)
}

// withoutRetiredTable blanks the table that lists the retired words.
func withoutRetiredTable(page string) string {
	before, rest, found := strings.Cut(page, retiredHeading+"\n")
	if !found {
		return page
	}
	_, after, _ := strings.Cut(rest, "\n## ")
	return before + after
}

func (r retired) checkGo(name string, source []byte) (problems []string, err error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		if word := r.find(identifierWords(id.Name)); word != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: the identifier %s has the retired word %q",
				name, files.Position(id.Pos()).Line, id.Name, word))
		}
		return true
	})
	for _, group := range file.Comments {
		for _, comment := range group.List {
			problems = append(problems, r.checkText(name, files.Position(comment.Pos()).Line, comment.Text)...)
		}
	}
	return slices.Compact(problems), nil
}

var wordPattern = regexp.MustCompile(`[A-Za-z]+`)

// checkText checks the words of a text whose first line has a number.
func (r retired) checkText(name string, line int, text string) (problems []string) {
	for each := range strings.Lines(text) {
		var words []string
		for _, written := range wordPattern.FindAllString(each, -1) {
			words = append(words, identifierWords(written)...)
		}
		if word := r.find(words); word != "" {
			problems = append(problems, fmt.Sprintf("%s:%d: the text has the retired word %q", name, line, word))
		}
		line++
	}
	return problems
}

// find returns the first retired word. "In flight" is a standard term.
func (r retired) find(words []string) string {
	before := ""
	for _, word := range words {
		switch {
		case before == "in" && word == "flight":
		case r[word]:
			return word
		case r[before+" "+word]:
			return before + " " + word
		}
		before = word
	}
	return ""
}

// identifierWords splits an identifier into its words, in lower case: at
// underscores, dots, digits, and where an upper-case letter follows a lower-case one.
func identifierWords(name string) (words []string) {
	var word strings.Builder
	flush := func() {
		if word.Len() > 0 {
			words = append(words, strings.ToLower(word.String()))
			word.Reset()
		}
	}
	letters := []rune(name)
	for i, letter := range letters {
		begins := unicode.IsUpper(letter) && i > 0 &&
			(unicode.IsLower(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if !unicode.IsLetter(letter) || begins {
			flush()
		}
		if unicode.IsLetter(letter) {
			word.WriteRune(letter)
		}
	}
	flush()
	return words
}

func TestGlossaryCheckFindsRetiredWords(t *testing.T) {
	check := newRetired([]string{"desk", "waitingRoom", "flight"})
	for _, test := range []struct{ file, text, want string }{
		{"engine/loop.go", "package engine\n\nfunc run() {}\n", ""},
		{"engine/loop.go", "package engine\n\nfunc newDesk() {}\n", "engine/loop.go:3: the identifier newDesk"},
		{"engine/loop.go", "package engine\n\nvar x = 1 // the desks\n", `engine/loop.go:3: the text has the retired word "desks"`},
		{"engine/loop.go", "package engine\n\nvar waitingRoomMax = 1\n", "the identifier waitingRoomMax"},
		{"engine/desk_test.go", "package engine\n", "the file name has"},
		{"docs/a.md", "one\nthe desk\n", "docs/a.md:2"},
		{"docs/a.md", "batches in flight\n", ""},
		{"docs/a.md", "one flight\n", "docs/a.md:1"},
		{"CONTRIBUTING.md", "a\n\n" + retiredHeading + "\n\n| desk | dispatcher |\n\n## Next\nb\n", ""},
		{"store/sqlite/migrations/0001_desk.sql", "desk", ""},
		{"engine/loop.go", "package engine\n\nvar desktop = 1 // desktop\n", ""},
	} {
		problems, err := check.checkTree(fstest.MapFS{test.file: {Data: []byte(test.text)}})
		got := strings.Join(problems, "; ")
		if err != nil || (test.want == "") != (got == "") || !strings.Contains(got, test.want) {
			t.Errorf("%s with %q: got %q, %v; want %q", test.file, test.text, got, err, test.want)
		}
	}
}
