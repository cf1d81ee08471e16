package session_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/system"
)

const referencePath = "../../docs/reference/sql.md"

var (
	tablesPart = regexp.MustCompile(`(?s)<!-- tables -->\n.*<!-- end -->`)
	sqlPart    = regexp.MustCompile("(?s)```sql\n(.*?)```")
)

// TestReference checks that the page lists every column of every table and that its SQL examples can be
// parsed.
func TestReference(t *testing.T) {
	page, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	want := tablesPart.ReplaceAllLiteralString(string(page), "<!-- tables -->\n"+tablesMarkdown()+"<!-- end -->")
	if *update {
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(page) {
		t.Errorf("%s does not list the tables as they are; go test ./console -run TestReference -update", referencePath)
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
