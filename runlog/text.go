package runlog

import (
	"bytes"
	"fmt"
	"slices"
)

// text is the part of a log that does not depend on where it is stored: its size, its limit, and the
// lines that state what is missing.
type text struct {
	max     int64
	size    int64
	midLine bool // the last byte written is not a line break
	full    bool
	lost    int64 // bytes that could not be written and that no notice states yet
}

// append writes a part of the log with a function that returns how much of it was accepted. What
// could not be written before is stated first. Of a part that does not fit it writes the lines that do,
// and the notice that the log is full.
func (t *text) append(p []byte, write func([]byte) (int, error)) error {
	if t.full || len(p) == 0 {
		return nil
	}
	missing, midLine := t.missing(), t.midLine
	if len(missing) > 0 {
		midLine = false
	}
	kept, end := p, []byte(nil)
	if fits := max(0, t.max-t.size-int64(len(missing))); int64(len(p)) > fits {
		kept = t.lastLines(p[:fits], midLine)
		if len(kept) > 0 {
			midLine = kept[len(kept)-1] != '\n'
		}
		end = noticeFull(midLine, t.max)
	}
	whole := kept
	if len(missing)+len(end) > 0 {
		whole = slices.Concat(missing, kept, end)
	}
	n, err := t.write(whole, write)
	if n >= len(missing) {
		t.lost = 0
	}
	if err != nil {
		t.lost += int64(len(p) - min(max(0, n-len(missing)), len(kept)))
		return err
	}
	t.full = len(end) > 0
	return nil
}

// lastLines is what is kept of the last part of a full log: whole lines, if possible.
func (t *text) lastLines(p []byte, midLine bool) []byte {
	if end := bytes.LastIndexByte(p, '\n'); end >= 0 || t.size > 0 && !midLine {
		return p[:end+1]
	}
	return p
}

// stateLost writes how much could not be written, if anything.
func (t *text) stateLost(write func([]byte) (int, error)) error {
	missing := t.missing()
	if len(missing) == 0 {
		return nil
	}
	_, err := t.write(missing, write)
	if err == nil {
		t.lost = 0
	}
	return err
}

// missing is the notice of how much could not be written, empty if nothing is lost.
func (t *text) missing() []byte {
	if t.lost == 0 {
		return nil
	}
	return notice(t.midLine, "%d bytes are missing here: they could not be written", t.lost)
}

// noticeFull is the last line of a log that has reached its limit.
func noticeFull(midLine bool, limit int64) []byte {
	return notice(midLine, "the log is full at %s; later lines are not stored", formatSize(limit))
}

// notice is a line that Rota adds to those of the handler.
func notice(midLine bool, format string, args ...any) []byte {
	start := ""
	if midLine {
		start = "\n"
	}
	return fmt.Appendf(nil, "%s[rota: "+format+"]\n", append([]any{start}, args...)...)
}

func (t *text) write(p []byte, write func([]byte) (int, error)) (n int, err error) {
	n, err = write(p)
	t.size += int64(n)
	if n > 0 {
		t.midLine = p[n-1] != '\n'
	}
	return n, err
}
