package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

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
