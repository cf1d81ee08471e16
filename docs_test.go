package rota_test

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// The page of limits must have each constant of limits.go with its value.
func TestEveryLimitIsDocumented(t *testing.T) {
	shown := map[string]string{}
	row := regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]+) \\| [^|]+ \\|$")
	for _, match := range row.FindAllStringSubmatch(readDoc(t, "docs/reference/limits-and-defaults.md"), -1) {
		if shown[match[1]] != "" {
			t.Errorf("%s stands there twice", match[1])
		}
		shown[match[1]] = match[2]
	}
	constants := constantsOf(t, "limits.go")
	for name, value := range constants {
		if ways := written(value); ast.IsExported(name) && !slices.Contains(ways, shown[name]) {
			t.Errorf("%s is shown as %q, want one of %q", name, shown[name], ways)
		}
	}
	for name := range shown {
		if constants[name] == nil {
			t.Errorf("%s is shown, but limits.go has no such constant", name)
		}
	}
}

// constantsOf evaluates the constants of a file.
func constantsOf(t *testing.T, file string) map[string]constant.Value {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	exprs := map[string]ast.Expr{}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if spec, is := n.(*ast.ValueSpec); is && len(spec.Names) == len(spec.Values) {
			for i, name := range spec.Names {
				exprs[name.Name] = spec.Values[i]
			}
		}
		return true
	})
	values := map[string]constant.Value{}
	for name, expr := range exprs {
		values[name] = evaluate(t, expr, exprs)
	}
	if len(values) == 0 {
		t.Fatal("no constants in", file)
	}
	return values
}

func evaluate(t *testing.T, expr ast.Expr, names map[string]ast.Expr) constant.Value {
	t.Helper()
	switch e := expr.(type) {
	case *ast.BasicLit:
		return constant.MakeFromLiteral(e.Value, e.Kind, 0)
	case *ast.Ident:
		return evaluate(t, names[e.Name], names)
	case *ast.UnaryExpr:
		return constant.UnaryOp(e.Op, evaluate(t, e.X, names), 0)
	case *ast.BinaryExpr:
		x, y := evaluate(t, e.X, names), evaluate(t, e.Y, names)
		if e.Op == token.SHL {
			by, _ := constant.Uint64Val(y)
			return constant.Shift(x, e.Op, uint(by))
		}
		return constant.BinaryOp(x, e.Op, y)
	case *ast.SelectorExpr:
		units := map[string]time.Duration{"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour}
		if unit := units[e.Sel.Name]; unit != 0 {
			return constant.MakeInt64(int64(unit))
		}
	}
	t.Fatalf("cannot evaluate %T", expr)
	return nil
}

// written returns the forms in which a page may show a value.
func written(value constant.Value) []string {
	if value.Kind() == constant.String {
		return []string{constant.StringVal(value)}
	}
	n, _ := constant.Int64Val(value)
	ways := []string{fmt.Sprint(n), thousands(n), brief(time.Duration(n))}
	for unit, size := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "days": int64(24 * time.Hour)} {
		if n%size == 0 {
			ways = append(ways, fmt.Sprintf("%d %s", n/size, unit))
		}
	}
	return ways
}

func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// brief formats a duration without zero parts.
func brief(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = text[:len(text)-2]
		}
	}
	return text
}

// The pages must have each reason, in order, and each error code.
func TestEveryCodeIsDocumented(t *testing.T) {
	page := readDoc(t, "docs/reference/explain.md")
	reasons, errors, runs := section(t, page, "Why a job"), section(t, page, "What an error"), section(t, page, "What the error code")
	last := 0
	for _, code := range rota.ReasonCodes {
		at := strings.Index(reasons, "\n| `"+string(code)+"` | ")
		if at < last {
			t.Errorf("the reason %s is not there, or out of order", code)
		}
		last = max(last, at)
	}
	for _, code := range rota.Codes {
		if !strings.Contains(errors, "\n| `"+string(code)+"` | ") {
			t.Errorf("the code %s is not there", code)
		}
	}
	for _, code := range []string{
		rota.CodeTimeout, rota.CodeLeaseExpired, rota.CodeShutdown, rota.CodeCancelled,
		rota.CodeOverlap, rota.CodeDependency, rota.CodeGroup,
	} {
		if !strings.Contains(runs, "\n| `"+code+"` | ") {
			t.Errorf("the code %s of a run is not there", code)
		}
	}
}

func section(t *testing.T, page, title string) string {
	t.Helper()
	_, text, found := strings.Cut(page, "\n## "+title)
	if !found {
		t.Fatalf("there is no section %s", title)
	}
	text, _, _ = strings.Cut(text, "\n## ")
	return text
}

// Each function on these pages must be in an example test, so that it is compiled and run.
func TestPagesQuoteExamples(t *testing.T) {
	examples := ""
	for _, pattern := range []string{
		"example*_test.go", "engine/example*_test.go", "store/sqlite/example*_test.go", "store/postgres/example*_test.go",
		"node/example*_test.go", "client/example_test.go", "runlog/example_test.go", "report/example_test.go", "telemetry/example_test.go",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			examples += readDoc(t, file)
		}
	}
	quoted, pages := 0, readDoc(t, "docs/embedding.md")+readDoc(t, "docs/coming-from-river.md")
	for _, block := range regexp.MustCompile("(?s)```go\n(// .*?)```").FindAllStringSubmatch(pages, -1) {
		for i, function := range strings.Split(block[1], "\n\n// ") {
			if i > 0 {
				function = "// " + function
			}
			if !strings.Contains(examples, strings.TrimSpace(function)) {
				t.Errorf("no example has\n%s", function)
			}
			quoted++
		}
	}
	if quoted < 20 {
		t.Errorf("only %d functions were found", quoted)
	}
}

// Every link between pages must have a target.
func TestLinksBetweenPagesHaveTargets(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:, ]*)(#[^)]*)?\)`)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob("docs/*/*.md")
	if err != nil {
		t.Fatal(err)
	}
	measurements, err := filepath.Glob("docs/decisions/measurements/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range slices.Concat(pages, deeper, measurements, []string{"README.md", "CHANGELOG.md"}) {
		for _, match := range link.FindAllStringSubmatch(readDoc(t, page), -1) {
			target := page
			if match[1] != "" {
				target = filepath.Join(filepath.Dir(page), match[1])
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s links to %s, which is not there", page, match[1])
			} else if match[2] != "" && !slices.Contains(anchorsOf(readDoc(t, target)), match[2]) {
				t.Errorf("%s links to %s%s, but that has no such heading", page, match[1], match[2])
			}
		}
	}
}

// anchorsOf returns the anchors of the headings of a page.
func anchorsOf(page string) (anchors []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		kept := regexp.MustCompile(`[^\w\- ]`).ReplaceAllString(strings.ToLower(heading[1]), "")
		anchors = append(anchors, "#"+strings.ReplaceAll(kept, " ", "-"))
	}
	return anchors
}

func readDoc(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
