package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// errLineCancelled says that somebody pressed Ctrl-C on a line.
var errLineCancelled = errors.New("the line was dropped")

// lineEditor reads lines that can be edited. The terminal is raw only while one is typed, so that a statement which runs
// can be interrupted as anything else.
type lineEditor struct {
	app      *app
	terminal *term.Terminal
	keys     *keyReader
	file     *os.File // of the terminal; nil: what is typed comes from elsewhere
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

// resize follows the size of the terminal, which may have changed since the last line.
func (l *lineEditor) resize() {
	width, height, err := term.GetSize(int(l.file.Fd()))
	if err == nil && width > 0 {
		l.app.terminal.width = width
		_ = l.terminal.SetSize(width, height)
	}
}

// keyReader is what is typed, with Ctrl-C made to empty the line and end it: to the terminal it is the end of everything.
type keyReader struct {
	in        io.Reader
	buffer    [256]byte
	buffered  []byte
	cancelled bool // the last line was ended so
}

const ctrlC = 3

// clearLineKeys ends an escape that was begun, goes to the end of the line, empties it and ends it.
const clearLineKeys = "~\x05\x15\r"

// Read hands over what was typed up to a Ctrl-C, and then what stands for that.
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
