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

// offsetClock is a clock that tests set while the process runs, as somebody
// might set that of the machine.
type offsetClock struct {
	path   string
	under  func() time.Time
	logger *slog.Logger
	offset atomic.Int64
}

func newOffsetClock(path string, under func() time.Time, logger *slog.Logger) *offsetClock {
	c := &offsetClock{path: path, under: under, logger: logger}
	c.read()
	return c
}

// now has no monotonic part: that of a clock which is set tells nothing of it.
func (c *offsetClock) now() time.Time {
	return c.under().Add(time.Duration(c.offset.Load())).Round(0)
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

// read takes the offset that is in the file. A file that is not there is none;
// one that is just being written changes nothing.
func (c *offsetClock) read() {
	text, err := os.ReadFile(c.path)
	offset := time.Duration(0)
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			offset, err = time.ParseDuration(strings.TrimSpace(string(text)))
		}
		if err != nil {
			c.logger.Warn("the offset of the clock cannot be read", "file", c.path, "error", err)
			return
		}
	}
	if before := c.offset.Swap(int64(offset)); before != int64(offset) {
		c.logger.Warn("the clock is set for a test", "offset", offset)
	}
}
