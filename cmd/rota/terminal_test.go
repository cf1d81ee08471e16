package main

import (
	"io"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// lockedBuffer is the output of a command that a test reads while the command runs.
type lockedBuffer struct {
	mu     sync.Mutex
	text   strings.Builder
	word   string
	seen   chan struct{}
	closed bool
}

// waitFor returns a channel that is closed when the output contains the word.
func (b *lockedBuffer) waitFor(word string) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	seen := make(chan struct{})
	b.word, b.seen = word, seen
	b.notify()
	return seen
}

func (b *lockedBuffer) notify() {
	if b.seen != nil && strings.Contains(b.text.String(), b.word) {
		close(b.seen)
		b.seen = nil
	}
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return 0, io.ErrClosedPipe
	}
	b.text.Write(p)
	b.notify()
	return len(p), nil
}

// close makes further writes fail, like a closed pipe.
func (b *lockedBuffer) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// TestTablesFollowTerminalWidthAndColour: only a terminal gets colours, and tables fit its width without cutting ids.
func TestTablesFollowTerminalWidthAndColour(t *testing.T) {
	s := startServer(t)
	s.run("job create fail -p permanent=true --wait -p 'message=" + strings.Repeat("a long story ", 20) + "'")
	id := idShape.FindString(s.must("job list"))
	for _, row := range []struct {
		name    string
		screen  terminal
		env     map[string]string
		colours bool
		width   int
	}{
		{"a pipe", terminal{}, nil, false, 0},
		{"a wide terminal", terminal{out: true, width: 120}, nil, true, 120},
		{"one that is narrow", terminal{out: true, width: 100}, nil, true, 100},
		{"NO_COLOR", terminal{out: true, width: 120}, map[string]string{"NO_COLOR": "1"}, false, 120},
		{"a dumb one", terminal{out: true, width: 120}, map[string]string{"TERM": "dumb"}, false, 120},
		{"COLUMNS", terminal{out: true, width: 200}, map[string]string{"COLUMNS": "110"}, true, 110},
		{"COLUMNS of a pipe", terminal{}, map[string]string{"COLUMNS": "110"}, false, 110},
		{"a very narrow one", terminal{out: true, width: 60}, nil, true, 60},
		{"COLUMNS of 50", terminal{}, map[string]string{"COLUMNS": "50"}, false, 50},
		{"too narrow for what must stay", terminal{out: true, width: 20}, nil, true, 0},
	} {
		out, errs, code := s.runWith("job list", row.screen, row.env)
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
		if cut, want := strings.Contains(out, "…"), row.width >= 60; cut != want {
			t.Errorf("%s: cut %v: %s", row.name, cut, out)
		}
	}
}

// TestBulkCommandsAskForConfirmation: the question has the number of jobs, and no answer means no.
func TestBulkCommandsAskForConfirmation(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	s.must("job create noop")
	s.must("job create noop --delay 1h")
	terminal := terminal{in: true, out: true, err: true, width: 120}
	for _, row := range []struct {
		line, answer string
		want         int
		question     string
	}{
		{"job cancel --type noop", "", exitFailed, "Cancel every job with type noop that has not ended (2 jobs)?"},
		{"job cancel --type noop --state queued", "n\n", exitFailed, "Cancel every job with state queued, type noop that has not ended (1 job)?"},
		{"job cancel --template nosuch", "n\n", exitFailed, "Cancel every job with template nosuch that has not ended (0 jobs)?"},
		{"job cancel --all", "what?\n", exitFailed, "Cancel every job that has not ended (2 jobs)?"},
		{"job cancel --type noop", "y\n", exitDone, "Cancel every job"},
		{"job retry --type noop --state cancelled", "no\n", exitFailed, "Retry every job with state cancelled, type noop that ended without completing (2 jobs)?"},
		{"job retry --type noop --state cancelled", "Yes\n", exitDone, "Retry every job"},
		{"dead retry --type noop", "n\n", exitFailed, "Retry every job with type noop that ended without completing (0 jobs)?"},
		{"dead retry --all", "n\n", exitFailed, "Retry every job that ended without completing (0 jobs)?"},
		{"job cancel --all --yes", "", exitDone, ""},
		{"dead retry --all --yes", "", exitDone, ""},
	} {
		out, errs, code := s.runWith(row.line, terminal, map[string]string{"STDIN": row.answer})
		asked, refused := strings.Contains(errs, "[y/N]"), strings.Contains(errs, "nothing was done")
		if code != row.want || asked != (row.question != "") || !strings.HasPrefix(errs, row.question) || refused != (row.want != exitDone) {
			t.Errorf("%s with %q exits with %d: %s%s", row.line, row.answer, code, out, errs)
		}
	}
}

