package secret_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rotajobs/rota/secret"
)

// TestKeysLeftByAKilledProcessAreRemoved: a process that was killed before it renamed the file has left a copy of keys.
func TestKeysLeftByAKilledProcessAreRemoved(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".master.key-12345")
	if err := os.WriteFile(left, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := secret.Load(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Primary(""); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
}
