package main

import (
	"bytes"
	"errors"
	"io"
	"os"

	"golang.org/x/term"
)

// errDropped says that somebody pressed Ctrl-C on a line.
var errDropped = errors.New("the line was dropped")

// sqlLines reads lines that can be edited. The terminal is raw only while one is typed, so that a statement which runs
// can be interrupted as anything else.
type sqlLines struct {
	app      *app
	terminal *term.Terminal
	keys     *keys
	file     *os.File // of the terminal; nil: what is typed comes from elsewhere
}

func newSQLLines(c *sqlConsole) *sqlLines {
	l := &sqlLines{app: c.app, keys: &keys{in: c.in}}
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

func (l *sqlLines) read(prompt string) (string, error) {
	if l.file != nil {
		state, err := term.MakeRaw(int(l.file.Fd()))
		if err != nil {
			return "", err
		}
		defer func() { _ = term.Restore(int(l.file.Fd()), state) }()
		l.fit()
	}
	l.terminal.SetPrompt(prompt)
	line, err := l.terminal.ReadLine()
	if l.keys.dropped {
		l.keys.dropped = false
		return "", errDropped
	}
	return line, err
}

// fit follows the size of the terminal, which may have changed since the last line.
func (l *sqlLines) fit() {
	width, height, err := term.GetSize(int(l.file.Fd()))
	if err == nil && width > 0 {
		l.app.screen.width = width
		_ = l.terminal.SetSize(width, height)
	}
}

// keys is what is typed, with Ctrl-C made to empty the line and end it: to the terminal it is the end of everything.
type keys struct {
	in      io.Reader
	buffer  [256]byte
	held    []byte
	dropped bool // the last line was ended so
}

const ctrlC = 3

// emptied ends an escape that was begun, goes to the end of the line, empties it and ends it.
const emptied = "~\x05\x15\r"

// Read hands over what was typed up to a Ctrl-C, and then what stands for that.
func (k *keys) Read(p []byte) (int, error) {
	if len(k.held) == 0 {
		n, err := k.in.Read(k.buffer[:])
		if n == 0 {
			return 0, err
		}
		k.held = k.buffer[:n]
	}
	if k.held[0] == ctrlC {
		k.held = k.held[1:]
		k.dropped = true
		return copy(p, emptied), nil
	}
	end := bytes.IndexByte(k.held, ctrlC)
	if end < 0 {
		end = len(k.held)
	}
	n := copy(p, k.held[:end])
	k.held = k.held[n:]
	return n, nil
}
