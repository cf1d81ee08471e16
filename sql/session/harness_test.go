package session_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/store/sqlite"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// began is the start time of each test. The clock stands still until a test moves it.
var began = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) move(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(by)
}

// fixture is a store, a console on it, and a session.
type fixture struct {
	*testing.T
	clock   *clock
	store   rota.Store
	console *session.Console
	session *session.Session
	keys    map[string]rota.Meta
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	c := &clock{now: began}
	store, err := sqlite.OpenWith(filepath.Join(t.TempDir(), "rota.db"), sqlite.Config{Clock: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return newFixtureOn(t, c, store)
}

func newFixtureOn(t *testing.T, c *clock, store rota.Store) *fixture {
	t.Helper()
	for _, kind := range []string{"sql", "call", "exec", "noop", "report"} {
		declare := &rota.PutType{Meta: rota.NewMeta(""), Name: kind}
		if _, err := rota.Do[*rota.TypePut](context.Background(), store, declare); err != nil {
			t.Fatal(err)
		}
	}
	b := &fixture{T: t, clock: c, store: store, keys: map[string]rota.Meta{}}
	b.console = session.New(session.Config{Clock: c.Now, Version: "1.2.3", Targets: []string{"main", "warehouse"}})
	t.Cleanup(func() { _ = b.console.Close() })
	b.session = b.console.Session(store, "admin")
	return b
}

// run runs a text and returns its answers or its error as text.
func (b *fixture) run(text string, args ...any) string {
	b.Helper()
	var out strings.Builder
	err := b.session.Run(context.Background(), text, args, func(a *session.Answer) error {
		out.WriteString(formatAnswer(a))
		return nil
	})
	if err != nil {
		fmt.Fprintf(&out, "ERROR: %v\n", err)
	}
	return out.String()
}

// formatAnswer returns an answer as text.
func formatAnswer(a *session.Answer) string {
	var out strings.Builder
	for _, n := range a.Notices {
		fmt.Fprintf(&out, "NOTICE: %s\n", n)
	}
	if a.Columns != nil {
		var names []string
		for _, c := range a.Columns {
			names = append(names, c.Name)
		}
		out.WriteString(strings.Join(names, " | ") + "\n")
		for _, row := range a.Rows {
			var cells []string
			for _, v := range row {
				if v == nil {
					v = ""
				}
				cells = append(cells, fmt.Sprint(v))
			}
			out.WriteString(strings.TrimRight(strings.Join(cells, " | "), " ") + "\n")
		}
	}
	out.WriteString(a.Tag + "\n")
	return out.String()
}

// ids numbers the ids of a transcript in the order in which they come, so that it
// is the same each time.
type ids struct {
	known map[string]string
}

var anID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)

func (i *ids) number(text string) string {
	return anID.ReplaceAllStringFunc(text, func(id string) string {
		if i.known[id] == "" {
			i.known[id] = fmt.Sprintf("{id %d}", len(i.known)+1)
		}
		return i.known[id]
	})
}

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf("%s, line %d:\n got %s\nwant %s\n(go test -update rewrites it)", path, i+1, a[i], b[i])
		}
	}
	t.Fatalf("%s: got %d lines, want %d", path, len(a), len(b))
}
