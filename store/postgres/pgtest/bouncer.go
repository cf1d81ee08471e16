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

// How a pooler lends connections.
const (
	Transaction = "transaction" // for a transaction each
	Session     = "session"     // for as long as its client stays
)

// Bouncer is a PgBouncer before a cluster.
type Bouncer struct{ addr string }

// bouncerConfig gives each database few connections, so that they are shared
// indeed. Settings that a client asks for as it connects are refused, as they
// are unless somebody has changed that. Its own console is the database
// pgbouncer.
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

// Bouncer starts a PgBouncer. It ends with the test.
func (c *Cluster) Bouncer(t testing.TB, mode string) *Bouncer {
	t.Helper()
	b, server, log, err := c.bouncer(mode)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.signal(syscall.SIGKILL)
		<-server.over
		if t.Failed() {
			t.Logf("pgbouncer said at last:\n%s", tail(log))
		}
	})
	return b
}

func (c *Cluster) bouncer(mode string) (b *Bouncer, server *child, log string, err error) {
	program, err := bouncerProgram()
	if err != nil {
		return nil, nil, "", err
	}
	port, err := freePort()
	if err != nil {
		return nil, nil, "", err
	}
	base := filepath.Join(c.home.dir, fmt.Sprint("bouncer-", port))
	config, log := base+".ini", base+".log"
	text := fmt.Sprintf(bouncerConfig, c.port, superuser, port, mode)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		return nil, nil, "", err
	}
	if server, err = startChild(c.home.dir, log, program, config); err != nil {
		return nil, nil, "", err
	}
	b = &Bouncer{net.JoinHostPort("127.0.0.1", strconv.Itoa(port))}
	if err := server.await(b.answers); err != nil {
		server.signal(syscall.SIGKILL)
		return nil, nil, "", fmt.Errorf("pgbouncer: %w:\n%s", err, tail(log))
	}
	return b, server, log, nil
}

func (b *Bouncer) answers(context.Context) error {
	conn, err := net.DialTimeout("tcp", b.addr, time.Second)
	if err != nil {
		return err
	}
	return conn.Close()
}

// URL is where a database is reached through the pooler.
func (b *Bouncer) URL(database string) string { return at(b.addr, database) }
