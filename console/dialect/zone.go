package dialect

import (
	"github.com/rotajobs/rota/console/kind"
)

// The session's time zone stands in the texts as a word behind the other arguments of
// whatever looks at a clock. In UTC it is left out: the texts are shorter then, and
// SQLite's own functions can do more of the work.

// zoneWord is how a zone stands in the texts.
func zoneWord(name string) string {
	if name == "UTC" || name == "Etc/UTC" {
		return ""
	}
	return name
}

// clocked says whether values of a kind show another clock in another zone.
func clocked(k kind.Kind) bool { return k == kind.Timestamp || k == kind.Timestamp.Array() }

// clock are the arguments of a function that looks at the clock of values of a kind.
func (t *translator) clock(of kind.Kind, args ...value) []value { return clockIn(t.zone, of, args...) }

func clockIn(zone string, of kind.Kind, args ...value) []value {
	if zone == "" || !clocked(of) {
		return args
	}
	return append(args[:len(args):len(args)], wordOf(zone))
}

// toMoment is a time or a day as another.
func (t *translator) toMoment(v value, k kind.Kind) value {
	if t.zone == "" || clocked(v.kind) == clocked(k) {
		return momentInUTC(v, k)
	}
	return call(k, "rota_moment", wordOf(string(k)), v, wordOf(t.zone))
}

// momentInUTC is a time or a day as another, without a function of ours.
func momentInUTC(v value, k kind.Kind) value {
	switch from := v.kind; {
	case k == kind.Date:
		return made(k, atom, cat("substr(", v, ", 1, 10)"), v)
	case from == kind.Date && k == kind.Local:
		return made(k, asTerm, cat(v.whole(), " || 'T00:00:00.000000'"), v)
	case from == kind.Date:
		return made(k, asTerm, cat(v.whole(), " || 'T00:00:00.000000Z'"), v)
	case from == kind.Local:
		return made(k, asTerm, cat(v.whole(), " || 'Z'"), v)
	}
	return made(k, atom, cat("substr(", v, ", 1, 26)"), v)
}

// timeOf is the time of day of a time, or of an interval.
func (t *translator) timeOf(v value) value {
	if t.zone == "" || !clocked(v.kind) {
		return call(kind.Time, "rota_time_of", v)
	}
	return call(kind.Time, "rota_moment", wordOf(string(kind.Time)), v, wordOf(t.zone))
}

// nowAs is the text for the time of the statement as a value of a kind.
func (t *translator) nowAs(k kind.Kind) string {
	cut := map[kind.Kind]string{kind.Local: "1, 26", kind.Date: "1, 10", kind.Time: "12, 15"}[k]
	switch {
	case k == kind.Timestamp:
		return "now()"
	case t.zone == "":
		return "substr(now(), " + cut + ")"
	}
	return "rota_moment(" + literal(string(k)) + ", now(), " + literal(t.zone) + ")"
}

// dayAs is the text for a day so many days from today, as a value of a kind.
func (t *translator) dayAs(k kind.Kind, days string) string {
	day := "rota_date_add(" + t.nowAs(kind.Date) + ", " + days + ")"
	switch {
	case k == kind.Date:
		return day
	case k == kind.Local:
		return day + " || 'T00:00:00.000000'"
	case t.zone == "":
		return day + " || 'T00:00:00.000000Z'"
	}
	return "rota_moment(" + literal(string(k)) + ", " + day + ", " + literal(t.zone) + ")"
}
