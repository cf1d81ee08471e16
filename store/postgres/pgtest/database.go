package pgtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// maintenance is the database from which others are created and dropped.
const maintenance = "postgres"

// NewDatabase creates a database as a copy of a template, or an empty one if template is empty. It
// is dropped after the test.
func (c *Cluster) NewDatabase(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprint(c.prefix, c.databases.Add(1))
	if err := c.create(name, template); err != nil {
		t.Fatalf("create the database %s: %v", name, err)
	}
	t.Cleanup(func() { c.Discard(name) })
	return name
}

func (c *Cluster) create(name, template string) error {
	sql := "CREATE DATABASE " + name
	if template != "" {
		sql += " TEMPLATE " + template
	}
	if !c.options.Durable {
		sql += " STRATEGY file_copy" // twice as fast if the server does not wait for the disk
	}
	return c.execute(maintenance, sql)
}

// Discard drops a database in the background, also if it has connections. DROP DATABASE waits until
// they are closed.
func (c *Cluster) Discard(name string) {
	select {
	case c.discarded <- name:
	case <-c.closed:
	}
}

// Drop drops a database if it exists, also if it has connections.
func (c *Cluster) Drop(name string) error {
	return c.execute(maintenance, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// dropLoop drops discarded databases until the cluster is closed. A database that cannot be
// dropped, because a test has stopped the server, is removed with the cluster.
func (c *Cluster) dropLoop() {
	for {
		select {
		case name := <-c.discarded:
			_ = c.Drop(name)
		case <-c.closed:
			return
		}
	}
}

// Template creates a template database and fills it with fill, once for all processes that share
// the server. fill must leave no connection open.
func (c *Cluster) Template(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.templates[name] {
		return name
	}
	if err := c.makeTemplate(name, fill); err != nil {
		t.Fatalf("create the template %s: %v", name, err)
	}
	c.templates[name] = true
	return name
}

// makeTemplate creates a template unless another process has. An advisory lock keeps two processes
// from creating it at the same time.
func (c *Cluster) makeTemplate(name string, fill func(url string) error) error {
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	conn, err := pgconn.Connect(ctx, c.SocketURL(maintenance))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) // releases the lock
	found, err := execAll(ctx, conn, fmt.Sprintf(`SELECT pg_advisory_lock(hashtext('%[1]s'));
		SELECT datallowconn FROM pg_database WHERE datname = '%[1]s'`, name))
	if err != nil {
		return err
	}
	switch made := found[1:]; {
	case len(made) > 0 && made[0][0] == "f":
		return nil
	case len(made) > 0: // the process that began to fill it has ended
		err = c.Drop(name)
	}
	if err == nil {
		err = c.create(name, "")
	}
	if err == nil {
		err = fill(c.SocketURL(name))
	}
	if err == nil { // an open connection would prevent copies
		err = c.execute(maintenance, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
	}
	return err
}

func (c *Cluster) execute(database, sql string) error {
	_, err := query(c.SocketURL(database), sql)
	return err
}

// Query executes statements on a new connection and returns the rows of all of them as text. NULL
// is an empty text.
func Query(t testing.TB, url, sql string) [][]string {
	t.Helper()
	rows, err := query(url, sql)
	if err != nil {
		t.Fatalf("%v, of:\n%s", err, sql)
	}
	return rows
}

func query(url, sql string) (rows [][]string, err error) {
	ctx, done := context.WithTimeout(context.Background(), timeout)
	defer done()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	return execAll(ctx, conn, sql)
}

func execAll(ctx context.Context, conn *pgconn.PgConn, sql string) (rows [][]string, err error) {
	results, err := conn.Exec(ctx, sql).ReadAll()
	for _, result := range results {
		for _, fields := range result.Rows {
			row := make([]string, len(fields))
			for i, field := range fields {
				row[i] = string(field)
			}
			rows = append(rows, row)
		}
	}
	return rows, err
}
