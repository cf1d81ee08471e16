package pgtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// maintenance is the database from which others are made and dropped.
const maintenance = "postgres"

// NewDatabase makes a database, as a copy of a template that Template has made,
// or an empty one without. When the test ends it is discarded.
func (c *Cluster) NewDatabase(t testing.TB, template string) string {
	t.Helper()
	name := fmt.Sprint("test_", c.databases.Add(1))
	if err := c.create(name, template); err != nil {
		t.Fatalf("make the database %s: %v", name, err)
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
		sql += " STRATEGY file_copy" // twice as fast, if the disk is not waited for
	}
	return c.execute(maintenance, sql)
}

// Discard has a database dropped soon, whoever is connected. Nobody waits for
// it: PostgreSQL does, for those who were connected to be gone.
func (c *Cluster) Discard(name string) {
	select {
	case c.discarded <- name:
	case <-c.closed:
	}
}

// Drop drops a database, if it is there, whoever is connected.
func (c *Cluster) Drop(name string) error {
	return c.execute(maintenance, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
}

// dropAll drops what is discarded, until the cluster is closed. What cannot be
// dropped, since a test has stopped the server, goes with the cluster.
func (c *Cluster) dropAll() {
	for {
		select {
		case name := <-c.discarded:
			_ = c.Drop(name)
		case <-c.closed:
			return
		}
	}
}

// Template makes a template, once: a database that fill was called with the URL
// of. It must leave no connection open.
func (c *Cluster) Template(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.templates[name] {
		return name
	}
	err := c.create(name, "")
	if err == nil {
		err = fill(c.SocketURL(name))
	}
	if err == nil { // nobody gets in who would keep it from being copied
		err = c.execute(maintenance, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
	}
	if err != nil {
		c.Discard(name)
		t.Fatalf("make the template %s: %v", name, err)
	}
	c.templates[name] = true
	return name
}

func (c *Cluster) execute(database, sql string) error {
	_, err := query(c.SocketURL(database), sql)
	return err
}

// Query runs statements on a connection of its own, and is the rows of them all,
// as text. NULL is an empty text.
func Query(t testing.TB, url, sql string) [][]string {
	t.Helper()
	rows, err := query(url, sql)
	if err != nil {
		t.Fatalf("%v, of:\n%s", err, sql)
	}
	return rows
}

func query(url, sql string) (rows [][]string, err error) {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	conn, err := pgconn.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
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
