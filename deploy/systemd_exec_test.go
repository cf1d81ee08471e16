package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// callsOfLandlock are the system calls of a server that starts a program with isolation landlock, and callsOfFull those that it makes
// besides with isolation full, as strace lists them.
var (
	callsOfLandlock = []string{"capset", "close_range", "openat2", "prctl", "prlimit64", "seccomp", "setpgid", "landlock_create_ruleset", "landlock_add_rule", "landlock_restrict_self"}
	callsOfFull     = []string{"open_tree", "mount_setattr", "fsopen", "fsconfig", "fsmount", "move_mount", "pivot_root", "umount2"}
)

// TestUnitAllowsCallsOfSandbox: the unit allows what isolation landlock needs, and the drop-in file what full needs.
func TestUnitAllowsCallsOfSandbox(t *testing.T) {
	sets := syscallSets(t)
	u := readUnit(t)
	allowed := allowedCalls(sets, u["[Service]SystemCallFilter"])
	for _, call := range callsOfLandlock {
		if !allowed[call] {
			t.Errorf("the unit refuses %s", call)
		}
	}
	for _, call := range callsOfFull {
		if allowed[call] {
			t.Errorf("the unit allows %s without the drop-in file", call)
		}
	}
	drop := readUnitFile(t, "systemd/exec.conf")
	allowed = allowedCalls(sets, slices.Concat(u["[Service]SystemCallFilter"], drop["[Service]SystemCallFilter"]))
	for _, call := range callsOfFull {
		if !allowed[call] {
			t.Errorf("the drop-in file refuses %s", call)
		}
	}
	for key, want := range map[string]string{
		"RestrictNamespaces": "user mnt pid net ipc uts", "ProtectKernelTunables": "no", "ProtectKernelLogs": "no", "ProtectHostname": "no", "ProtectControlGroups": "no",
	} {
		if got := drop.get(t, key); got != want {
			t.Errorf("%s is %s", key, got)
		}
	}
}

// TestSystemdAcceptsDropIn: systemd-analyze verify reports nothing for the unit with the drop-in file.
func TestSystemdAcceptsDropIn(t *testing.T) {
	dir := t.TempDir()
	text, err := os.ReadFile("systemd/rota.service")
	if err != nil {
		t.Fatal(err)
	}
	drop, err := os.ReadFile("systemd/exec.conf")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "rota")
	file := filepath.Join(dir, "rota.service")
	for path, text := range map[string]string{
		program: "#!/bin/sh\n", file: strings.Replace(string(text), "=/usr/bin/rota ", "="+program+" ", 1), file + ".d/exec.conf": string(drop),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file+".d/exec.conf", 0o644); err != nil {
		t.Fatal(err)
	}
	if out := analyze(t, "verify", "--man=no", file); out != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
}

// syscallSets are the sets of system calls that systemd knows.
func syscallSets(t *testing.T) map[string][]string {
	t.Helper()
	sets, name := map[string][]string{}, ""
	for line := range strings.Lines(analyze(t, "syscall-filter", "--no-pager")) {
		switch word := strings.TrimSpace(line); {
		case strings.HasPrefix(line, "@"):
			name = word
		case strings.HasPrefix(line, " ") && !strings.HasPrefix(word, "#"):
			sets[name] = append(sets[name], word)
		}
	}
	return sets
}

// allowedCalls applies the lines of SystemCallFilter= in their order.
func allowedCalls(sets map[string][]string, lines []string) map[string]bool {
	allowed := map[string]bool{}
	var apply func(word string, allow bool)
	apply = func(word string, allow bool) {
		if !strings.HasPrefix(word, "@") {
			allowed[word] = allow
		}
		for _, inner := range sets[word] {
			apply(inner, allow)
		}
	}
	for _, line := range lines {
		rest, refuse := strings.CutPrefix(line, "~")
		for _, word := range strings.Fields(rest) {
			apply(word, !refuse)
		}
	}
	return allowed
}
