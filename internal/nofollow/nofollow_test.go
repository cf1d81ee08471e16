//go:build unix

package nofollow_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/rotajobs/rota/internal/nofollow"
)

const create = os.O_RDWR | os.O_CREATE | os.O_APPEND

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestLinksAreRefused(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	victim := filepath.Join(outside, "victim")
	must(t, os.WriteFile(victim, []byte("keep"), 0o600))
	must(t, os.Symlink(victim, filepath.Join(dir, "soft")))
	must(t, os.Symlink(filepath.Join(outside, "new"), filepath.Join(dir, "dangling")))
	must(t, os.Link(victim, filepath.Join(dir, "hard")))
	must(t, os.Symlink(outside, filepath.Join(dir, "day")))
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(t, os.Link(victim, filepath.Join(dir, "real", "hard")))
	must(t, os.Symlink(outside, filepath.Join(dir, "real", "deep")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for _, name := range []string{"soft", "dangling", "day/x.log", "day/new/x.log", "real/deep/x.log", "pipe", "hard", "real/hard"} {
		if file, err := nofollow.OpenIn(dir, name, create, 0o600); !errors.Is(err, nofollow.ErrLink) {
			t.Errorf("%s: %v, %v", name, file, err)
		}
	}
	if file, err := nofollow.OpenFile(filepath.Join(dir, "hard"), create, 0o600); !errors.Is(err, nofollow.ErrLink) {
		t.Errorf("a file with a second name: %v, %v", file, err)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside are %v, %v", entries, err)
	}
	if file, err := nofollow.OpenIn(dir, "hard", os.O_RDONLY, 0); !errors.Is(err, nofollow.ErrLink) {
		t.Errorf("a file with a second name is read: %v, %v", file, err)
	}
}

func TestDirectoriesAreOpenedWithoutFollowingLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "real"), 0o700))
	must(t, os.Symlink(outside, filepath.Join(dir, "out")))
	must(t, os.Symlink("real", filepath.Join(dir, "in")))
	must(t, os.WriteFile(filepath.Join(dir, "file"), nil, 0o600))
	parent, err := nofollow.OpenDir(dir)
	must(t, err)
	defer parent.Close()
	for name, want := range map[string]error{"out": nofollow.ErrLink, "in": nofollow.ErrLink, "real": nil, "file": fs.ErrExist, "none": fs.ErrNotExist} {
		for how, open := range map[string]func() (*os.Root, error){
			"OpenDir":   func() (*os.Root, error) { return nofollow.OpenDir(filepath.Join(dir, name)) },
			"OpenDirIn": func() (*os.Root, error) { return nofollow.OpenDirIn(parent, name) },
		} {
			root, err := open()
			if !errors.Is(err, want) {
				t.Errorf("%s of %s: %v, want %v", how, name, err, want)
			}
			if err == nil {
				must(t, root.Close())
			}
		}
	}
}

// What a caller removes in an open directory is removed there, although a link now has the name of the directory.
func TestReplacedDirectoryIsNotUsed(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for _, place := range []string{filepath.Join(dir, "logs"), outside} {
		must(t, os.MkdirAll(place, 0o700))
		must(t, os.WriteFile(filepath.Join(place, "a.log"), nil, 0o600))
	}
	root, err := nofollow.OpenDir(filepath.Join(dir, "logs"))
	must(t, err)
	defer root.Close()
	must(t, os.Rename(filepath.Join(dir, "logs"), filepath.Join(dir, "moved")))
	must(t, os.Symlink(outside, filepath.Join(dir, "logs")))
	must(t, root.Remove("a.log"))
	_, err = os.Stat(filepath.Join(outside, "a.log"))
	must(t, err)
	if _, err := os.Stat(filepath.Join(dir, "moved", "a.log")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
}

func TestFilesAndDirectoriesAreCreated(t *testing.T) {
	dir := t.TempDir()
	if _, err := nofollow.OpenIn(dir, "logs/2026-11-18/a.log", os.O_RDONLY, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
	for range 2 {
		file, err := nofollow.OpenIn(dir, "logs/2026-11-18/a.log", create, 0o600)
		must(t, err)
		_, err = file.WriteString("line\n")
		must(t, err)
		must(t, file.Close())
	}
	text, err := os.ReadFile(filepath.Join(dir, "logs", "2026-11-18", "a.log"))
	if string(text) != "line\nline\n" {
		t.Errorf("%q, %v", text, err)
	}
	link := filepath.Join(t.TempDir(), "data") // the data directory itself may be a link
	must(t, os.Symlink(dir, link))
	file, err := nofollow.OpenFile(filepath.Join(link, "rota.lock"), create, 0o600)
	must(t, err)
	must(t, file.Close())
}
