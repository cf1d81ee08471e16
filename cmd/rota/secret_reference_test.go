package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCommandsRefuseMalformedReferencesToSecrets: each names the field and the remedy, and not the header.
func TestCommandsRefuseMalformedReferencesToSecrets(t *testing.T) {
	s := startServer(t)
	file := filepath.Join(t.TempDir(), "definitions.yaml")
	document := "templates:\n  call:\n    type: http\n    default_params:\n      url: https://example.org/\n      headers: {X-Key: 'hunter2 ${secret:KEY'}\n"
	if err := os.WriteFile(file, []byte(document), 0o600); err != nil {
		t.Fatal(err)
	}
	const params = ` http -p url=https://example.org/ -p headers={"X-Key":"hunter2-${secret:KEY"}`
	for line, field := range map[string]string{
		"job create" + params:                             "params.headers.X-Key",
		"template create call --type" + params:            "default_params.headers.X-Key",
		"schedule create call --every 1h --type" + params: "default_params.headers.X-Key",
		"import " + file:                                  "templates.call.default_params.headers.X-Key",
	} {
		out, errs, code := s.runWith(line, terminal{}, nil)
		want := field + ": has a reference to a secret without } at its end; write ${secret:KEY} with the key of a secret of the template"
		if code != exitUsage || !strings.Contains(errs, want) || strings.Contains(out+errs, "hunter2") {
			t.Errorf("%s exits with %d: %s%s", line, code, out, errs)
		}
	}
}
