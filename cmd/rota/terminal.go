package main

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// terminal describes the terminal that the program runs on. The zero value is a pipe, which gets text without colours
// and of any width.
type terminal struct {
	in, out, err bool // whether standard input, output and error are terminals
	width        int  // columns; 0 if unknown or not a terminal
}

func detectTerminal(in, out, errs *os.File) terminal {
	s := terminal{in: term.IsTerminal(int(in.Fd())), out: term.IsTerminal(int(out.Fd())), err: term.IsTerminal(int(errs.Fd()))}
	if s.out {
		s.width, _, _ = term.GetSize(int(out.Fd())) // 0 if the terminal does not know its size
	}
	return s
}

// width returns how many columns a table may take, 0 for any number. COLUMNS overrides the width of the terminal, and
// sets one for a pipe.
func (a *app) width() int {
	if n, err := strconv.Atoi(a.getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return a.terminal.width
}

// useColour reports whether standard output is a terminal that shows colours, and NO_COLOR is not set.
func (a *app) useColour() bool {
	return a.terminal.out && a.getenv("NO_COLOR") == "" && a.getenv("TERM") != "dumb"
}

// The colours of states, from the palette of the terminal: green is good, red needs attention.
const (
	colourGood = "\x1b[32m"
	colourBad  = "\x1b[31m"
	colourBusy = "\x1b[36m"
	colourWait = "\x1b[33m"
	colourDim  = "\x1b[2m"
	colourOff  = "\x1b[0m"
)

// stateColours has the states of jobs, executions, groups, schedules, templates and reservations.
var stateColours = map[string]string{
	"completed": colourGood, "enabled": colourGood, "active": colourGood, "yes": colourGood,
	"failed": colourBad, "dead": colourBad, "partial": colourBad, "expired": colourBad,
	"running": colourBusy, "pending": colourBusy,
	"blocked": colourWait, "paused": colourWait, "scheduled": colourWait,
	"cancelled": colourDim, "skipped": colourDim, "disabled": colourDim, "archived": colourDim, "released": colourDim,
}

// paintState adds the colour of a state. Text that is not a state stays unchanged.
func paintState(text string) string {
	word, _, _ := strings.Cut(strings.ToLower(text), " ")
	if colour := stateColours[word]; colour != "" {
		return colour + text + colourOff
	}
	return text
}
