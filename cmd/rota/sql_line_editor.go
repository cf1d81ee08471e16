package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
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
