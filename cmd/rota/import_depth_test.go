package main

import (
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/yamlfile"
)

// TestDocumentsBeyondDepthLimitAreRefused: the error names the line, and comes before the parser needs time and memory
// quadratic in the depth. A document at the limit is read.
func TestDocumentsBeyondDepthLimitAreRefused(t *testing.T) {
	list := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	for name, text := range map[string]string{
		"lists":      "version: 1\na: " + list(yamlfile.DepthMax+1),
		"objects":    "version: 1\na: " + strings.Repeat("{a: ", 50_000) + strings.Repeat("}", 50_000),
		"dashes":     "version: 1\na:\n" + strings.Repeat("- ", 50_000) + "x",
		"not closed": "version: 1\na: " + strings.Repeat("[", 100_000),
	} {
		_, err := readDocument("f.yaml", []byte(text))
		if exitCode(err) != exitUsage || !strings.HasSuffix(err.Error(), ": nested more than 510 levels deep") || !strings.HasPrefix(err.Error(), "f.yaml:") ||
			strings.HasPrefix(err.Error(), "f.yaml:1:") {
			t.Errorf("%s: %.200v", name, err)
		}
	}
	if _, err := readDocument("f.yaml", []byte("a: "+list(yamlfile.DepthMax))); err != nil {
		t.Error(err)
	}
}

// TestPathsOfNestedDocumentAreBounded: without a bound the paths of a deep document would need quadratic memory.
func TestPathsOfNestedDocumentAreBounded(t *testing.T) {
	name := strings.Repeat("n", 500)
	text := "a: " + strings.Repeat("{"+name+": ", 400) + "1" + strings.Repeat("}", 400)
	d, err := readDocument("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for path := range d.lines {
		if len(path) > pathMax+len(name)+1 {
			t.Fatalf("a path has %d bytes", len(path))
		}
	}
}
