package main

import (
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// lockedBuffer is what a command writes while a test looks.
type lockedBuffer struct {
	mu   sync.Mutex
	text strings.Builder
	word string
	seen chan struct{}
}

// waitFor returns a channel that is closed once a word was written.
func (b *lockedBuffer) waitFor(word string) <-chan struct{} {
	b.word, b.seen = word, make(chan struct{})
	return b.seen
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text.Write(p)
	if b.seen != nil && strings.Contains(b.text.String(), b.word) {
		close(b.seen)
		b.seen = nil
	}
	return len(p), nil
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestTerminals: colours for a person at a terminal only, and tables that fit it without cutting ids.
func TestTerminals(t *testing.T) {
	s := startServer(t)
	s.run("job create fail -p permanent=true --wait -p 'message=" + strings.Repeat("a long story ", 20) + "'")
	id := idShape.FindString(s.must("job list"))
	for _, row := range []struct {
		name    string
		screen  screen
		env     map[string]string
		colours bool
		width   int
	}{
		{"a pipe", screen{}, nil, false, 0},
		{"a wide terminal", screen{out: true, width: 120}, nil, true, 120},
		{"one that is narrow", screen{out: true, width: 100}, nil, true, 100},
		{"NO_COLOR", screen{out: true, width: 120}, map[string]string{"NO_COLOR": "1"}, false, 120},
		{"a dumb one", screen{out: true, width: 120}, map[string]string{"TERM": "dumb"}, false, 120},
		{"COLUMNS", screen{out: true, width: 200}, map[string]string{"COLUMNS": "110"}, true, 110},
		{"COLUMNS of a pipe", screen{}, map[string]string{"COLUMNS": "110"}, false, 110},
		{"too narrow for what must stay", screen{out: true, width: 20}, nil, true, 0},
	} {
		out, errs, code := s.runIn("job list", row.screen, row.env)
		if code != exitDone || strings.Contains(out, "\x1b[31mfailed\x1b[0m") != row.colours || strings.Contains(out, "\x1b") != row.colours {
			t.Errorf("%s: exit %d, want colours %v: %s%s", row.name, code, row.colours, out, errs)
		}
		if !strings.Contains(out, id) {
			t.Errorf("%s: the id is cut: %s", row.name, out)
		}
		for line := range strings.Lines(strings.NewReplacer(colourBad, "", colourOff, "").Replace(out)) {
			if width := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); row.width > 0 && width > row.width {
				t.Errorf("%s: a line is %d wide: %s", row.name, width, line)
			}
		}
		if cut := strings.Contains(out, "…"); cut != (row.name != "a pipe") {
			t.Errorf("%s: cut %v: %s", row.name, cut, out)
		}
	}
}

// TestBulkActsAreConfirmed: a person at a terminal is asked, and no answer is no.
func TestBulkActsAreConfirmed(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	s.must("job create noop")
	terminal := screen{in: true, out: true, err: true, width: 120}
	for _, row := range []struct {
		line, answer string
		want         int
		done         bool
	}{
		{"job cancel --type noop", "", exitFailed, false},
		{"job cancel --type noop", "n\n", exitFailed, false},
		{"job cancel --all", "what?\n", exitFailed, false},
		{"job cancel --type noop", "y\n", exitDone, true},
		{"job retry --type noop --state cancelled", "no\n", exitFailed, false},
		{"job retry --type noop --state cancelled", "Yes\n", exitDone, true},
		{"job cancel --all --yes", "", exitDone, true},
		{"dead retry --all --yes", "", exitDone, true},
	} {
		out, errs, code := s.runIn(row.line, terminal, map[string]string{"STDIN": row.answer})
		asked := strings.Contains(errs, "[y/N]")
		if code != row.want || asked == strings.Contains(row.line, "--yes") || row.done == strings.Contains(errs, "nothing was done") {
			t.Errorf("%s with %q exits with %d: %s%s", row.line, row.answer, code, out, errs)
		}
	}
}

func TestTablesGiveWay(t *testing.T) {
	table := newTable("ID", "~FIRST", "~LAST")
	table.add("0123456789", strings.Repeat("f", 30), strings.Repeat("l", 30))
	for _, row := range []struct {
		width int
		want  []int
	}{
		{0, []int{10, 30, 30}},
		{74, []int{10, 30, 30}},
		{60, []int{10, 30, 16}}, // the last gives way first
		{40, []int{10, 18, 8}},  // down to what still says something
		{10, []int{10, 8, 8}},   // and no further
	} {
		got := table.fit(row.width)
		for i := range got {
			if got[i] != row.want[i] {
				t.Errorf("in %d columns: %v, want %v", row.width, got, row.want)
				break
			}
		}
	}
}

func TestTextOfOthersIsPlain(t *testing.T) {
	for text, want := range map[string]string{
		"two\nlines\tand a tab": "two lines and a tab",
		"\x1b[2Jgone":           "?[2Jgone",
		"\u202eevil":            "?evil",
		"\u009b31m":             "?31m",
		"Grüße, 世界":             "Grüße, 世界",
	} {
		if got := plainText(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestDistancesFromNow(t *testing.T) {
	a := &app{environment: environment{now: func() time.Time { return testNow }}}
	for offset, want := range map[time.Duration]string{
		0: "now", 400 * time.Millisecond: "in 0s", -time.Second: "1s ago", -90 * time.Second: "1m 30s ago", time.Minute: "in 1m",
		-11*time.Minute - 5*time.Second: "11m ago", 26*time.Hour + 5*time.Minute: "in 1d 2h", -100 * time.Hour: "4d ago",
	} {
		if offset == 400*time.Millisecond {
			want = "now"
		}
		if got := a.ago(testNow.Add(offset)); got != want {
			t.Errorf("%s from now is %q, want %q", offset, got, want)
		}
	}
	if got := a.ago(time.Time{}); got != "" {
		t.Errorf("no time is %q", got)
	}
}

// TestYAMLKeepsControlsEscaped: a YAML of raw controls could not be read back, and would reach the terminal.
func TestYAMLKeepsControlsEscaped(t *testing.T) {
	got, err := asYAML([]byte(`{"b": "\u001b[31m", "a": ["x\ny", "\t", {"deep": "\u0007"}], "n": 12345678901234567890, "t": "2026-01-01"}`))
	want := "b: \"\\x1b[31m\"\na:\n- |-\n  x\n  y\n- \"\\t\"\n- deep: \"\\a\"\n\"n\": 12345678901234567890\nt: \"2026-01-01\"\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestProgressIsForPeople: it appears on a terminal, and is gone before anything else is said.
func TestProgressIsForPeople(t *testing.T) {
	s := startServer(t)
	file := t.TempDir() + "/copy.db"
	if _, errs, _ := s.run("backup " + file); errs != "" {
		t.Errorf("a pipe gets %q", errs)
	}
	_, errs, code := s.runIn("backup "+file+" --force", screen{err: true}, nil)
	if code != exitDone || !strings.Contains(errs, "] ") || !strings.HasSuffix(errs, "\r\x1b[K") {
		t.Errorf("exit %d, a terminal gets %q", code, errs)
	}
}
