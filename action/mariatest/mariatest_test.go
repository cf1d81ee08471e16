package mariatest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestServerAnswersAndCloseRemovesItsDirectory(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if rows := Query(t, s.URL("mysql"), "SELECT 1, NULL"); len(rows) != 1 || rows[0][0] != "1" || rows[0][1] != "" {
		t.Errorf("%q", rows)
	}
	if abandoned(s.dir) {
		t.Error("the directory of a running server counts as abandoned")
	}
	s.Close()
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("Close did not remove the directory: %v", err)
	}
}

func TestDirectoryOfEndedServerIsRemoved(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux reports whether a process has ended")
	}
	parent := t.TempDir()
	left, young := filepath.Join(parent, dirPrefix+"left"), filepath.Join(parent, dirPrefix+"young")
	for _, dir := range []string{left, young} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, pidName), []byte("99999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	removeAbandoned(parent)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("the directory of a killed test was not removed")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a new directory was removed")
	}
}
