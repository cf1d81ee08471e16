package catalog

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// zoneNames are the listed time zones. Other zones can be used as well.
const zoneNames = `
	UTC GMT Etc/UTC
	Africa/Cairo Africa/Casablanca Africa/Johannesburg Africa/Lagos Africa/Nairobi
	America/Anchorage America/Argentina/Buenos_Aires America/Bogota America/Caracas America/Chicago America/Denver
	America/Halifax America/Lima America/Los_Angeles America/Mexico_City America/New_York America/Phoenix
	America/Santiago America/Sao_Paulo America/St_Johns America/Toronto America/Vancouver
	Asia/Almaty Asia/Baghdad Asia/Bangkok Asia/Colombo Asia/Dhaka Asia/Dubai Asia/Ho_Chi_Minh Asia/Hong_Kong Asia/Jakarta
	Asia/Jerusalem Asia/Karachi Asia/Kathmandu Asia/Kolkata Asia/Manila Asia/Riyadh Asia/Seoul Asia/Shanghai
	Asia/Singapore Asia/Taipei Asia/Tashkent Asia/Tehran Asia/Tokyo Asia/Yangon
	Atlantic/Azores Atlantic/Reykjavik
	Australia/Adelaide Australia/Brisbane Australia/Darwin Australia/Melbourne Australia/Perth Australia/Sydney
	Europe/Amsterdam Europe/Athens Europe/Berlin Europe/Brussels Europe/Bucharest Europe/Budapest Europe/Copenhagen
	Europe/Dublin Europe/Helsinki Europe/Istanbul Europe/Kyiv Europe/Lisbon Europe/London Europe/Madrid Europe/Moscow
	Europe/Oslo Europe/Paris Europe/Prague Europe/Rome Europe/Sofia Europe/Stockholm Europe/Vienna Europe/Warsaw
	Europe/Zurich
	Pacific/Auckland Pacific/Fiji Pacific/Honolulu`

// zone is a time zone with its current offset.
type zone struct {
	name, short string
	offset      int // in seconds
	summer      bool
}

// zoneList are the time zones of this machine with their offsets at the first use: a server
// that runs through a clock change shows the old offset here.
var zoneList = sync.OnceValue(func() (all []zone) {
	now := time.Now()
	for _, name := range strings.Fields(zoneNames) {
		place, err := time.LoadLocation(name)
		if err != nil {
			continue // the machine has not this one
		}
		at := now.In(place)
		short, offset := at.Zone()
		all = append(all, zone{name, short, offset, at.IsDST()})
	}
	return all
})

// zones fills the views about time zones.
func (b *builder) zones() {
	for _, z := range zoneList() {
		b.add("pg_timezone_names", "name", z.name, "abbrev", z.short, "utc_offset", interval(z.offset), "is_dst", z.summer)
	}
	for _, short := range []string{"GMT", "UCT", "UTC", "Z", "ZULU"} {
		b.add("pg_timezone_abbrevs", "abbrev", short, "utc_offset", interval(0), "is_dst", false)
	}
}

// interval formats seconds as a stored interval.
func interval(seconds int) string { return fmt.Sprintf("0 0 %d", seconds*1_000_000) }
