package runlog

import (
	"cmp"
	"log/slog"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
)

// Config of logs. The zero value works.
type Config struct {
	// Max is the largest size of one log, in bytes. Later lines are not stored. Default 10 MiB.
	Max int64
	// Keep is how long logs are kept after the start of their run. Default 30 days.
	Keep time.Duration
	// Clock is the wall clock. Default time.Now.
	Clock func() time.Time
	// Logger receives messages about logs that cannot be stored. Default slog.Default.
	Logger *slog.Logger
}

// DefaultMax and DefaultKeep apply where a Config leaves the field zero.
const (
	DefaultMax  = 10 << 20
	DefaultKeep = 30 * day

	day = 24 * time.Hour
)

func (c Config) withDefaults() Config {
	c.Max = cmp.Or(c.Max, DefaultMax)
	c.Keep = cmp.Or(c.Keep, DefaultKeep)
	if c.Clock == nil {
		c.Clock = time.Now
	}
	c.Logger = cmp.Or(c.Logger, slog.Default())
	return c
}

func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	return rota.FormatDuration(d)
}

// formatSize writes a size in the largest unit that divides it.
func formatSize(size int64) string {
	units := []string{"B", "KiB", "MiB", "GiB"}
	at := 0
	for ; at < len(units)-1 && size > 0 && size%1024 == 0; at++ {
		size /= 1024
	}
	return strconv.FormatInt(size, 10) + units[at]
}
