//go:build unix

package sqlite

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func TestStoreWithSecondNameIsRefusedForWriting(t *testing.T) {
	dir := t.TempDir()
	path, second := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	s, err := OpenWith(path, Config{Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(path, second); err != nil {
		t.Fatal(err)
	}
	soft := filepath.Join(dir, "soft.db")
	if err := os.Symlink(path, soft); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, second, soft} {
		if _, err := OpenWith(name, Config{Logger: quiet}); rota.CodeOf(err) != rota.Conflict || !strings.Contains(err.Error(), "2 names") || !strings.Contains(err.Error(), "--allow-links") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, config := range []Config{{AllowLinks: true}, {ReadOnly: true}} {
		config.Logger = quiet
		s, err := OpenWith(path, config)
		if err != nil {
			t.Fatalf("%+v: %v", config, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	s, err = OpenWith(soft, Config{Logger: quiet}) // a symbolic link is no second name
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
