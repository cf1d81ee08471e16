package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is a Rota server in a separate process, configured as users run it.
type server struct {
	data  string // data directory
	child *exec.Cmd
	ended chan error
	addr  string // address of the API
	sql   string // address of the SQL port
	token string
}

// serverTimeout limits the time of a start, a stop or a request.
const serverTimeout = 30 * time.Second

// binary returns the path of the rota binary, built as make build does. It builds the binary at the first call.
func (b *bench) binary() (string, error) {
	path := filepath.Join(b.dir, "rota")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(b.ctx, "go", "build", "-trimpath", "-o", path, "./cmd/rota")
	build.Dir = ".." // root of the main module
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build ./cmd/rota: %w\n%s", err, out)
	}
	return path, nil
}

// serve starts a server on a file, and waits until it is ready.
func (b *bench) serve(name, store string) (*server, error) {
	binary, err := b.binary()
	if err != nil {
		return nil, err
	}
	return b.serveBinary(binary, name, store)
}

// serveBinary starts a server of the given binary.
func (b *bench) serveBinary(binary, name, store string) (*server, error) {
	s := &server{data: filepath.Join(b.dir, fmt.Sprintf("%s-%d", name, b.round)), ended: make(chan error, 1)}
	s.child = exec.Command(binary, "serve", "--data", s.data, "--store", "sqlite:"+store, "--http", "127.0.0.1:0", "--sql", "127.0.0.1:0", "--log-level", "warn")
	s.child.Stderr = os.Stderr
	s.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // ends with this process, also after a failure
	if err := s.child.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.child.Wait() }()
	ctx, done := context.WithTimeout(b.ctx, serverTimeout)
	defer done()
	if err := s.await(ctx); err != nil {
		_ = s.child.Process.Kill()
		return nil, fmt.Errorf("rota serve: %w", err)
	}
	return s, nil
}

// await waits until the server reports that it is ready.
func (s *server) await(ctx context.Context) error {
	for {
		if s.find() == nil && s.ready(ctx) == nil {
			return nil
		}
		select {
		case err := <-s.ended:
			return errors.Join(errors.New("the server ended before it was ready"), err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pollInterval):
		}
	}
}

// find reads the addresses and the token of the server.
func (s *server) find() error {
	text, err := os.ReadFile(filepath.Join(s.data, "rota.addr"))
	if err != nil {
		return err
	}
	var addresses map[string]string
	if err := json.Unmarshal(text, &addresses); err != nil {
		return err
	}
	s.addr = strings.TrimPrefix(addresses["http"], "http://")
	s.sql = addresses["sql"]
	token, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	s.token = strings.TrimSpace(string(token))
	return err
}

func (s *server) ready(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	return nil
}

// stop stops the server, and fails if it does not end without an error.
func (s *server) stop() error {
	defer os.RemoveAll(s.data)
	if err := s.child.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case err := <-s.ended:
		return err
	case <-time.After(serverTimeout):
		return errors.Join(errors.New("rota serve does not stop"), s.child.Process.Kill())
	}
}
