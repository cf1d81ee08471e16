package pgtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// timeout is how long a server may take to start or to stop on a busy machine.
const timeout = 60 * time.Second

// superuser is the role that owns everything in a cluster. It has no password.
const superuser = "postgres"

// Options configure a cluster.
type Options struct {
	// Durable has the server wait for the disk, as in production. Without it commits survive a
	// crash of the server, but not of the machine.
	Durable bool

	// Settings are further settings of postgresql.conf, such as deadlock_timeout.
	Settings map[string]string
}

// Cluster is a PostgreSQL server and its data.
type Cluster struct {
	options Options
	dir     clusterDir // contains the socket and the logs
	data    string     // data directory of the server
	port    int
	server  *process

	attached  bool         // another process has started the server and shares it
	prefix    string       // prefix of database names, unique to this process
	databases atomic.Int64 // databases created so far
	discarded chan string  // databases to drop
	closed    chan struct{}
	mu        sync.Mutex
	templates map[string]bool
}

// Start creates a cluster and starts its server. The data is kept in dir, or, if dir is empty, in a
// directory that Close removes. If the process runs as root the server runs as the user postgres,
// which must have access to dir.
func Start(dir string, options Options) (*Cluster, error) {
	c := newCluster(options)
	if err := c.createDir(dir); err != nil {
		return nil, err
	}
	if err := c.startOnFreePort(); err != nil {
		c.Close()
		return nil, err
	}
	go c.dropLoop()
	return c, nil
}

func newCluster(options Options) *Cluster {
	return &Cluster{
		options: options, prefix: fmt.Sprintf("test_%08x_", rand.Uint32()), templates: map[string]bool{},
		discarded: make(chan string, 16), closed: make(chan struct{}),
	}
}

func (c *Cluster) createDir(dir string) (err error) {
	if c.dir, err = newClusterDir(); err != nil {
		return err
	}
	if dir == "" {
		dir = c.dir.path
	}
	c.data = filepath.Join(dir, "data")
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		return nil // the data exists from an earlier start
	}
	if err = os.MkdirAll(c.data, 0o700); err == nil {
		err = chownToServerUser(c.data)
	}
	if err == nil {
		err = c.initdb()
	}
	if err != nil {
		c.dir.remove()
	}
	return err
}

func (c *Cluster) initdb() error {
	program, err := findServerProgram("initdb")
	if err != nil {
		return err
	}
	log := filepath.Join(c.dir.path, "initdb.log")
	made, err := startProcess(c.dir.path, log, program, "--no-sync", "--no-instructions", "--auth", "trust",
		"--username", superuser, "--encoding", "UTF8", "--locale", "C.UTF-8", "--pgdata", c.data)
	if err != nil {
		return err
	}
	if <-made.exited; made.err != nil {
		return fmt.Errorf("initdb: %w:\n%s", made.err, tail(log))
	}
	return nil
}

// startOnFreePort starts the server on a free port. It retries if another process takes the port
// first.
func (c *Cluster) startOnFreePort() (err error) {
	for range 5 {
		if c.port, err = freePort(); err != nil {
			return err
		}
		err = c.start()
		if err == nil || !strings.Contains(err.Error(), "Address already in use") {
			return err
		}
	}
	return err
}

func (c *Cluster) start() error {
	program, err := findServerProgram("postgres")
	if err != nil {
		return err
	}
	args := []string{"-D", c.data}
	for name, value := range c.settings() {
		args = append(args, "-c", name+"="+value)
	}
	if c.server, err = startProcess(c.dir.path, c.logFile(), program, args...); err != nil {
		return err
	}
	if err := c.server.waitReady(c.ping); err != nil {
		return fmt.Errorf("postgres: %w:\n%s", err, tail(c.logFile()))
	}
	return nil
}

func (c *Cluster) settings() map[string]string {
	settings := map[string]string{
		"port":                    strconv.Itoa(c.port),
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": c.dir.path,
		"max_connections":         "200",
		// Files that a killed server leaves behind stay in its directory.
		"dynamic_shared_memory_type": "mmap",
	}
	if !c.options.Durable {
		// The kernel has the data of a commit before the server answers, so a killed server loses
		// none.
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for name, value := range c.options.Settings {
		settings[name] = value
	}
	return settings
}

func (c *Cluster) ping(ctx context.Context) error {
	conn, err := pgconn.Connect(ctx, c.SocketURL("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func (c *Cluster) logFile() string { return filepath.Join(c.dir.path, "postgres.log") }

// Log returns the end of the server's log.
func (c *Cluster) Log() string { return tail(c.logFile()) }

// URL returns the URL of a database by TCP.
func (c *Cluster) URL(database string) string { return tcpURL(c.Addr(), database) }

// Addr returns the host and port of the server.
func (c *Cluster) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// SocketURL returns the URL of a database by the server's unix socket.
func (c *Cluster) SocketURL(database string) string {
	query := url.Values{"host": {c.dir.path}, "port": {strconv.Itoa(c.port)}}
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

func tcpURL(addr, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Host: addr, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Pid returns the id of the server's main process. The server must have been started by this
// process.
func (c *Cluster) Pid() int { return c.server.pid }

// Shutdown modes of a server.
const (
	Fast      = "fast"      // ends the sessions and shuts down cleanly
	Immediate = "immediate" // stops at once; the next start recovers
)

// Stop stops the server if it runs.
func (c *Cluster) Stop(mode string) error {
	signals := map[string]syscall.Signal{Fast: syscall.SIGINT, Immediate: syscall.SIGQUIT}
	signal, known := signals[mode]
	if !known {
		return fmt.Errorf("unknown shutdown mode %q; use %s or %s", mode, Fast, Immediate)
	}
	if c.attached {
		return errShared
	}
	if c.server == nil {
		return nil
	}
	c.server.signal(signal)
	select {
	case <-c.server.exited:
		return nil
	case <-time.After(timeout):
		c.Kill()
		return fmt.Errorf("postgres does not stop:\n%s", c.Log())
	}
}

// Restart stops the server and starts it again on the same port.
func (c *Cluster) Restart(mode string) error {
	if err := c.Stop(mode); err != nil {
		return err
	}
	return c.start()
}

// Kill kills all processes of the server at once, so that none can clean up. Restart starts it
// again.
func (c *Cluster) Kill() {
	if c.attached {
		panic(errShared)
	}
	if c.server != nil {
		killTree(c.server)
	}
}

// Close stops the server and removes its files. It must be called once.
func (c *Cluster) Close() {
	close(c.closed)
	if c.attached {
		return // the process that started the server removes the rest
	}
	_ = c.Stop(Immediate)
	removeSharedMemory(c.data)
	c.dir.remove()
}
