package console

import (
	"time"

	"github.com/rotajobs/rota/ddl"
)

// applyTimes changes when. A schedule replaces the one before as a whole.
func (d *definition) applyTimes(c *ddl.Clauses) error {
	zone := d.spec.Zone
	if c.TimeZone != nil {
		zone = *c.TimeZone
	}
	place, err := location(zone)
	if err != nil {
		return err
	}
	s := &d.spec
	if c.Schedule == nil {
		if c.TimeZone != nil && s.Cron == "" {
			return refuse(StateBadValue, "write the times of AT, STARTS and ENDS with an offset", "TIME ZONE applies only to a CRON schedule")
		}
		s.Zone = zone
		return nil
	}
	s.Cron, s.At, s.Every, s.Zone, s.StartsAt, s.EndsAt = "", time.Time{}, 0, "", time.Time{}, time.Time{}
	switch c.Schedule.Kind {
	case ddl.Cron:
		s.Cron, s.Zone = c.Schedule.Cron, zone
	case ddl.Every:
		s.Every = c.Schedule.Every
	case ddl.At:
		s.At, err = instant("AT", c.Schedule.At, place)
	}
	if err == nil {
		s.StartsAt, err = instant("STARTS", c.Schedule.Starts, place)
	}
	if err == nil {
		s.EndsAt, err = instant("ENDS", c.Schedule.Ends, place)
	}
	return err
}

func location(zone string) (*time.Location, error) {
	if zone == "" {
		return time.UTC, nil
	}
	place, err := time.LoadLocation(zone)
	if err != nil || zone == "Local" {
		return nil, refuse(StateBadValue, "use a name such as Europe/Berlin or UTC", "TIME ZONE: there is no time zone %s", zone)
	}
	return place, nil
}

// How a time may be written, with its offset and without.
var (
	whole = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04Z07:00"}
	local = []string{"2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02T15:04:05.999999", "2006-01-02T15:04"}
)

// instant is the time that a text names, in a zone if it says none. A local time
// that a clock passes over is refused rather than guessed; of one that it passes
// twice, the first is meant.
func instant(clause, text string, place *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range whole {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	for _, layout := range local {
		t, err := time.ParseInLocation(layout, text, place)
		if err != nil {
			continue
		}
		if plain, err := time.Parse(layout, text); err != nil || t.Format(layout) != plain.Format(layout) {
			return t, refuse(StateBadValue, "choose another time, or write it with an offset", "%s: %s does not exist in %s: clocks go forward over it", clause, text, place)
		}
		return firstOf(t).UTC(), nil
	}
	return time.Time{}, refuse(StateBadValue, "write it like 2026-11-15T09:00:00Z or 2026-11-15 09:00", "%s: %q is not a time", clause, text)
}

// firstOf is the earlier of two times that a clock shows alike.
func firstOf(t time.Time) time.Time {
	const layout = "2006-01-02 15:04:05.999999999"
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if before := t.Add(-back); before.Format(layout) == t.Format(layout) {
			return before
		}
	}
	return t
}
