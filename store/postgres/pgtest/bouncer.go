package pgtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Pool modes of PgBouncer.
const (
	Transaction = "transaction" // a backend for each transaction
	Session     = "session"     // a backend for each client connection
)

// Bouncer is a PgBouncer in front of a cluster.
type Bouncer struct{ addr string }

// bouncerConfig gives each database few connections, so that clients share them. PgBouncer refuses
// settings that a client requests when it connects, which is its default. The database pgbouncer is
// its console.
const bouncerConfig = `
[databases]
* = host=127.0.0.1 port=%d user=%s

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = %s
default_pool_size = 4
max_client_conn = 200
server_login_retry = 1
query_wait_timeout = 30
admin_users = postgres
`

// Bouncer starts a PgBouncer that ends with the test.
func (c *Cluster) Bouncer(t testing.TB, mode string) *Bouncer {
	t.Helper()
	b, server, log, err := c.bouncer(mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.signal(syscall.SIGKILL)
		<-server.exited
		if t.Failed() {
			t.Logf("end of the pgbouncer log:\n%s", tail(log))
		}
	})
	return b
}

func (c *Cluster) bouncer(mode string) (b *Bouncer, server *process, log string, err error) {
	program, err := findBouncer()
	if err != nil {
		return nil, nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, nil, "", err
	}
	base := filepath.Join(c.dir.path, fmt.Sprint("bouncer-", port))
	config, log := base+".ini", base+".log"
	text := fmt.Sprintf(bouncerConfig, c.port, superuser, port, mode)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, nil, "", err
	}
	if server, err = startProcess(c.dir.path, log, program, config); err != nil {
		return nil, nil, "", err
	}
	b = &Bouncer{net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	if err := server.waitReady(b.ping); err != nil {
		server.signal(syscall.SIGKILL)
		return nil, nil, "", fmt.Errorf("pgbouncer: %w:\n%s", err, tail(log))
	}
	return b, server, log, nil
}

func (b *Bouncer) ping(context.Context) error {
	conn, err := net.DialTimeout("tcp", b.addr, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// URL returns the URL of a database through the pooler.
func (b *Bouncer) URL(database string) string { return tcpURL(b.addr, database) }
