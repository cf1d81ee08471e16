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

// nowAs is the text for the time of the statement as a value of a kind.
func (t *translator) nowAs(k kind.Kind) string {
	cut := map[kind.Kind]string{kind.Local: "1, 26", kind.Date: "1, 10", kind.Time: "12, 15"}[k]
	switch {
	case k == kind.Timestamp:
		return "now()"
	case t.shownZone == "":
		return "substr(now(), " + cut + ")"
	}
	return "rota_moment(" + quoteText(string(k)) + ", now(), " + quoteText(t.shownZone) + ")"
}

// dayAs is the text for a day so many days from today, as a value of a kind.
func (t *translator) dayAs(k kind.Kind, days string) string {
	day := "rota_date_add(" + t.nowAs(kind.Date) + ", " + days + ")"
	switch {
	case k == kind.Date:
		return day
	case k == kind.Local:
		return day + " || 'T00:00:00.000000'"
	case t.shownZone == "":
		return day + " || 'T00:00:00.000000Z'"
	}
	return "rota_moment(" + quoteText(string(k)) + ", " + day + ", " + quoteText(t.shownZone) + ")"
}
