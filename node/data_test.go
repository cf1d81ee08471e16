package node

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

var quiet = slog.New(slog.DiscardHandler)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestTokenIsCreatedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.token")
	first, err := openToken(path, quiet)
	if err != nil || len(first) != 64 {
		t.Fatalf("%d characters, %v", len(first), err)
	}
	if got := mode(t, path); got != 0o600 {
		t.Errorf("mode %v", got)
	}
	again, err := openToken(path, quiet)
	if err != nil || again != first {
		t.Errorf("the second start has another token: %v", err)
	}
	other, err := openToken(filepath.Join(t.TempDir(), "admin.token"), quiet)
	if err != nil || other == first {
		t.Error("two directories have the same token")
	}
}

func TestInvalidTokenFileIsRefused(t *testing.T) {
	for _, row := range []struct {
		text string
		mode os.FileMode
		want string
	}{
		{"", 0o600, "empty"},
		{"\n \n", 0o600, "empty"},
		{"short\n", 0o600, "5 characters"},
		{strings.Repeat("x", 31), 0o600, "at least 32"},
		{strings.Repeat("x", 5000), 0o600, "more than 4096"},
		{strings.Repeat("x y ", 20), 0o600, "visible ASCII"},
		{strings.Repeat("ä", 40), 0o600, "visible ASCII"},
		{strings.Repeat("x", 64), 0o644, "chmod 600"},
		{strings.Repeat("x", 64), 0o660, "chmod 600"},
	} {
		path := filepath.Join(t.TempDir(), "admin.token")
		if err := os.WriteFile(path, []byte(row.text), row.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, row.mode); err != nil { // whatever the mask
			t.Fatal(err)
		}
		_, err := openToken(path, quiet)
		if rota.CodeOf(err) != rota.Invalid || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%.10q: %v, want it to name the file and %q", row.text, err, row.want)
		}
		if len(row.text) > 40 && err != nil && strings.Contains(err.Error(), row.text[:40]) {
			t.Errorf("the error shows the token: %v", err)
		}
	}
	path := filepath.Join(t.TempDir(), "admin.token")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := openToken(path, quiet); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a directory: %v", err)
	}
}

func TestGroupReadableTokenLogsWarning(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.token")
	if err := os.WriteFile(path, []byte(strings.Repeat("x", 64)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := openToken(path, slog.New(slog.NewTextHandler(&b, nil))); err != nil || !strings.Contains(b.String(), "chmod 600") {
		t.Errorf("%v, %s", err, &b)
	}
}

func TestDataDirectoryIsPrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := openData(dir, quiet); err != nil || mode(t, dir) != 0o700 {
		t.Errorf("%v, mode %v", err, mode(t, dir))
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := openData(dir, slog.New(slog.NewTextHandler(&b, nil))); err != nil || !strings.Contains(b.String(), "chmod 700") {
		t.Errorf("a directory that others may read: %v, %s", err, &b)
	}
}

func TestUnusableDataDirectoryIsUnavailable(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below"), "/proc/no/such"} {
		if err := openData(dir, quiet); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "--data") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestLockErrorNamesHolder(t *testing.T) {
	dir := t.TempDir()
	lock, err := lockData(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lockData(dir); rota.CodeOf(err) != rota.Busy || !strings.Contains(err.Error(), strconv.Itoa(os.Getpid())) {
		t.Errorf("%v, want the process id", err)
	}
	if err := lock.release(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(dir, lockName)); len(text) > 0 || err != nil {
		t.Errorf("after its release the file contains %q, %v, want no process id", text, err)
	}
	again, err := lockData(dir)
	if err != nil {
		t.Fatal("after its release:", err)
	}
	_ = again.release()
}

// TestScratchDirectoryIsEmptiedAtStart: only files of backups are removed, because
// other programs may use the directory, too.
func TestScratchDirectoryIsEmptiedAtStart(t *testing.T) {
	data := t.TempDir()
	ours := []string{"rota.scratch/rota-backup-123/rota.db", "rota.scratch/rota-backup-9"}
	theirs := []string{"tmp/half.db", "rota.scratch/notes.txt", "rota.scratch/backup/rota.db"}
	for _, name := range append(ours, theirs...) {
		path := filepath.Join(data, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := emptyScratch(data); err != nil {
		t.Fatal(err)
	}
	for _, name := range ours {
		if _, err := os.Stat(filepath.Join(data, name)); err == nil {
			t.Errorf("%s stays", name)
		}
	}
	for _, name := range theirs {
		if _, err := os.Stat(filepath.Join(data, name)); err != nil {
			t.Errorf("a file of another program was removed: %v", err)
		}
	}
}

func TestAddressFileIsReplacedAtomically(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rota.addr")
	for _, address := range []string{"127.0.0.1:1", "127.0.0.1:2"} {
		if err := writeAddr(path, addressFile{HTTP: address}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		var got map[string]string
		if err != nil || json.Unmarshal(text, &got) != nil || len(got) != 1 || got["http"] != address {
			t.Errorf("%s, %v", text, err)
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
		t.Errorf("%d files, want 1", len(entries))
	}
	for range 2 {
		if err := removeAddr(path); err != nil {
			t.Error(err)
		}
	}
}

func TestListenErrorNamesCause(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String(): "another program already listens there",
		"192.0.2.1:80":        "no interface of this machine",
		"no.such.invalid:80":  "cannot be listened on",
	} {
		_, err := listen(address, "--http")
		if rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), address) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "--http") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// TestAdminTokenOfEnvironmentIsStoredAtFirstStart: the variable sets the token of a new data directory and never changes one.
func TestAdminTokenOfEnvironmentIsStoredAtFirstStart(t *testing.T) {
	wanted := strings.Repeat("a1", 32)
	config, err := Load("", func(name string) string {
		if name == "ROTA_ADMIN_TOKEN" {
			return wanted
		}
		return ""
	})
	if err != nil || config.AdminToken != wanted {
		t.Fatalf("the configuration has the token %q, %v", config.AdminToken, err)
	}
	if names := MisspelledVariables([]string{"ROTA_ADMIN_TOKEN=x"}); len(names) > 0 {
		t.Errorf("a warning about %v", names)
	}
	path := filepath.Join(t.TempDir(), "admin.token")
	if err := seedToken(path, wanted, quiet); err != nil {
		t.Fatal(err)
	}
	if got, err := openToken(path, quiet); err != nil || got != wanted {
		t.Errorf("the token is %s, %v", got, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	var b bytes.Buffer
	if err := seedToken(path, strings.Repeat("b2", 32), slog.New(slog.NewTextHandler(&b, nil))); err != nil || !strings.Contains(b.String(), "differs") || strings.Contains(b.String(), "b2b2") {
		t.Errorf("a second token: %v, log %s", err, b.String())
	}
	if got, _ := openToken(path, quiet); got != wanted {
		t.Errorf("the second start changed the token to %s", got)
	}
	for _, bad := range []string{"short", strings.Repeat("x", 31), strings.Repeat("x", 32) + " y"} {
		if err := seedToken(filepath.Join(t.TempDir(), "admin.token"), bad, quiet); rota.CodeOf(err) != rota.Invalid || strings.Contains(err.Error(), bad) {
			t.Errorf("the token %q: %v", bad, err)
		}
	}
}
