package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// findRedis returns the path of redis-server if it is installed.
func findRedis() (path string, found bool) {
	path, err := exec.LookPath("redis-server")
	return path, err == nil
}

// redisServer is a Redis that only this process uses.
type redisServer struct {
	dir    string
	socket string
	child  *exec.Cmd
	ended  chan error
}

// redisTimeout limits the time of the start.
const redisTimeout = 10 * time.Second

// startRedis starts a Redis that stores nothing on disk. It uses a temporary directory, because the path of a socket
// must be short.
func startRedis(path string) (*redisServer, error) {
	dir, err := os.MkdirTemp("", "rota-redis-")
	if err != nil {
		return nil, err
	}
	r := &redisServer{dir: dir, socket: filepath.Join(dir, "s"), ended: make(chan error, 1)}
	r.child = exec.Command(path, "--port", "0", "--unixsocket", r.socket, "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	r.child.Stderr = os.Stderr
	r.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // ends with this process, also after a failure
	if err := r.child.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	go func() { r.ended <- r.child.Wait() }()
	return r, r.await()
}

// await waits until the server accepts connections.
func (r *redisServer) await() error {
	for deadline := time.Now().Add(redisTimeout); ; {
		conn, err := net.Dial("unix", r.socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-r.ended:
			_ = os.RemoveAll(r.dir)
			return fmt.Errorf("redis-server ended: %w", err)
		case <-time.After(pollInterval):
		}
		if time.Now().After(deadline) {
			return errors.Join(errors.New("redis-server does not answer"), r.stop())
		}
	}
}

// stop kills the server, which has no data to save.
func (r *redisServer) stop() error {
	err := r.child.Process.Kill()
	<-r.ended
	return errors.Join(err, os.RemoveAll(r.dir))
}
