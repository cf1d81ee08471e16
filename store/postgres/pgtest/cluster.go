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

// patience is how long a server may take to start or to stop on a very busy
// machine.
const patience = 60 * time.Second

// superuser is who owns everything in a cluster. It has no password.
const superuser = "postgres"

// Options are the choices that a cluster has.
type Options struct {
	// Durable has the server wait for the disk, as it does in earnest. Without
	// it what was committed outlives the server, but not the machine.
	Durable bool

	// Settings are more of what stands in postgresql.conf, such as
	// deadlock_timeout.
	Settings map[string]string
}

// Cluster is a PostgreSQL server and its data.
type Cluster struct {
	options Options
	home    home   // where its socket and its log are
	data    string // where PostgreSQL keeps the databases
	port    int
	server  *child

	attached  bool         // another process has started the server, for several packages
	prefix    string       // of the names of its databases, different in each process
	databases atomic.Int64 // how many have been made
	discarded chan string  // those of no more use
	closed    chan struct{}
	mu        sync.Mutex
	templates map[string]bool
}

// Start makes a cluster and starts its server. The data is kept in dir, or, if
// that is empty, where Close removes it with everything else. A process of root
// starts the server as the user postgres, who must get at dir.
func Start(dir string, options Options) (*Cluster, error) {
	c := newCluster(options)
	if err := c.make(dir); err != nil {
		return nil, err
	}
	if err := c.startAnywhere(); err != nil {
		c.Close()
		return nil, err
	}
	go c.dropAll()
	return c, nil
}

func newCluster(options Options) *Cluster {
	return &Cluster{
		options: options, prefix: fmt.Sprintf("test_%08x_", rand.Uint32()), templates: map[string]bool{},
		discarded: make(chan string, 16), closed: make(chan struct{}),
	}
}

func (c *Cluster) make(dir string) (err error) {
	if c.home, err = newHome(); err != nil {
		return err
	}
	if dir == "" {
		dir = c.home.dir
	}
	c.data = filepath.Join(dir, "data")
	if _, err := os.Stat(filepath.Join(c.data, "PG_VERSION")); err == nil {
		return nil // it is there from an earlier time
	}
	if err = os.MkdirAll(c.data, 0o700); err == nil {
		err = giveAway(c.data)
	}
	if err == nil {
		err = c.init()
	}
	if err != nil {
		c.home.remove()
	}
	return err
}

func (c *Cluster) init() error {
	program, err := serverProgram("initdb")
	if err != nil {
		return err
	}
	log := filepath.Join(c.home.dir, "initdb.log")
	made, err := startChild(c.home.dir, log, program, "--no-sync", "--no-instructions", "--auth", "trust",
		"--username", superuser, "--encoding", "UTF8", "--locale", "C.UTF-8", "--pgdata", c.data)
	if err != nil {
		return err
	}
	if <-made.over; made.err != nil {
		return fmt.Errorf("initdb: %w:\n%s", made.err, tail(log))
	}
	return nil
}

// startAnywhere starts the server at a port that is free. It may be taken in the
// moment between.
func (c *Cluster) startAnywhere() (err error) {
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
	program, err := serverProgram("postgres")
	if err != nil {
		return err
	}
	args := []string{"-D", c.data}
	for name, value := range c.settings() {
		args = append(args, "-c", name+"="+value)
	}
	if c.server, err = startChild(c.home.dir, c.logFile(), program, args...); err != nil {
		return err
	}
	if err := c.server.await(c.answers); err != nil {
		return fmt.Errorf("postgres: %w:\n%s", err, tail(c.logFile()))
	}
	return nil
}

func (c *Cluster) settings() map[string]string {
	settings := map[string]string{
		"port":                    strconv.Itoa(c.port),
		"listen_addresses":        "127.0.0.1",
		"unix_socket_directories": c.home.dir,
		"max_connections":         "200",
		// What a killed server leaves stays within its directory.
		"dynamic_shared_memory_type": "mmap",
	}
	if !c.options.Durable {
		// Commits still are in the kernel's hands when they are answered, so that
		// a server that is killed loses none.
		settings["fsync"], settings["full_page_writes"] = "off", "off"
	}
	for name, value := range c.options.Settings {
		settings[name] = value
	}
	return settings
}

func (c *Cluster) answers(ctx context.Context) error {
	conn, err := pgconn.Connect(ctx, c.SocketURL("postgres"))
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func (c *Cluster) logFile() string { return filepath.Join(c.home.dir, "postgres.log") }

// Log is what the server has said of late.
func (c *Cluster) Log() string { return tail(c.logFile()) }

// URL is where a database is reached by TCP.
func (c *Cluster) URL(database string) string { return at(c.Addr(), database) }

// Addr is the host and the port of the server.
func (c *Cluster) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// SocketURL is where a database is reached by the server's unix socket.
func (c *Cluster) SocketURL(database string) string {
	query := url.Values{"host": {c.home.dir}, "port": {strconv.Itoa(c.port)}}
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Path: "/" + database, RawQuery: query.Encode()}
	return u.String()
}

func at(addr, database string) string {
	u := url.URL{Scheme: "postgres", User: url.User(superuser), Host: addr, Path: "/" + database, RawQuery: "sslmode=disable"}
	return u.String()
}

// Pid is the process of the server that all others of it descend from. It is known
// of a server that this process has started.
func (c *Cluster) Pid() int { return c.server.pid }

// How a server stops.
const (
	Fast      = "fast"      // it ends its sessions, and leaves its data in order
	Immediate = "immediate" // it drops everything, and recovers when it starts again
)

// Stop stops the server, if it runs.
func (c *Cluster) Stop(mode string) error {
	signals := map[string]syscall.Signal{Fast: syscall.SIGINT, Immediate: syscall.SIGQUIT}
	signal, known := signals[mode]
	if !known {
		return fmt.Errorf("a server stops %s or %s, not %q", Fast, Immediate, mode)
	}
	if c.attached {
		return errShared
	}
	if c.server == nil {
		return nil
	}
	c.server.signal(signal)
	select {
	case <-c.server.over:
		return nil
	case <-time.After(patience):
		c.Kill()
		return fmt.Errorf("postgres does not stop:\n%s", c.Log())
	}
}

// Restart stops the server and starts it again where it was.
func (c *Cluster) Restart(mode string) error {
	if err := c.Stop(mode); err != nil {
		return err
	}
	return c.start()
}

// Kill kills all processes of the server at once, so that none of them can tidy
// up. Restart starts it again.
func (c *Cluster) Kill() {
	if c.attached {
		panic(errShared)
	}
	if c.server != nil {
		killFamily(c.server)
	}
}

// Close stops the server and removes what was made for it. It is called once.
func (c *Cluster) Close() {
	close(c.closed)
	if c.attached {
		return // what is left goes with the server
	}
	_ = c.Stop(Immediate)
	freeMemory(c.data)
	c.home.remove()
}
