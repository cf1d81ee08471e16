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

// findRedis is where redis-server is, if it is installed.
func findRedis() (path string, found bool) {
	path, err := exec.LookPath("redis-server")
	return path, err == nil
}

// redisServer is a Redis that belongs to this process alone.
type redisServer struct {
	dir    string
	socket string
	child  *exec.Cmd
	ended  chan error
}

// redisPatience is how long it may take to start.
const redisPatience = 10 * time.Second

// startRedis starts a Redis that keeps nothing on a disk. Its directory is a
// temporary one, since the path of a socket must be short.
func startRedis(path string) (*redisServer, error) {
	dir, err := os.MkdirTemp("", "rota-redis-")
	if err != nil {
		return nil, err
	}
	r := &redisServer{dir: dir, socket: filepath.Join(dir, "s"), ended: make(chan error, 1)}
	r.child = exec.Command(path, "--port", "0", "--unixsocket", r.socket, "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel", "warning")
	r.child.Stderr = os.Stderr
	r.child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // it does not outlive a failed run
	if err := r.child.Start(); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	go func() { r.ended <- r.child.Wait() }()
	return r, r.await()
}

// await waits until somebody answers at the socket.
func (r *redisServer) await() error {
	for deadline := time.Now().Add(redisPatience); ; {
		conn, err := net.Dial("unix", r.socket)
		if err == nil {
			return conn.Close()
		}
		select {
		case err := <-r.ended:
			_ = os.RemoveAll(r.dir)
			return fmt.Errorf("redis-server ended: %w", err)
		case <-time.After(askEvery):
		}
		if time.Now().After(deadline) {
			return errors.Join(errors.New("redis-server does not answer"), r.stop())
		}
	}
}

// stop kills the server, which has nothing to lose.
func (r *redisServer) stop() error {
	err := r.child.Process.Kill()
	<-r.ended
	return errors.Join(err, os.RemoveAll(r.dir))
}
