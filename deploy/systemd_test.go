package deploy

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/node"
)

// unit is a systemd unit: the values of each setting by section and name.
type unit map[string][]string

func readUnit(t *testing.T) unit { return readUnitFile(t, "systemd/rota.service") }

func readUnitFile(t *testing.T, name string) unit {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	u, section := unit{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = line
		default:
			key, value, _ := strings.Cut(line, "=")
			u[section+key] = append(u[section+key], value)
		}
	}
	return u
}

func (u unit) get(t *testing.T, key string) string {
	t.Helper()
	if len(u["[Service]"+key]) == 0 {
		t.Fatalf("the unit has no %s", key)
	}
	return u["[Service]"+key][0]
}

// analyze runs systemd-analyze.
func analyze(t *testing.T, args ...string) string {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("systemd runs on Linux only")
	}
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is not installed; run make systemd, or apt-get install systemd")
	}
	out, err := exec.Command(program, args...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// TestSystemdAcceptsUnit: systemd-analyze verify reports nothing.
func TestSystemdAcceptsUnit(t *testing.T) {
	text, err := os.ReadFile("systemd/rota.service")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "rota") // verify checks that the program exists
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "rota.service")
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), "=/usr/bin/rota ", "="+program+" ", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if out := analyze(t, "verify", "--man=no", file); out != "" {
		t.Errorf("systemd-analyze verify: %s", out)
	}
	u := readUnit(t)
	if len(u["[Install]WantedBy"]) != 1 {
		t.Error("the unit cannot be enabled")
	}
}

// TestUnitIsHardened: systemd rates the exposure at most 1.5 of 10. A service without any restriction has 9.6.
func TestUnitIsHardened(t *testing.T) {
	analyze(t, "security", "--offline=true", "--threshold=15", "--no-pager", "systemd/rota.service")
}

// TestUnitRunsServer runs ExecStart of the unit with an environment file, and expects the messages of Type=notify.
func TestUnitRunsServer(t *testing.T) {
	m, u := buildImage(t), readUnit(t)
	if kind := u.get(t, "Type"); kind != "notify" {
		t.Errorf("the type is %s", kind)
	}
	start := strings.Fields(u.get(t, "ExecStart"))
	state := "/var/lib/" + u.get(t, "StateDirectory")
	if start[len(start)-1] != state || u.get(t, "WorkingDirectory") != state {
		t.Fatalf("%v does not use the state directory %s", start, state)
	}
	data := filepath.Join(t.TempDir(), "data")
	start[0], start[len(start)-1] = m.root+start[0], data

	socket := filepath.Join(t.TempDir(), "notify")
	messages, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer messages.Close()
	cmd := exec.Command(start[0], start[1:]...)
	cmd.Env = append(environmentFile(t), "NOTIFY_SOCKET="+socket, "ROTA_HTTP=127.0.0.1:0", "ROTA_SQL=127.0.0.1:0")
	s := startServer(t, cmd)
	receive := func(want string) {
		t.Helper()
		var b [1000]byte
		if err := messages.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		n, err := messages.Read(b[:])
		if err != nil || string(b[:n]) != want {
			t.Fatalf("the server sent %q, %v; want %s", b[:n], err, want)
		}
	}
	receive("READY=1")
	if out, err := exec.Command(start[0], "health", "--data", data).CombinedOutput(); err != nil {
		t.Errorf("rota health: %v: %s", err, out)
	}
	s.stop(t, syscall.SIGTERM)
	receive("STOPPING=1")
}

// environmentFile returns the settings of the example file, all of which are comments, and checks their names.
func environmentFile(t *testing.T) (env []string) {
	t.Helper()
	text, err := os.ReadFile("systemd/rota.env")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"PGPASSWORD": true}
	for _, s := range node.Settings() {
		known[s.Variable()] = true
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		name, _, setting := strings.Cut(strings.TrimPrefix(line, "# "), "=")
		if setting && !known[name] {
			t.Errorf("rota.env sets %s, which is no setting", name)
		}
		if line != "" && line[0] != '#' {
			env = append(env, line)
		}
	}
	return env
}

// TestUnitStopsLaterThanGracePeriod: systemd must not kill jobs that still have time, nor docker.
func TestUnitStopsLaterThanGracePeriod(t *testing.T) {
	config, err := node.Load("", func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string]string{
		"TimeoutStopSec": readUnit(t).get(t, "TimeoutStopSec"), "stop_grace_period": readCompose(t).Services["rota"].StopGracePeriod,
	} {
		if limit, err := time.ParseDuration(text); err != nil || limit < config.ShutdownGrace+10*time.Second {
			t.Errorf("%s is %s, %v; the grace period is %v", where, text, err, config.ShutdownGrace)
		}
	}
}

// TestUnitRestartsThroughOutage: systemd restarts the server without a limit, so that an outage of PostgreSQL does not stop it
// for good, but not after a wrong setting.
func TestUnitRestartsThroughOutage(t *testing.T) {
	u := readUnit(t)
	if limit := u["[Unit]StartLimitIntervalSec"]; len(limit) != 1 || limit[0] != "0" {
		t.Errorf("StartLimitIntervalSec is %v; only 0 has no limit", limit)
	}
	if u.get(t, "Restart") != "on-failure" || u.get(t, "RestartPreventExitStatus") != "2" {
		t.Errorf("the unit restarts %s, except after %s", u.get(t, "Restart"), u.get(t, "RestartPreventExitStatus"))
	}
	if pause, err := time.ParseDuration(u.get(t, "RestartSec")); err != nil || pause < 5*time.Second {
		t.Errorf("RestartSec is %v, %v; restarts without a limit need a pause", pause, err)
	}
}
