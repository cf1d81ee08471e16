package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// sqlMemoryMax is the memory of all queries and results together that docs/psql.md states.
const sqlMemoryMax = 1 << 30

// repeated writes a list of expressions, each with its number in place of %d.
func repeated(n int, expression string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(expression, "%d", strconv.Itoa(i))
	}
	return "SELECT " + strings.Join(list, ", ")
}

// expensiveQueries use as much memory as they can. The SQLSTATE is that of the refusal; empty: the query must succeed.
var expensiveQueries = []struct{ text, state string }{
	{repeated(200, "length(string_agg(repeat('x', 4000000) || '%d', ','))") + " FROM generate_series(1, 2)", "54000"},
	{repeated(200, "length(repeat('x', 60000) || '%d')"), ""},
	{repeated(6, "repeat('x', 1600000) || '%d'"), ""},
	{"SELECT string_agg(repeat('x', 1000000), ',') FROM generate_series(1, 1000)", "54000"},
	{"SELECT length((array_agg(a) || array_agg(-a))::text) FROM generate_series(1, 100000) a", ""},
	{"SELECT length(lpad('ü', 1000000, 'äö'))", ""},
	{repeated(3, "array_length(string_to_array(repeat('a,', 100000), ','), 1) + %d"), ""},
	{"SELECT jsonb_array_length(('[' || repeat('{},', 50000) || '1]')::jsonb)", ""},
	{"SELECT count(*) FROM (SELECT repeat('x', 1000000) || a AS t FROM generate_series(1, 100) a GROUP BY 1) g", ""},
	{"SELECT count(*) FROM generate_series(1, 1000) a, generate_series(1, 100) b", ""},

	// Rows with 1 MB of params.
	{"SELECT count(*) FROM sys.templates", ""},
	{"SELECT count(*) FROM sys.templates a JOIN sys.templates b ON a.template_name = b.template_name WHERE a.params = b.params", ""},
	{"SELECT template_name, params FROM sys.templates LIMIT 10", ""},
	{"SELECT * FROM sys.templates", "54000"},
}

// otherStates are refusals because of the other clients: their results, and the time that a query waits or runs, which
// depends on the load of the machine.
var otherStates = []string{"53200", "53300", "57014"}

// templatesOfMemoryTest is how many templates with 1 MB of params the store has.
const templatesOfMemoryTest = 40

// TestEightClientsStayWithinMemoryOfQueries sends each query by eight clients at the same time, half of them over HTTP, to
// a process of its own, and compares its peak with that of the idle server. Then many connections keep arguments, rows
// and prepared statements.
func TestEightClientsStayWithinMemoryOfQueries(t *testing.T) {
	s := startServer(t)
	var addresses struct{ HTTP, SQL string }
	text, err := os.ReadFile(filepath.Join(s.data, "rota.addr"))
	if err == nil {
		err = json.Unmarshal(text, &addresses)
	}
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(filepath.Join(s.data, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	password := strings.TrimSpace(string(token))
	idle := s.peakMemory()
	check := func(after string) {
		used := s.peakMemory() - idle
		t.Logf("%d MiB after %.70s", used>>20, after)
		if used > sqlMemoryMax {
			t.Fatalf("the queries used %d MiB, more than the %d MiB that are documented", used>>20, sqlMemoryMax>>20)
		}
	}
	for i := range templatesOfMemoryTest {
		body := fmt.Sprintf(`{"name": "t%d", "type": "noop", "default_params": {"text": "`+strings.Repeat("x", 1_000_000)+`"}}`, i)
		if err := putTemplate(addresses.HTTP, password, body); err != nil {
			t.Fatal(err)
		}
	}
	check("the templates")
	for _, query := range expensiveQueries {
		var clients sync.WaitGroup
		var expected atomic.Int64
		for i := range 8 {
			clients.Go(func() {
				ask, address := queryHTTP, addresses.HTTP
				if i%2 == 0 {
					ask, address = queryPort, addresses.SQL
				}
				state, err := ask(address, password, query.text)
				switch {
				case err == nil && state == query.state:
					expected.Add(1)
				case err != nil || !slices.Contains(otherStates, state):
					t.Errorf("%.70s: state %q, want %q: %v", query.text, state, query.state, err)
				}
			})
		}
		clients.Wait()
		if expected.Load() == 0 {
			t.Errorf("%.70s: no client got the state %q", query.text, query.state)
		}
		check(query.text)
	}
	var clients []*pgconn.PgConn
	for range 40 {
		conn, err := pgconn.Connect(context.Background(), "postgres://admin:"+password+"@"+addresses.SQL+"/rota?sslmode=disable")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		clients = append(clients, conn)
	}
	for name, keep := range keepers {
		var work sync.WaitGroup
		kept, refused := atomic.Int64{}, atomic.Int64{}
		for i := range 8 {
			work.Go(func() {
				for _, conn := range clients[i*5 : i*5+5] {
					for n := range 4 {
						state, err := keep(conn, n)
						if err != nil || state != "" && state != "53200" && state != "54000" {
							t.Errorf("%s: state %q, %v", name, state, err)
						}
						if state != "" || err != nil {
							refused.Add(1)
							break // its transaction has failed
						}
						kept.Add(1)
					}
				}
			})
		}
		work.Wait()
		check(name)
		if kept.Load() == 0 || refused.Load() == 0 {
			t.Errorf("%s: %d are kept and %d refused, want some of each", name, kept.Load(), refused.Load())
		}
		for _, conn := range clients { // the connections stay usable
			for _, end := range []string{"ROLLBACK", "DEALLOCATE ALL", "SELECT 1"} {
				if state, err := readResults(conn.Exec(context.Background(), end)); state != "" || err != nil {
					t.Fatalf("%s after %s: %q %v", end, name, state, err)
				}
			}
		}
	}
}

// keepers make an idle connection keep memory. They return the SQLSTATE of a refusal.
var keepers = map[string]func(conn *pgconn.PgConn, n int) (string, error){
	"portals with arguments": func(conn *pgconn.PgConn, n int) (string, error) {
		return exchange(conn, &pgproto3.Query{String: "BEGIN"}, &pgproto3.Parse{Query: "SELECT $1::text"},
			&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n), Parameters: [][]byte{bytes.Repeat([]byte("x"), 12<<20)}}, &pgproto3.Sync{})
	},
	"portals with rows": func(conn *pgconn.PgConn, n int) (string, error) {
		return exchange(conn, &pgproto3.Query{String: "BEGIN"}, &pgproto3.Parse{Query: "SELECT repeat('x', 10000) || a FROM generate_series(1, 1800) a"},
			&pgproto3.Bind{DestinationPortal: fmt.Sprint("p", n)}, &pgproto3.Execute{Portal: fmt.Sprint("p", n), MaxRows: 1}, &pgproto3.Sync{})
	},
	"prepared statements": func(conn *pgconn.PgConn, n int) (string, error) {
		for i := range 10 {
			text := "SELECT '" + strings.Repeat("x", 900_000) + "'"
			if state, err := exchange(conn, &pgproto3.Parse{Name: fmt.Sprint("s", n, "_", i), Query: text}, &pgproto3.Sync{}); state != "" || err != nil {
				return state, err
			}
		}
		return "", nil
	},
}

