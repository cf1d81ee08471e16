package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

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

// progress is one line on the terminal that is overwritten with each step. It prints nothing to a pipe. Several
// goroutines may use it.
type progress struct {
	w io.Writer // nil if standard error is not a terminal

	mu    sync.Mutex
	last  time.Time
	shown bool
}

// progressEvery is the shortest time between two updates of the line.
const progressEvery = 50 * time.Millisecond

func (a *app) newProgress() *progress {
	if !a.terminal.err {
		return &progress{}
	}
	return &progress{w: a.err}
}

func (p *progress) show(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if now := time.Now(); p.w != nil && now.Sub(p.last) >= progressEvery {
		p.last, p.shown = now, true
		fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
	}
}

// clear erases the line before other output.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.shown, p.last = false, time.Time{}
}

// barWidth leaves space for text beside the bar on a terminal of 80 columns.
const barWidth = 24

// bar shows the part that is done as a bar and a percentage, followed by the text.
func (p *progress) bar(done, total int64, format string, args ...any) {
	part := 0.0
	if total > 0 {
		part = min(1, float64(done)/float64(total))
	}
	full := int(part * barWidth)
	p.show("[%s%s] %3d%%  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), int(part*100), fmt.Sprintf(format, args...))
}

// byteSize formats a size with a binary unit.
func byteSize(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d B", n)
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/(unit*unit))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(unit*unit*unit))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
