package mariatest

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

func TestAServerAnswersAndLeavesNothing(t *testing.T) {
	s, err := Start()
	if err != nil {
		t.Fatal(err)
	}
	if rows := Query(t, s.URL("mysql"), "SELECT 1, NULL"); len(rows) != 1 || rows[0][0] != "1" || rows[0][1] != "" {
		t.Errorf("%q", rows)
	}
	if abandoned(s.dir) {
		t.Error("a home is taken for abandoned whose server runs")
	}
	s.Close()
	if _, err := os.Stat(s.dir); !os.IsNotExist(err) {
		t.Errorf("its directory is left: %v", err)
	}
}

func TestAHomeWhoseServerIsGoneIsSwept(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only there is it known who is gone")
	}
	parent := t.TempDir()
	left, young := filepath.Join(parent, homePrefix+"left"), filepath.Join(parent, homePrefix+"young")
	for _, dir := range []string{left, young} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(left, pidName), []byte("99999999\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sweep(parent)
	if _, err := os.Stat(left); !os.IsNotExist(err) {
		t.Error("what a killed test left is still there")
	}
	if _, err := os.Stat(young); err != nil {
		t.Error("a home that is being made was removed")
	}
}
