package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// terminal is what the program knows of the terminal it runs on. The zero value is a pipe, which gets plain text of any
// width.
type terminal struct {
	in, out, err bool // whether each of them is a terminal
	width        int  // columns; 0 if it is none
}

func detectTerminal(in, out, errs *os.File) terminal {
	s := terminal{in: term.IsTerminal(int(in.Fd())), out: term.IsTerminal(int(out.Fd())), err: term.IsTerminal(int(errs.Fd()))}
	if s.out {
		s.width, _, _ = term.GetSize(int(out.Fd())) // a terminal that does not know is as wide as it takes
	}
	return s
}

// width is how many columns a table may take, 0 for as many as it needs. Whoever sets COLUMNS means it, at a terminal or
// not.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return a.terminal.width
}

// useColour reports whether the reader is a person at a terminal who wants colours.
func (a *app) useColour() bool {
	return a.terminal.out && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// The colours of states, as a terminal's own palette has them: what is well is green, what wants a look is red.
const (
	colourGood = "\x1b[32m"
	colourBad  = "\x1b[31m"
	colourBusy = "\x1b[36m"
	colourWait = "\x1b[33m"
	colourDim  = "\x1b[2m"
	colourOff  = "\x1b[0m"
)

// stateColours covers the states of jobs, executions, groups, schedules, templates and reservations.
var stateColours = map[string]string{
	"completed": colourGood, "enabled": colourGood, "active": colourGood, "yes": colourGood,
	"failed": colourBad, "dead": colourBad, "partial": colourBad, "expired": colourBad,
	"running": colourBusy, "pending": colourBusy,
	"blocked": colourWait, "paused": colourWait, "scheduled": colourWait,
	"cancelled": colourDim, "skipped": colourDim, "disabled": colourDim, "archived": colourDim, "released": colourDim,
}

// paintState colours a state; a word that is none stays as it is.
func paintState(text string) string {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	if colour := stateColours[word]; colour != "" {
		return colour + text + colourOff
	}
	return text
}