// TestBulkCommandsWithoutTerminalNeedYes: without a terminal and --yes nothing is done, even if standard input has a y.
func TestBulkCommandsWithoutTerminalNeedYes(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	s.must("job create noop")
	for _, line := range []string{"job cancel --all", "job cancel --type noop", "job retry --state cancelled", "dead retry --all", "dead retry --type noop"} {
		for _, sc := range []terminal{{}, {in: true}, {out: true, err: true, width: 80}} {
			_, errs, code := s.runWith(line, sc, map[string]string{"STDIN": "y\n"})
			if code != exitUsage || !strings.Contains(errs, "hint: add --yes") {
				t.Errorf("%s at %+v exits with %d: %s", line, sc, code, errs)
			}
		}
	}
	if list := s.must("job list"); strings.Count(list, "queued") != 1 {
		t.Errorf("a job was changed:\n%s", list)
	}
	if out := s.must("job cancel --all --yes"); !strings.HasPrefix(out, "cancelled 1 job,") {
		t.Error(out)
	}
}

func TestTableColumnsShrinkFromTheRight(t *testing.T) {
	table := newTable("ID", "~FIRST", "~LAST")
	table.add("0123456789", strings.Repeat("f", 30), strings.Repeat("l", 30))
	for _, row := range []struct {
		width int
		want  []int
	}{
		{0, []int{10, 30, 30}},
		{74, []int{10, 30, 30}},
		{60, []int{10, 30, 16}}, // the last column shrinks first
		{40, []int{10, 18, 8}},  // down to columnMin
		{10, []int{10, 8, 8}},   // and no further
	} {
		_, got := table.fit(row.width)
		for i := range got {
			if got[i] != row.want[i] {
				t.Errorf("in %d columns: %v, want %v", row.width, got, row.want)
				break
			}
		}
	}
}

// TestTableDropsColumnsBeforeCuttingNames: columns are dropped in their order before a name is cut.
func TestTableDropsColumnsBeforeCuttingNames(t *testing.T) {
	for _, row := range []struct {
		width int
		want  string
	}{
		{0, "ID          NAME              STATE  COUNT  NOTE\n0123456789  a.name.that.goes  ready  12345  it says much\n"},
		{54, "ID          NAME              STATE  COUNT  NOTE\n0123456789  a.name.that.goes  ready  12345  it says m…\n"},
		{51, "ID          NAME              STATE  NOTE\n0123456789  a.name.that.goes  ready  it says much\n"},
		{45, "ID          NAME              STATE  NOTE\n0123456789  a.name.that.goes  ready  it says…\n"},
		{36, "ID          NAME              STATE\n0123456789  a.name.that.goes  ready\n"},
		{28, "ID          NAME       STATE\n0123456789  a.name.t…  ready\n"},
		{10, "ID          NAME      STATE\n0123456789  a.name.…  ready\n"},
	} {
		table := newTable("ID", "^NAME", "!STATE", "COUNT", "~NOTE").mayDrop("COUNT", "NOTE")
		table.add("0123456789", "a.name.that.goes", "ready", "12345", "it says much")
		var b strings.Builder
		a := &app{environment: environment{terminal: terminal{width: row.width}, getenv: func(string) string { return "" }}}
		if a.printTable(&b, table); b.String() != row.want {
			t.Errorf("in %d columns:\n%swant\n%s", row.width, b.String(), row.want)
		}
	}
}

func TestSanitize(t *testing.T) {
	for text, want := range map[string]string{
		"two\nlines\tand a tab": "two lines and a tab",
		"\x1b[2Jgone":           "?[2Jgone",
		"\u202eevil":            "?evil",
		"\u009b31m":             "?31m",
		"Grüße, 世界":             "Grüße, 世界",
	} {
		if got := sanitize(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestAgo(t *testing.T) {
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

// TestYAMLEscapesControlCharacters: raw control characters are invalid YAML, and a terminal would interpret them.
func TestYAMLEscapesControlCharacters(t *testing.T) {
	got, err := asYAML([]byte(`{"b": "\u001b[31m", "a": ["x\ny", "\t", {"deep": "\u0007"}], "n": 12345678901234567890, "t": "2026-01-01"}`))
	want := "b: \"\\x1b[31m\"\na:\n- |-\n  x\n  y\n- \"\\t\"\n- deep: \"\\a\"\n\"n\": 12345678901234567890\nt: \"2026-01-01\"\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestProgressIsShownOnTerminalOnly: the line is erased before other output.
func TestProgressIsShownOnTerminalOnly(t *testing.T) {
	s := startServer(t)
	file := t.TempDir() + "/copy.db"
	if _, errs, _ := s.run("backup " + file); errs != "" {
		t.Errorf("a pipe gets %q", errs)
	}
	_, errs, code := s.runWith("backup "+file+" --force", terminal{err: true}, nil)
	if code != exitDone || !strings.Contains(errs, "] ") || !strings.HasSuffix(errs, "\r\x1b[K") {
		t.Errorf("exit %d, a terminal gets %q", code, errs)
	}
}
