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
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
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

// expensive are queries that use as much memory as they can.
var expensive = []string{
	repeated(200, "length(string_agg(repeat('x', 4000000) || '%d', ','))") + " FROM generate_series(1, 2)",
	repeated(200, "length(repeat('x', 60000) || '%d')"),
	repeated(18, "repeat('x', 1600000) || '%d'"),
	"SELECT repeat('x', 3000) || a FROM generate_series(1, 10000) a",
	"SELECT string_agg(repeat('x', 1000000), ',') FROM generate_series(1, 1000)",
	"SELECT string_agg(repeat('x', 300000) || a, ',' ORDER BY a DESC) FROM generate_series(1, 400) a GROUP BY a % 40",
	"SELECT length((array_agg(a) || array_agg(-a))::text) FROM generate_series(1, 200000) a",
	"SELECT length(lpad('ü', 2000000, 'äö')), length(regexp_replace(repeat('a', 2000000), 'a', 'b', 'g')), array_length(string_to_array(repeat('a,', 1500000), ','), 1)",
	"WITH RECURSIVE r(n, t) AS (SELECT 1, 'x' UNION ALL SELECT n + 1, t || t FROM r WHERE n < 40) SELECT count(*), max(length(t)) FROM r",
	"SELECT count(*) FROM (SELECT DISTINCT repeat('x', 100000) || a AS t FROM generate_series(1, 2000) a ORDER BY t) d",
}

// TestEightClientsStayWithinMemoryOfQueries sends each query by eight clients at the same time, half of them over HTTP, to
// a process of its own, and compares its peak with that of the idle server.
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
	for _, query := range expensive {
		var clients sync.WaitGroup
		for i := range 8 {
			clients.Go(func() {
				ask, address := queryHTTP, addresses.HTTP
				if i%2 == 0 {
					ask, address = queryPort, addresses.SQL
				}
				if err := ask(address, password, query); err != nil {
					t.Errorf("%.60s: %v", query, err)
				}
			})
		}
		clients.Wait()
		used := s.peakMemory() - idle
		t.Logf("%d MiB after %.60s", used>>20, query)
		if used > sqlMemoryMax {
			t.Fatalf("the queries used %d MiB, more than the %d MiB that are documented", used>>20, sqlMemoryMax>>20)
		}
	}
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

// memoryStates are the SQLSTATEs of a query that is refused because of its size or time.
var memoryStates = []string{"54000", "53200", "57014", "53300"}

// queryPort runs a query on the SQL port. It returns an error unless the query succeeds or is refused because of its size.
func queryPort(address, password, query string) error {
	conn, err := pgconn.Connect(context.Background(), "postgres://admin:"+password+"@"+address+"/rota?sslmode=disable")
	if err != nil {
		return err
	}
	defer conn.Close(context.Background())
	results := conn.Exec(context.Background(), query)
	for results.NextResult() {
		rows := results.ResultReader()
		for rows.NextRow() {
		}
	}
	err = results.Close()
	var refusal *pgconn.PgError
	if errors.As(err, &refusal) && slices.Contains(memoryStates, refusal.Code) {
		return nil
	}
	return err
}

// queryHTTP is queryPort over HTTP.
func queryHTTP(address, token, query string) error {
	body, _ := json.Marshal(map[string]string{"statement": query})
	r, err := http.NewRequest(http.MethodPost, "http://"+address+"/api/v1/sql", bytes.NewReader(body))
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
	if response.StatusCode == http.StatusOK {
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	var problem struct {
		State  string `json:"sqlstate"`
		Detail string
	}
	if err := json.NewDecoder(response.Body).Decode(&problem); err != nil || !slices.Contains(memoryStates, problem.State) {
		return fmt.Errorf("%s: %s %s", response.Status, problem.State, problem.Detail)
	}
	return nil
}
