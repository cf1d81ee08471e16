package dynamo

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// docs/dynamodb.md names the right to each operation that the code uses, and no others.
func TestDocumentedPolicyHasEachOperation(t *testing.T) {
	page, err := os.ReadFile("../../docs/dynamodb.md")
	must(t, err)
	documented := map[string]bool{}
	for _, match := range regexp.MustCompile(`dynamodb:([A-Z]\w+)`).FindAllStringSubmatch(string(page), -1) {
		documented[match[1]] = true
	}
	used := map[string]bool{"ConditionCheckItem": true} // in transactions, whose writes need the rights of single writes
	files, err := filepath.Glob("*.go")
	must(t, err)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		must(t, err)
		for _, match := range regexp.MustCompile(`client\.([A-Z]\w+)\(ctx`).FindAllStringSubmatch(string(text), -1) {
			if match[1] != "TransactWriteItems" {
				used[match[1]] = true
			}
		}
	}
	for operation := range used {
		if !documented[operation] {
			t.Errorf("the page does not name the right to %s", operation)
		}
	}
	for operation := range documented {
		if !used[operation] {
			t.Errorf("the page names the right to %s, which is not used", operation)
		}
	}
}
