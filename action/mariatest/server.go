package mariatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// startTimeout is how long a server may take to start or to stop on a very busy
// machine.
const startTimeout = 60 * time.Second

// Server is a MariaDB server and its data.
type Server struct {
	dir   string
	cmd   *exec.Cmd
	ended chan struct{} // closed when the server has ended
	err   error         // valid after ended is closed
}

// Start starts a server without databases. Its superuser is root, without a
// password.
func Start() (*Server, error) {
	dir, err := newServerDir()
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir}
	if err = s.install(); err == nil {
		err = s.start()
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// install creates the system tables of the server.
func (s *Server) install() error {
	program, err := find("mariadb-install-db", "mysql_install_db")
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "--no-defaults", "--datadir="+s.data(), "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve")
	if err := s.configureProcess(cmd); err != nil {
		return err
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w:\n%s", filepath.Base(program), err, out)
	}
	return nil
}

func (s *Server) start() error {
	program, err := find("mariadbd", "/usr/sbin/mariadbd")
	if err != nil {
		return err
	}
	log, err := os.Create(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	// Commits survive the end of the server but not of the machine, so that commits do
	// not wait for the disk.
	s.cmd = exec.Command(program, "--no-defaults", "--datadir="+s.data(), "--socket="+s.socket(), "--pid-file="+filepath.Join(s.dir, pidName),
		"--tmpdir="+s.dir, "--skip-networking", "--skip-log-bin", "--innodb-flush-log-at-trx-commit=2", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=16M")
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.configureProcess(s.cmd); err != nil {
		return err
	}
	s.ended = make(chan struct{})
	started := make(chan error)
	go s.run(started)
	if err := <-started; err != nil {
		return err
	}
	return s.waitReady()
}

// configureProcess sets the directory and environment of a program, and has it end with
// this process.
func (s *Server) configureProcess(cmd *exec.Cmd) error {
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin", "HOME=" + s.dir, "TMPDIR=" + s.dir, "LC_ALL=C.UTF-8"}
	return configureProcess(cmd)
}

// run locks a thread for the server: the kernel sends the parent-death signal when
// the thread that started the server ends.
func (s *Server) run(started chan<- error) {
	runtime.LockOSThread()
	if err := s.cmd.Start(); err != nil {
		close(s.ended)
		started <- err
		return
	}
	started <- nil
	s.err = s.cmd.Wait()
	close(s.ended)
}

// waitReady queries until the server answers.
func (s *Server) waitReady() error {
	ctx, done := context.WithTimeout(context.Background(), startTimeout)
	defer done()
	for {
		_, err := query(ctx, s.URL("mysql"), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-s.ended:
			return fmt.Errorf("mariadbd has ended: %w:\n%s", errors.Join(s.err, err), s.Log())
		case <-ctx.Done():
			return fmt.Errorf("mariadbd does not answer: %w:\n%s", err, s.Log())
		}
	}
}

func (s *Server) data() string   { return filepath.Join(s.dir, "data") }
func (s *Server) socket() string { return filepath.Join(s.dir, "s") }

// URL returns the URL of a database for the user root.
func (s *Server) URL(database string) string {
	return "mysql://root@localhost/" + database + "?socket=" + s.socket()
}

// Log returns the end of the log of the server.
func (s *Server) Log() string {
	const tailBytes = 4_000
	text, err := os.ReadFile(filepath.Join(s.dir, "server.log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-tailBytes):])
}

// Close ends the server and removes its directory. Call it once.
func (s *Server) Close() {
	if s.ended != nil {
		if s.cmd.Process != nil {
			_ = s.cmd.Process.Signal(syscall.SIGKILL) // its data is not needed
		}
		<-s.ended
	}
	_ = os.RemoveAll(s.dir)
}

func find(names ...string) (string, error) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed; install MariaDB: make mariadb, or apt-get install mariadb-server", names[0])
}
