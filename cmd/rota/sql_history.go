package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// historyMax is how many lines are remembered.
const historyMax = 1000

// sqlHistory is the lines that were typed, those of earlier conversations too. What cannot be kept in its file is
// forgotten at the end: that is no reason not to go on.
type sqlHistory struct {
	path    string   // empty: nothing is kept
	lines   []string // the oldest first
	unsaved []string // of the statement that is being typed
}

// historyFile is where the lines of this user are kept.
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

// rewrite puts a shorter file in the place of one that has grown too long.
func (h *sqlHistory) rewrite() {
	file, err := os.CreateTemp(filepath.Dir(h.path), "sql_history") // nobody else may read it
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

// Add remembers a line.
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

// Len is how many lines there are.
func (h *sqlHistory) Len() int { return len(h.lines) }

// At is one of them, counted from the newest.
func (h *sqlHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// secretWord is what stands beside what nobody else should read.
var secretWord = regexp.MustCompile(`(?i)password|secret`)

// save keeps the lines of a statement that has its end, unless it may hold a secret: that may stand on any of them.
func (h *sqlHistory) save(statement string) {
	unsaved := h.unsaved
	h.unsaved = nil
	if h.path == "" || len(unsaved) == 0 || secretWord.MatchString(statement) || secretWord.MatchString(strings.Join(unsaved, "\n")) {
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
