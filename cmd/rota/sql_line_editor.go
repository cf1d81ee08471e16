package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/rotajobs/rota/sql/ddl"
)

// errLineCancelled is returned for a line that the user cancelled with Ctrl-C.
var errLineCancelled = errors.New("line cancelled")

// lineEditor reads lines with editing, history and completion. The terminal is raw only while a line is edited, so that
// Ctrl-C interrupts a running statement.
type lineEditor struct {
	app      *app
	terminal *term.Terminal
	keys     *keyReader
	file     *os.File // the terminal; nil if the input is not a file
}

func newLineEditor(c *sqlConsole) *lineEditor {
	l := &lineEditor{app: c.app, keys: &keyReader{in: c.in}}
	l.file, _ = c.in.(*os.File)
	l.terminal = term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{l.keys, c.out}, "")
	l.terminal.History = c.history
	complete := &sqlCompleter{console: c, list: l.terminal}
	l.terminal.AutoCompleteCallback = complete.key
	return l
}

func (l *lineEditor) read(prompt string) (string, error) {
	if l.file != nil {
		state, err := term.MakeRaw(int(l.file.Fd()))
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(int(l.file.Fd()), state) }()
		l.resize()
	}
	l.terminal.SetPrompt(prompt)
	line, err := l.terminal.ReadLine()
	if l.keys.cancelled {
		l.keys.cancelled = false
		return "", errLineCancelled
	}
	return line, err
}

// resize reads the size of the terminal, which may have changed since the last line.
func (l *lineEditor) resize() {
	width, height, err := term.GetSize(int(l.file.Fd()))
	if err == nil && width > 0 {
		l.app.terminal.width = width
		_ = l.terminal.SetSize(width, height)
	}
}

// keyReader reads keys and replaces Ctrl-C by keys that clear and end the line. The terminal library would end the
// input.
type keyReader struct {
	in        io.Reader
	buffer    [256]byte
	buffered  []byte
	cancelled bool // the last line was ended by Ctrl-C
}

const ctrlC = 3

// clearLineKeys ends an incomplete escape sequence, moves to the end of the line, clears it and ends it.
const clearLineKeys = "~\x05\x15\r"

// Read returns the keys before a Ctrl-C, and then clearLineKeys in its place.
func (k *keyReader) Read(p []byte) (int, error) {
	if len(k.buffered) == 0 {
		n, err := k.in.Read(k.buffer[:])
		if n == 0 {
			return 0, err
		}
		k.buffered = k.buffer[:n]
	}
	if k.buffered[0] == ctrlC {
		k.buffered = k.buffered[1:]
		k.cancelled = true
		return copy(p, clearLineKeys), nil
	}
	end := bytes.IndexByte(k.buffered, ctrlC)
	if end < 0 {
		end = len(k.buffered)
	}
	n := copy(p, k.buffered[:end])
	k.buffered = k.buffered[n:]
	return n, nil
}

// historyMax is the largest number of lines in the history.
const historyMax = 1000

// sqlHistory is the history of typed lines, with those of earlier sessions. Errors of its file are ignored: the console
// works without a stored history.
type sqlHistory struct {
	path    string   // file of the history; empty if nothing is stored
	lines   []string // oldest first
	unsaved []string // lines of the incomplete statement
}

// historyFile returns the path of the user's history.
func historyFile(getenv func(string) string) string {
	dir := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		home := getenv("HOME")
		if home == "" {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "rota", "sql_history")
}

func openSQLHistory(path string) *sqlHistory {
	h := &sqlHistory{path: path}
	content, err := os.ReadFile(path)
	if err != nil {
		return h
	}
	h.lines = slices.DeleteFunc(strings.Split(string(content), "\n"), func(line string) bool { return line == "" })
	if len(h.lines) > historyMax {
		h.lines = slices.Clone(h.lines[len(h.lines)-historyMax:])
		h.rewrite()
	}
	return h
}

// rewrite replaces the file by one with the current lines.
func (h *sqlHistory) rewrite() {
	file, err := os.CreateTemp(filepath.Dir(h.path), "sql_history") // CreateTemp makes it readable by the user only
	if err != nil {
		return
	}
	_, err = file.WriteString(strings.Join(h.lines, "\n") + "\n")
	if closed := file.Close(); err == nil && closed == nil {
		err = os.Rename(file.Name(), h.path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
}

// Add adds a line.
func (h *sqlHistory) Add(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	h.unsaved = append(h.unsaved, line)
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > historyMax {
		h.lines = h.lines[1:]
	}
}

// Len returns the number of lines.
func (h *sqlHistory) Len() int { return len(h.lines) }

// At returns a line, counted from the newest.
func (h *sqlHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// secretWord matches words that accompany a secret in a statement.
var secretWord = regexp.MustCompile(`(?i)password|secret`)

// mayHoldSecret reports whether a text may contain a password or a secret, also with a misspelled word.
func mayHoldSecret(text string) bool { return secretWord.MatchString(text) || ddl.SetsUnknown(text) }

// save stores the lines of a complete statement, unless one of them may contain a secret.
func (h *sqlHistory) save(statement string) {
	unsaved := h.unsaved
	h.unsaved = nil
	if h.path == "" || len(unsaved) == 0 || mayHoldSecret(statement) || mayHoldSecret(strings.Join(unsaved, "\n")) {
		return
	}
	if os.MkdirAll(filepath.Dir(h.path), 0o700) != nil {
		return
	}
	file, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = file.WriteString(strings.Join(unsaved, "\n") + "\n")
	_ = file.Close()
}
