package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestHealthExitCodes: 0 means that the server accepts work, 6 that it does not or cannot be reached.
func TestHealthExitCodes(t *testing.T) {
	s := startServer(t)
	for _, line := range []string{"health", "health --live", "health -o json"} {
		if out, errs, code := s.run(line); code != exitDone || !strings.Contains(out, "ok") {
			t.Errorf("rota %s exits with %d: %s%s", line, code, out, errs)
		}
	}
	if err := s.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = s.process.Wait()
	if _, errs, code := s.run("health"); code != exitUnavailable || !strings.Contains(errs, "no server answers") {
		t.Errorf("without a server it exits with %d: %s", code, errs)
	}

	starting := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/healthz" {
			return
		}
		w.WriteHeader(http.StatusServiceUnavailable)
		_, _ = w.Write([]byte(`{"detail": "not ready: the server is starting"}`))
	}))
	defer starting.Close()
	if _, errs, code := runLine("health --url " + starting.URL); code != exitUnavailable || !strings.Contains(errs, "is not healthy: not ready: the server is starting") {
		t.Errorf("a server that starts: exit %d: %s", code, errs)
	}
	if _, errs, code := runLine("health --live --url " + starting.URL); code != exitDone {
		t.Errorf("a process that answers: exit %d: %s", code, errs)
	}
}

// TestNotifySystemd: messages reach a socket by path and in the abstract namespace, and without a socket nothing happens.
func TestNotifySystemd(t *testing.T) {
	if err := notifySystemd("", "READY=1"); err != nil {
		t.Error(err)
	}
	if err := notifySystemd(filepath.Join(t.TempDir(), "none"), "READY=1"); err == nil {
		t.Error("a missing socket is no error")
	}
	dir, err := os.MkdirTemp("", "n") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "s")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if err := notifySystemd(name, "READY=1"); err != nil {
		t.Fatal(err)
	}
	var b [100]byte
	if n, err := listener.Read(b[:]); err != nil || string(b[:n]) != "READY=1" {
		t.Errorf("received %q, %v", b[:n], err)
	}
}
