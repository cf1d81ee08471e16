package translate

import (
	"sync"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// zoneFunctions convert between local times and instants.
var zoneFunctions = []Function{
	strict("rota_zone", 2, atZone),
	strict("rota_moment", 3, func(a arguments) any {
		zone := a.zone(2)
		return momentAs(a.kind(0), a.text(1), zone)
	}),
}

// zone is the session's time zone, the last argument; UTC if it is missing.
func (a arguments) zone(i int) *time.Location {
	if i >= len(a) {
		return time.UTC
	}
	return sessionZone(a.text(i))
}

// sessionZone finds a zone by the name that a session has set. Unlike AT TIME ZONE, it accepts
// only names of the time zone database.
func sessionZone(name string) *time.Location {
	if name == "" {
		return time.UTC
	}
	if zone, err := loadZone(name); err == nil {
		return zone
	}
	panic(noZone(name))
}

func noZone(name string) *Error {
	return valueError(StateValue, "time zone %q not recognized", shorten(name)).WithHint("use a name such as Europe/Berlin")
}

// zones are those that were asked for: to read one takes far longer than to look at its
// clock, which is done for each row.
var zones = struct {
	sync.RWMutex
	known map[string]*time.Location
}{known: map[string]*time.Location{}}

// zonesMax limits the cached zones. There are fewer zones, but some have many names.
const zonesMax = 1000

// loadZone is time.LoadLocation with a cache: LoadLocation reads a file at each call.
func loadZone(name string) (*time.Location, error) {
	zones.RLock()
	zone, known := zones.known[name]
	zones.RUnlock()
	if known {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones.Lock()
	defer zones.Unlock()
	if len(zones.known) < zonesMax {
		zones.known[name] = zone
	}
	return zone, nil
}

// in returns the instant at which the clock of a zone shows the local time t. A local time that
// a clock change skips uses the offset before the change; one that occurs twice means the
// second occurrence.
func in(t time.Time, zone *time.Location) time.Time {
	y, m, d := t.Date()
	h, min, s := t.Clock()
	face := time.Date(y, m, d, h, min, s, t.Nanosecond(), time.UTC)
	if zone == time.UTC {
		return face
	}
	before := face.AddDate(0, 0, -1).In(zone) // no offset is longer, and no two changes are closer
	earlier := shiftClock(face, before)
	_, change := before.ZoneBounds()
	if change.IsZero() {
		return earlier
	}
	later := shiftClock(face, change)
	switch {
	case earlier.Before(change) && later.Before(change):
		return earlier
	case earlier.After(change) && !later.Before(change):
		return later
	case earlier.After(later):
		return earlier
	}
	return later
}

// shiftClock interprets a local time with the offset that is valid at the time as.
func shiftClock(face, as time.Time) time.Time {
	_, offset := as.Zone()
	return face.Add(-time.Duration(offset) * time.Second).In(as.Location())
}

// momentAs converts a time to another kind.
func momentAs(k kind.Kind, stored string, zone *time.Location) any {
	if isInfinite(stored) {
		return stored
	}
	t, from := loadTime(stored)
	switch {
	case from == kind.Timestamp:
		t = t.In(zone)
	case k == kind.Timestamp:
		t = in(t, zone)
	}
	return storeTime(t, k)
}

// atZone is AT TIME ZONE: of a time the one that a clock there shows, of what a clock
// there shows the time.
func atZone(a arguments) any {
	zone, known := zoneNamed(a.text(0))
	if !known {
		zone, known = offsetZone(a.text(0))
	}
	if !known || zone == nil {
		panic(noZone(a.text(0)))
	}
	if isInfinite(a.text(1)) {
		return a[1]
	}
	t, k := loadTime(a.text(1))
	if k == kind.Timestamp {
		return storeTime(t.In(zone), kind.Local)
	}
	return storeTime(in(t, zone), kind.Timestamp)
}
