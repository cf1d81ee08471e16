package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportOfSecrets exports sealed secrets, and imports them into the same server and into another one.
func TestExportOfSecrets(t *testing.T) {
	here, there := startServer(t), startServer(t)
	here.must("schedule create backup --type noop --every 24h")
	_, errs, code := here.runWith("secret set backup/DB_PASSWORD", terminal{}, map[string]string{"STDIN": "Sw0rd-fish-42\n"})
	if code != exitDone {
		t.Fatal(errs)
	}
	if out := here.must("export"); strings.Contains(out, "DB_PASSWORD") || strings.Contains(out, "sealed:") {
		t.Errorf("an export without --secrets has %s", out)
	}
	if _, errs, _ := here.runWith("export", terminal{}, nil); !strings.Contains(errs, "the secrets of templates are not exported; add --secrets") {
		t.Errorf("an export without --secrets prints %q", errs)
	}
	if script := here.must("export -o sql"); !strings.Contains(script, "-- secret backup/DB_PASSWORD is left out") || !strings.Contains(script, "rota secret set backup/DB_PASSWORD") ||
		strings.Contains(script, "sealed:") || strings.Contains(script, "Sw0rd") {
		t.Errorf("as SQL: %s", script)
	}
	file := filepath.Join(t.TempDir(), "all.yaml")
	here.must("export --secrets " + file)
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "DB_PASSWORD: sealed:v1:") || !strings.Contains(string(text), "same master.key") || strings.Contains(string(text), "Sw0rd") {
		t.Errorf("%s, %v", text, err)
	}
	_, errs, code = there.runWith("import "+file, terminal{}, nil)
	if code != exitUsage || !strings.Contains(errs, "templates.backup.secrets.DB_PASSWORD: secret backup/DB_PASSWORD is sealed with the key") ||
		!strings.Contains(errs, "remove it from the document, and set it afterwards: rota secret set backup/DB_PASSWORD") {
		t.Errorf("import into another server exits with %d: %s", code, errs)
	}
	if out := there.must("export -o json"); strings.Contains(out, "backup") {
		t.Errorf("the refused import left %s", out)
	}
	here.must("secret delete backup/DB_PASSWORD --yes")
	if out := here.must("import " + file); !strings.Contains(out, "1 changed") {
		t.Error(out)
	}
	if out := here.must("secret list backup"); !strings.Contains(out, "DB_PASSWORD") {
		t.Error(out)
	}
	if out := here.must("import " + file); !strings.Contains(out, "2 unchanged") {
		t.Error(out)
	}
	if out := here.must("secret rotate"); !strings.Contains(out, "1 value sealed again, 1 key removed") {
		t.Error(out)
	}
}
