package mariatest

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"
)

// shared is the server of this process.
var shared struct {
	mu     sync.Mutex
	server *Server
	err    error
}

var lastDatabase atomic.Int64 // number of the database that was created last

// Shared returns the server that the tests of a package share. The first call starts it.
// TestMain of the package calls Close at its end.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start()
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Close ends the shared server, if it was started.
func Close() {
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.server != nil {
		shared.server.Close()
		shared.server = nil
	}
}

// NewDatabase creates a database on the shared server and returns its URL.
func NewDatabase(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	name := fmt.Sprint("test_", lastDatabase.Add(1))
	Query(t, s.URL("mysql"), "CREATE DATABASE "+name)
	return s.URL(name)
}

// Query executes a statement on its own connection and returns its rows as text.
// NULL is an empty text.
func Query(t testing.TB, rawURL, text string) [][]string {
	t.Helper()
	ctx, done := context.WithTimeout(context.Background(), startTimeout)
	defer done()
	rows, err := query(ctx, rawURL, text)
	if err != nil {
		t.Fatalf("%v, of:\n%s", err, text)
	}
	return rows
}

func query(ctx context.Context, rawURL, text string) (all [][]string, err error) {
	u, err := url.Parse(rawURL)
	if err != nil {
		return nil, err
	}
	config := mysql.NewConfig()
	config.Logger = &mysql.NopLogger{}
	config.User, config.Net, config.Addr = u.User.Username(), "unix", u.Query().Get("socket")
	config.Passwd, _ = u.User.Password()
	config.DBName = strings.TrimPrefix(u.Path, "/")
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	rows, err := db.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = value.String
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
