package translate

import (
	"github.com/rotajobs/rota/sql/kind"
)

// The texts pass the session's time zone as the last argument of functions that depend on
// local time. In UTC they omit it: the texts are then shorter, and functions of SQLite can do
// more of the work.

// zoneWord is the name of a zone in the texts; empty for UTC.
func zoneWord(name string) string {
	if name == "UTC" || name == "Etc/UTC" {
		return ""
	}
	return name
}

// dependsOnZone reports whether the output of a kind depends on the time zone.
func dependsOnZone(k kind.Kind) bool { return k == kind.Timestamp || k == kind.Timestamp.Array() }

// withZone adds the session's zone to the arguments of a function if the kind depends on it.
func (t *translator) withZone(of kind.Kind, args ...value) []value {
	return withZoneIn(t.shownZone, of, args...)
}

func withZoneIn(zone string, of kind.Kind, args ...value) []value {
	if zone == "" || !dependsOnZone(of) {
		return args
	}
	return append(args[:len(args):len(args)], textConstant(zone))
}

// toMoment converts between timestamps and dates.
func (t *translator) toMoment(v value, k kind.Kind) value {
	if t.shownZone == "" || dependsOnZone(v.kind) == dependsOnZone(k) {
		return momentInUTC(v, k)
	}
	return call(k, "rota_moment", textConstant(string(k)), v, textConstant(t.shownZone))
}

// momentInUTC converts between timestamps and dates in UTC with functions of SQLite only.
func momentInUTC(v value, k kind.Kind) value {
	switch from := v.kind; {
	case k == kind.Date:
		return newValue(k, atom, cat("substr(", v, ", 1, 10)"), v)
	case from == kind.Date && k == kind.Local:
		return newValue(k, asTerm, cat(v.parenthesized(), " || 'T00:00:00.000000'"), v)
	case from == kind.Date:
		return newValue(k, asTerm, cat(v.parenthesized(), " || 'T00:00:00.000000Z'"), v)
	case from == kind.Local:
		return newValue(k, asTerm, cat(v.parenthesized(), " || 'Z'"), v)
	}
	return newValue(k, atom, cat("substr(", v, ", 1, 26)"), v)
}

// timeOf is the time of day of a time, or of an interval.
func (t *translator) timeOf(v value) value {
	if t.shownZone == "" || !dependsOnZone(v.kind) {
		return call(kind.Time, "rota_time_of", v)
	}
	return call(kind.Time, "rota_moment", textConstant(string(kind.Time)), v, textConstant(t.shownZone))
}
