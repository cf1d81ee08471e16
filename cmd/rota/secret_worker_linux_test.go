package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// startSecretWorker starts a worker for exec jobs and returns its log, and a function that stops it.
func (s *testServer) startSecretWorker(token string) (*bytes.Buffer, func()) {
	s.t.Helper()
	config := filepath.Join(s.t.TempDir(), "worker.yaml")
	if err := os.WriteFile(config, []byte("log_level: debug\nexec:\n  allow: [/bin/sh]\n"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	errs := &bytes.Buffer{}
	process := exec.Command(os.Args[0], "worker", "--types", "exec", "--config", config, "--url", serverURL(s.t, s))
	process.Env = []string{"ROTA_TEST_PROGRAM=1", "ROTA_TOKEN=" + token, "PATH=" + os.Getenv("PATH"), "HOME=" + s.t.TempDir()}
	process.Dir, process.Stderr = s.t.TempDir(), errs
	if err := process.Start(); err != nil {
		s.t.Fatal(err)
	}
	stop := sync.OnceFunc(func() {
		wantNoMemoryInCores(s.t, process.Process.Pid)
		_ = process.Process.Signal(syscall.SIGTERM)
		if err := process.Wait(); err != nil {
			s.t.Errorf("the worker ended with %v:\n%s", err, errs)
		}
		if strings.Contains(errs.String(), programSecret) {
			s.t.Errorf("the worker logged the secret:\n%s", errs)
		}
	})
	s.t.Cleanup(stop)
	return errs, stop
}

// TestRemoteWorkerGetsTheSecretOfATemplate: a worker in another process gets the secrets of a job with the claim, over loopback, if
// its token has the scope worker. With the token of an administrator it gets the job not at all.
func TestRemoteWorkerGetsTheSecretOfATemplate(t *testing.T) {
	s := startExecServer(t, "remote: true")
	s.createSecretTemplates()
	s.must("user create runner --no-password")
	_, stop := s.startSecretWorker(strings.TrimSpace(s.must("token create --user runner --scope worker --type exec --expires 1d")))
	s.wantSecretOnlyInBackup()
	stop()
	admin, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	errs, _ := s.startSecretWorker(strings.TrimSpace(string(admin)))
	id := idShape.FindString(s.must("job create --template backup -o json"))
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		shown := s.must("job show " + id)
		if strings.Contains(shown, "sent to workers with a token of scope worker only") {
			if strings.Contains(shown, programSecret) {
				t.Error(shown)
			}
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s\n%s\n%s", shown, errs, s.errs)
		}
	}
	if log, _, _ := s.run("job logs " + id); strings.Contains(log, "length") {
		t.Errorf("the program ran: %s", log)
	}
}
