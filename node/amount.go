package node

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota"
)

// parseDuration parses durations as all of Rota does; 0 needs no unit.
func parseDuration(text string) (time.Duration, error) {
	if text == "0" {
		return 0, nil
	}
	d, err := rota.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%s is not a duration", quoted(text))
	}
	return d, nil
}

func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return rota.FormatDuration(d)
}

// units are the units of sizes. formatSize uses the first that divides the size.
var units = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3}, {"KB", 1e3}, {"B", 1},
}

// parseSize parses a whole number of bytes, or of a unit.
func parseSize(text string) (int64, error) {
	count, size := text, int64(1)
	for _, unit := range units {
		if before, ok := strings.CutSuffix(text, unit.name); ok {
			count, size = strings.TrimSpace(before), unit.bytes
			break
		}
	}
	n, err := strconv.ParseInt(count, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (n > math.MaxInt64/size || n < 0):
		return 0, fmt.Errorf("%s is out of range", quoted(text))
	case err != nil:
		return 0, fmt.Errorf("%s is not a size", quoted(text))
	}
	return n * size, nil
}

func formatSize(size int64) string {
	for _, unit := range units {
		if size >= unit.bytes && size%unit.bytes == 0 {
			return strconv.FormatInt(size/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(size, 10) + "B"
}
