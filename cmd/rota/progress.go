package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// progress is one line that is written over and over, for a person who waits at a terminal. A pipe gets nothing. It may
// be shown from several goroutines.
type progress struct {
	w io.Writer // nil: nobody waits

	mu    sync.Mutex
	last  time.Time
	shown bool
}

// progressEvery is as often as a person can read it.
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

// clear takes the line away, for what is said next.
func (p *progress) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shown {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
	p.shown, p.last = false, time.Time{}
}

// barWidth leaves room for words beside the bar on a terminal of 80 columns.
const barWidth = 24

// bar shows how much of a whole is done, and the words beside it.
func (p *progress) bar(done, total int64, format string, args ...any) {
	part := 0.0
	if total > 0 {
		part = min(1, float64(done)/float64(total))
	}
	full := int(part * barWidth)
	p.show("[%s%s] %3d%%  %s", strings.Repeat("#", full), strings.Repeat(".", barWidth-full), int(part*100), fmt.Sprintf(format, args...))
}

// byteSize writes a size for people.
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
