package main

import (
	"maps"
	"strings"
	"testing"
)

// TestSecretIsAskedForWithoutEcho types the value on a terminal, which does not show it.
func TestSecretIsAskedForWithoutEcho(t *testing.T) {
	s := startServer(t)
	s.must("template create backup --type noop")
	shown, code := onTerminalAt(t, nil, "Value of backup/DB_PASSWORD: ", "swordfish 42\n", "secret", "set", "backup/DB_PASSWORD", "--data", s.data)
	if code != exitDone || !strings.Contains(shown, "set secret backup/DB_PASSWORD") || strings.Contains(shown, "sword") {
		t.Errorf("it exits with %d:\n%s", code, shown)
	}
	shown, code = onTerminalAt(t, nil, "Value of backup/OTHER: ", "\n", "secret", "set", "backup/OTHER", "--data", s.data)
	if code != exitUsage || !strings.Contains(shown, "the value is empty") {
		t.Errorf("it exits with %d:\n%s", code, shown)
	}
	long := strings.Repeat("0123456789", 1_000) // more than a terminal collects in a line
	for key, typed := range map[string]string{"LONG": long + "\n", "EDITED": "wrong\x15swordö\x7ffish\x04"} {
		if shown, code := onTerminalAt(t, nil, "Value of backup/"+key+": ", typed, "secret", "set", "backup/"+key, "--data", s.data); code != exitDone {
			t.Errorf("it exits with %d:\n%s", code, shown)
		}
	}
	shown, code = onTerminalAt(t, nil, "Value of backup/OTHER: ", "\x04", "secret", "set", "backup/OTHER", "--data", s.data)
	if code != exitUsage || !strings.Contains(shown, "the value is empty") {
		t.Errorf("after Ctrl-D it exits with %d:\n%s", code, shown)
	}
	s.stop()
	want := map[string]string{"backup/DB_PASSWORD": "swordfish 42", "backup/LONG": long, "backup/EDITED": "swordfish"}
	if found, _ := s.secretsOf(); !maps.Equal(found, want) {
		t.Errorf("%d secrets", len(found))
	}
}
