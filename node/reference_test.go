package node

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the reference pages")

// TestConfigReference checks the table in docs/reference/config.md.
func TestConfigReference(t *testing.T) {
	var b strings.Builder
	b.WriteString("| setting | flag | variable | default | sets |\n|---|---|---|---|---|\n")
	for _, s := range Settings() {
		flag := "–"
		if s.Flag() != "" {
			flag = "`--" + s.Flag() + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | `%s` | `%s` | %s: %s |\n", s.Key, flag, s.Variable(), s.Default(), s.About, s.Allowed)
	}
	checkPage(t, "../docs/reference/config.md", b.String())
}

// checkPage compares the first table below the mark of a page with the given one;
// with -update it writes the table.
func checkPage(t *testing.T, page, table string) {
	t.Helper()
	const mark = "<!-- made from the program: go test ./node -run Reference -update -->\n\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), mark)
	if !found {
		t.Fatalf("%s has no line\n%s", page, mark)
	}
	old, tail, _ := strings.Cut(rest, "\n\n")
	if old+"\n" == table {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: run the test with -update and read the diff", page)
	}
	if err := os.WriteFile(page, []byte(head+mark+table+"\n"+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
