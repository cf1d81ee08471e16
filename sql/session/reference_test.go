package session_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
	"github.com/rotajobs/rota/sql/translate"
)

const referencePath = "../../docs/reference/sql.md"

var (
	tablesPart    = regexp.MustCompile(`(?s)<!-- tables -->\n.*?<!-- end -->`)
	functionsPart = regexp.MustCompile(`(?s)<!-- functions -->\n.*?<!-- end -->`)
	sqlPart       = regexp.MustCompile("(?s)```sql\n(.*?)```")
)

// TestReference checks that the page lists every column of every table and every function, and that its SQL examples can be
// parsed.
func TestReference(t *testing.T) {
	page, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	want := tablesPart.ReplaceAllLiteralString(string(page), "<!-- tables -->\n"+tablesMarkdown()+"<!-- end -->")
	want = functionsPart.ReplaceAllLiteralString(want, "<!-- functions -->\n"+functionsMarkdown()+"<!-- end -->")
	if *update {
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s does not list the tables and functions as they are; go test ./sql/session -run TestReference -update", referencePath)
	}
	for _, part := range sqlPart.FindAllStringSubmatch(string(page), -1) {
		sources, err := ddl.Split(part[1])
		if err != nil {
			t.Error(err)
		}
		for _, one := range sources {
			if _, err := ddl.Parse(one.Text); err != nil {
				t.Errorf("%s: %v", one.Text, err)
			}
		}
	}
}

func tablesMarkdown() string {
	var out strings.Builder
	out.WriteString("| table | columns |\n|---|---|\n")
	all := system.Tables()
	for _, name := range system.TableNames() {
		var columns []string
		for _, c := range all[name] {
			columns = append(columns, fmt.Sprintf("`%s` %s", c.Name, c.Kind))
		}
		fmt.Fprintf(&out, "| `sys.%s` | %s |\n", name, strings.Join(columns, ", "))
	}
	return out.String()
}

func functionsMarkdown() string {
	var out strings.Builder
	out.WriteString("| functions | |\n|---|---|\n")
	for _, of := range []struct{ title, class string }{
		{"of values", ""}, {"that return rows", "set"}, {"aggregates", "aggregate"}, {"ordered-set aggregates", "within"}, {"windows", "over"},
	} {
		fmt.Fprintf(&out, "| %s | `%s` |\n", of.title, strings.Join(translate.FunctionNames(of.class), "`, `"))
	}
	return out.String()
}
