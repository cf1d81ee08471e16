package drivertest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// varying are the values that differ from run to run, and their placeholders in transcripts.
var varying = []struct {
	what *regexp.Regexp
	name string
}{
	{regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`), "<uuid>"},
	{regexp.MustCompile(`\b20[2-4]\d-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?`), "<time>"},
	{regexp.MustCompile(`\b1[789]\d{11}\b`), "<ms>"},
	{regexp.MustCompile(`port "\d+"`), `port "<port>"`},
}

// maskVarying replaces the values that differ from run to run.
func maskVarying(text string) string {
	for _, v := range varying {
		text = v.what.ReplaceAllString(text, v.name)
	}
	return text
}

// golden compares a transcript with a file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	got = maskVarying(got)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Errorf("%s, line %d:\n got %s\nwant %s\n(go test -update rewrites it)", path, i+1, a[i], b[i])
			return
		}
	}
	t.Errorf("%s: got %d lines, want %d", path, len(a), len(b))
}
