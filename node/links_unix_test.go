//go:build unix

package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// linkTo creates a link in a new data directory to a file with a text, outside of it.
func linkTo(t *testing.T, name string, link func(target, path string) error) (data, victim string) {
	t.Helper()
	data, victim = t.TempDir(), filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := link(victim, filepath.Join(data, name)); err != nil {
		t.Fatal(err)
	}
	return data, victim
}

func TestLockThatIsALinkIsNotWritten(t *testing.T) {
	for kind, link := range map[string]func(string, string) error{"symbolic": os.Symlink, "hard": os.Link} {
		for _, name := range []string{lockName, "rota.db.lock"} {
			data, victim := linkTo(t, name, link)
			_, err := Open(t.Context(), Config{Data: data, HTTP: "127.0.0.1:0", SQL: noPort, Logger: quiet})
			if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "link") {
				t.Errorf("%s link %s: %v", kind, name, err)
			}
			if text, _ := os.ReadFile(victim); string(text) != "keep" {
				t.Errorf("the file behind the %s link %s became %q", kind, name, text)
			}
		}
	}
}

func TestScratchDirectoryThatIsALinkIsNotEmptied(t *testing.T) {
	data, outside := t.TempDir(), t.TempDir()
	kept := filepath.Join(outside, backupPrefix+"1")
	if err := os.WriteFile(kept, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(data, scratchName)); err != nil {
		t.Fatal(err)
	}
	if _, err := emptyScratch(data); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), scratchName) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(kept); err != nil {
		t.Error(err)
	}
}

// The server does not start if it could not write any log.
func TestLogsThatAreALinkAreRefusedAtStart(t *testing.T) {
	for _, name := range []string{logsName, filepath.Join(logsName, "2026-11-18")} {
		data := t.TempDir()
		link := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(t.TempDir(), link); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), Config{Data: data, HTTP: "127.0.0.1:0", SQL: noPort, Logger: quiet})
		if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), link) || !strings.Contains(err.Error(), "symbolic link") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The server replaces rota.addr and a missing admin.token, and does not write through links of these names.
func TestAddressesAreNotWrittenThroughLinks(t *testing.T) {
	data, victim := linkTo(t, addrName, os.Symlink)
	start(t, Config{Data: data})
	if text, _ := os.ReadFile(victim); string(text) != "keep" {
		t.Errorf("the file behind the link became %q", text)
	}
}
