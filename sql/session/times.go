package session

import (
	"errors"
	"time"

	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/sql/ddl"
)

// applyTimes sets when the job runs. A SCHEDULE clause replaces the whole schedule and keeps the time zone.
func (d *definition) applyTimes(c *ddl.Clauses) error {
	s := &d.spec
	if c.TimeZone != nil {
		s.Zone = *c.TimeZone
	}
	place, err := location(s.Zone)
	if err != nil || c.Schedule == nil {
		return err
	}
	s.Cron, s.At, s.Every, s.StartsAt, s.EndsAt = "", time.Time{}, 0, time.Time{}, time.Time{}
	switch c.Schedule.Kind {
	case ddl.Cron:
		s.Cron = c.Schedule.Cron
	case ddl.Every:
		s.Every = c.Schedule.Every
	case ddl.At:
		s.At, err = instant("SCHEDULE AT", c.Schedule.At, place)
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
	place, err := cron.LoadZone(zone)
	var bad *cron.Error
	if errors.As(err, &bad) {
		return nil, newError(StateBadValue, bad.Remedy, "TIME ZONE: %q %s", zone, bad.Reason).at("TIME ZONE")
	}
	return place, err
}

// instant parses a time; without an offset it is local time of a zone. A local time that the clocks skip is an error.
// For one that occurs twice, instant returns the first.
func instant(clause, text string, place *time.Location) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, ok := ddl.ParseTime(text, place)
	switch plain, _ := ddl.ParseTime(text, time.UTC); {
	case !ok:
		return t, newError(StateBadValue, "write it like 2026-11-15T09:00:00Z or 2026-11-15 09:00", "%s: %q is not a time", clause, text).at(clause)
	case ddl.HasOffset(text):
		return t.UTC(), nil
	case t.Format(clockLayout) != plain.Format(clockLayout):
		return t, newError(StateBadValue, "choose another time, or write it with an offset", "%s: %s does not exist in %s: clocks go forward over it", clause, text, place).at(clause)
	}
	return earlierOf(t).UTC(), nil
}

// clockLayout is a local time without its offset.
const clockLayout = "2006-01-02 15:04:05.999999999"

// earlierOf returns the earlier of two times with the same local time.
func earlierOf(t time.Time) time.Time {
	for _, back := range []time.Duration{30 * time.Minute, time.Hour, 2 * time.Hour} {
		if before := t.Add(-back); before.Format(clockLayout) == t.Format(clockLayout) {
			return before
		}
	}
	return t
}
