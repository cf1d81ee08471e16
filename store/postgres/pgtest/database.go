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
	name := fmt.Sprint(c.prefix, c.databases.Add(1))
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

// Template makes a template, once for all processes that share the server: a database
// that fill was called with the URL of. It must leave no connection open.
func (c *Cluster) Template(t testing.TB, name string, fill func(url string) error) string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.templates[name] {
		return name
	}
	if err := c.makeTemplate(name, fill); err != nil {
		t.Fatalf("make the template %s: %v", name, err)
	}
	c.templates[name] = true
	return name
}

// makeTemplate makes a template unless another process has. An advisory lock keeps
// two processes from making it at the same time.
func (c *Cluster) makeTemplate(name string, fill func(url string) error) error {
	ctx, done := context.WithTimeout(context.Background(), patience)
	defer done()
	conn, err := pgconn.Connect(ctx, c.SocketURL(maintenance))
	if err != nil {
		return err
	}
	defer conn.Close(ctx) // which releases the lock
	found, err := ask(ctx, conn, fmt.Sprintf(`SELECT pg_advisory_lock(hashtext('%[1]s'));
		SELECT datallowconn FROM pg_database WHERE datname = '%[1]s'`, name))
	if err != nil {
		return err
	}
	switch made := found[1:]; {
	case len(made) > 0 && made[0][0] == "f":
		return nil
	case len(made) > 0: // the process that began it has ended
		err = c.Drop(name)
	}
	if err == nil {
		err = c.create(name, "")
	}
	if err == nil {
		err = fill(c.SocketURL(name))
	}
	if err == nil { // a connection would keep it from being copied
		err = c.execute(maintenance, "ALTER DATABASE "+name+" ALLOW_CONNECTIONS false")
	}
	return err
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
	return ask(ctx, conn, sql)
}

func ask(ctx context.Context, conn *pgconn.PgConn, sql string) (rows [][]string, err error) {
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
