package node

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"time"
)

// offsetClock is a clock that tests change while the process runs, as an operator
// might change the clock of the machine.
type offsetClock struct {
	path   string
	base   func() time.Time
	logger *slog.Logger
	offset atomic.Int64
}

func newOffsetClock(path string, base func() time.Time, logger *slog.Logger) *offsetClock {
	c := &offsetClock{path: path, base: base, logger: logger}
	c.read()
	return c
}

// now returns a time without a monotonic part, which would not follow the offset.
func (c *offsetClock) now() time.Time {
	return c.base().Add(time.Duration(c.offset.Load())).Round(0)
}

// run reads the file once a second.
func (c *offsetClock) run(ctx context.Context) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			c.read()
		case <-ctx.Done():
			return
		}
	}
}

// read sets the offset to the value in the file. A missing file means no offset; a
// file that is being written and cannot be parsed changes nothing.
func (c *offsetClock) read() {
	text, err := os.ReadFile(c.path)
	offset := time.Duration(0)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			offset, err = time.ParseDuration(strings.TrimSpace(string(text)))
		}
		if err != nil {
			c.logger.Warn("the clock offset file cannot be read; the offset stays as it is", "file", c.path, "error", err)
			return
		}
	}
	if before := c.offset.Swap(int64(offset)); before != int64(offset) {
		c.logger.Warn("a test has changed the clock", "offset", offset)
	}
}