// exchange sends messages and reads the answers until each Query and Sync has been answered.
func exchange(conn *pgconn.PgConn, messages ...pgproto3.FrontendMessage) (state string, err error) {
	wire := conn.Frontend()
	wanted := 0
	for _, m := range messages {
		wire.Send(m)
		switch m.(type) {
		case *pgproto3.Query, *pgproto3.Sync:
			wanted++
		}
	}
	if err := wire.Flush(); err != nil {
		return "", err
	}
	for wanted > 0 {
		m, err := wire.Receive()
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			state = m.Code
		case *pgproto3.ReadyForQuery:
			wanted--
		}
		if err != nil {
			return state, err
		}
	}
	return state, nil
}

// putTemplate stores a template.
func putTemplate(address, token, body string) error {
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/api/v1/templates", strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		text, _ := io.ReadAll(response.Body)
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return nil
}

// peakMemory is the largest resident memory that the server has had.
func (s *testServer) peakMemory() int64 {
	s.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.process.Process.Pid))
	if err != nil {
		s.t.Fatal(err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	if found == nil {
		s.t.Fatalf("no VmHWM in %s", text)
	}
	kilobytes, _ := strconv.ParseInt(string(found[1]), 10, 64)
	return kilobytes << 10
}

// queryPort runs a query on the SQL port and returns the SQLSTATE of a refusal.
func queryPort(address, password, query string) (state string, err error) {
	conn, err := pgconn.Connect(context.Background(), "postgres://admin:"+password+"@"+address+"/rota?sslmode=disable")
	if err != nil {
		return "", err
	}
	defer conn.Close(context.Background())
	return readResults(conn.Exec(context.Background(), query))
}

// readResults reads all results and returns the SQLSTATE of a refusal.
func readResults(results *pgconn.MultiResultReader) (state string, err error) {
	for results.NextResult() {
		rows := results.ResultReader()
		for rows.NextRow() {
		}
	}
	err = results.Close()
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) {
		return refusal.Code, nil
	}
	return "", err
}

// queryHTTP is queryPort over HTTP.
func queryHTTP(address, token, query string) (state string, err error) {
	body, _ := json.Marshal(map[string]string{"statement": query})
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/api/v1/sql", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusOK {
		_, err = io.Copy(io.Discard, response.Body)
		return "", err
	}
	var problem struct {
		State string `json:"sqlstate"`
	}
	err = json.NewDecoder(response.Body).Decode(&problem)
	return problem.State, err
}
