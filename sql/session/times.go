package session

import (
	"time"

	"github.com/rotajobs/rota/sql/ddl"
)

// applyTimes sets when the job runs. A SCHEDULE clause replaces the whole schedule.
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
			return newError(StateBadValue, "write the times of AT, STARTS and ENDS with an offset", "TIME ZONE applies only to a CRON schedule")
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
		return nil, newError(StateBadValue, "use a name such as Europe/Berlin or UTC", "TIME ZONE: there is no time zone %s", zone)
	}
	return place, nil
}

// Layouts of times with and without an offset.
var (
	layoutsWithOffset    = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999Z07:00", "2006-01-02 15:04Z07:00"}
	layoutsWithoutOffset = []string{"2006-01-02 15:04:05.999999", "2006-01-02 15:04", "2006-01-02T15:04:05.999999", "2006-01-02T15:04"}
)

// instant parses a time; without an offset it is local time of a zone. A local time that the clocks skip is an error.
// For one that occurs twice, instant returns the first.
func instant(clause, text string, place *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range layoutsWithOffset {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	for _, layout := range layoutsWithoutOffset {
		t, err := time.ParseInLocation(layout, text, place)
		if err != nil {
			continue
		}
		if plain, err := time.Parse(layout, text); err != nil || t.Format(layout) != plain.Format(layout) {
			return t, newError(StateBadValue, "choose another time, or write it with an offset", "%s: %s does not exist in %s: clocks go forward over it", clause, text, place)
		}
		return earlierOf(t).UTC(), nil
	}
	return time.Time{}, newError(StateBadValue, "write it like 2026-11-15T09:00:00Z or 2026-11-15 09:00", "%s: %q is not a time", clause, text)
}

// earlierOf returns the earlier of two times with the same local time.
func earlierOf(t time.Time) time.Time {
	const layout = "2006-01-02 15:04:05.999999999"
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if before := t.Add(-back); before.Format(layout) == t.Format(layout) {
			return before
		}
	}
	return t
}
