package main

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// runWorkerProgram runs a worker for exec jobs until it ends, or prints a line, and returns its output.
func runWorkerProgram(t *testing.T, url, token string, more ...string) (out, errs string) {
	t.Helper()
	config := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(config, []byte("exec:\n  allow: [/bin/sh]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	process := exec.Command(os.Args[0], append([]string{"worker", "--config", config, "--url", url}, more...)...)
	process.Env = []string{"ROTA_TEST_PROGRAM=1", "ROTA_TOKEN=" + token, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	process.Dir, process.Stderr = t.TempDir(), &stderr
	stdout, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(30*time.Second, func() { _ = process.Process.Kill() })
	defer late.Stop()
	line := make([]byte, 4096)
	n, _ := stdout.Read(line)
	_ = process.Process.Signal(os.Interrupt)
	_ = process.Wait()
	return string(line[:n]), stderr.String()
}

// TestWorkerIsReadyOnlyWithTokenThatMayClaim: another token ends the worker with the reason of the server.
func TestWorkerIsReadyOnlyWithTokenThatMayClaim(t *testing.T) {
	t.Parallel()
	s := startExecServer(t, "remote: true")
	s.must("user create runner --no-password")
	for flags, ready := range map[string]bool{
		"--scope worker --type exec": true, "--scope worker": true, "--scope worker --type mail": false, "--scope read": false, "--scope write": false,
	} {
		token := strings.TrimSpace(s.must("token create --user runner --expires 1d " + flags))
		out, errs := runWorkerProgram(t, serverURL(t, s), token)
		if strings.Contains(out, "is ready") != ready {
			t.Errorf("with %s it prints %q and %q", flags, out, errs)
		}
		if !ready && !strings.Contains(errs, "rota: ") {
			t.Errorf("with %s the error is %q", flags, errs)
		}
	}
}

// TestWorkerNamesFlagForUnknownAuthority: the remedy is a flag, not a field of a Go program.
func TestWorkerNamesFlagForUnknownAuthority(t *testing.T) {
	t.Parallel()
	cert, key := writeCertificate(t, t.TempDir(), net.IPv4(127, 0, 0, 1))
	s := startServer(t, "--http-cert", cert, "--http-key", key)
	out, errs := runWorkerProgram(t, readAddressFile(s.data).url(), "rota_x_y")
	if out != "" || !strings.Contains(errs, "--ca or ROTA_CA") || strings.Contains(errs, "RootCAs") {
		t.Errorf("it prints %q and %q", out, errs)
	}
}
