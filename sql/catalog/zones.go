package catalog

import (
	"fmt"
	"strings"
	"time"
)

// zones fills pg_timezone_names with the zones of data/zones.txt; other zones can be used as well.
// The offsets are those at the first use: a server that runs through a clock change shows the old
// offset here.
func (b *builder) zones() {
	now := time.Now()
	for _, name := range strings.Fields(readFile("zones.txt")) {
		place, err := time.LoadLocation(name)
		if err != nil {
			continue // this machine does not have the zone
		}
		at := now.In(place)
		short, offset := at.Zone()
		b.add("pg_timezone_names", "name", name, "abbrev", short, "utc_offset", interval(offset), "is_dst", at.IsDST())
	}
}

// interval formats seconds as a stored interval.
func interval(seconds int) string { return fmt.Sprintf("0 0 %d", seconds*1_000_000) }
