package translate

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rotajobs/rota/sql/kind"
)

// formatFunctions format and parse times and numbers with a pattern.
var formatFunctions = []Function{
	strict("rota_to_char", 2, timeByPattern),
	strict("rota_to_char", 3, timeByPattern),
	strict("rota_number_to_char", 2, func(a arguments) (any, error) { return numberByPattern(a.real(0), a.text(1)) }),
	strict("rota_parse_time", 3, parseByPattern),
	strict("rota_parse_time", 4, parseByPattern),
}

// fields are the fields of patterns; of those with a common prefix the longest is first.
var fields = []string{
	"HH24", "HH12", "YYYY", "Y,YYY", "IYYY", "MONTH", "Month", "month", "IDDD", "SSSSS", "SSSS", "A.M.", "P.M.", "a.m.", "p.m.",
	"YYY", "MON", "Mon", "mon", "DDD", "DAY", "Day", "day", "IYY", "TZH", "TZM",
	"HH", "MI", "SS", "MS", "US", "AM", "PM", "am", "pm", "YY", "MM", "DD", "DY", "Dy", "dy", "ID", "WW", "IW", "IY", "CC", "TZ", "tz", "OF", "FM", "TH", "th", "RM",
	"D", "W", "Y", "Q", "J", "I",
}

// pieces splits a pattern into fields and literal text.
func pieces(pattern string) (list []string, isField []bool) {
	for i := 0; i < len(pattern); {
		if pattern[i] == '"' {
			end := strings.IndexByte(pattern[i+1:], '"')
			if end < 0 {
				end = len(pattern) - i - 1
			}
			list, isField = append(list, pattern[i+1:i+1+end]), append(isField, false)
			i = min(i+end+2, len(pattern))
			continue
		}
		found := ""
		for _, f := range fields {
			if len(pattern)-i >= len(f) && (pattern[i:i+len(f)] == f || !caseSensitive(f) && strings.EqualFold(pattern[i:i+len(f)], f)) {
				found = f
				break
			}
		}
		if found == "" {
			list, isField = append(list, pattern[i:i+1]), append(isField, false)
			i++
			continue
		}
		list, isField = append(list, found), append(isField, true)
		i += len(found)
	}
	return list, isField
}

// caseSensitive reports whether the case of a field matters for the output.
func caseSensitive(f string) bool {
	switch strings.ToUpper(f) {
	case "MONTH", "MON", "DAY", "DY", "AM", "PM", "A.M.", "P.M.", "TZ", "TH":
		return true
	}
	return false
}

// emptyZone is the zone of values without a zone. Its name is empty.
var emptyZone = time.FixedZone("", 0)

func timeByPattern(a arguments) (any, error) {
	stored, pattern := a.text(0), a.text(1)
	t, k, err := loadTime(stored)
	if err != nil || strings.Count(stored, " ") == 2 {
		i, intervalErr := loadInterval(stored)
		if intervalErr != nil {
			return nil, err
		}
		return writePattern(intervalTime(i), pattern, &i)
	}
	zone, err := a.zone(2)
	if err != nil {
		return nil, err
	}
	if k != kind.Timestamp {
		zone = emptyZone
	}
	return writePattern(t.In(zone), pattern, nil)
}

// intervalTime is a time whose clock shows the parts of an interval.
func intervalTime(i interval) time.Time {
	return time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i.micros%dayLong) * time.Microsecond)
}

func writePattern(t time.Time, pattern string, of *interval) (any, error) {
	var b strings.Builder
	list, isField := pieces(pattern)
	fill := true
	last := 0
	for n, p := range list {
		if !isField[n] {
			b.WriteString(p)
			continue
		}
		switch p {
		case "FM":
			fill = false
			continue
		case "TH", "th":
			b.WriteString(ordinal(last, p))
			continue
		}
		text, number := field(t, p, of)
		if number >= 0 {
			last = number
		}
		if !fill {
			text = trimFill(text, number)
		}
		fill = true
		b.WriteString(text)
		if b.Len() > valueMax {
			return nil, tooLong()
		}
	}
	return b.String(), nil
}

// trimFill removes padding from a field.
func trimFill(text string, number int) string {
	text = strings.TrimRight(text, " ")
	if number >= 0 {
		if text = strings.TrimLeft(text, "0"); text == "" {
			return "0"
		}
	}
	return text
}

func ordinal(n int, how string) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		end = map[int]string{1: "st", 2: "nd", 3: "rd"}[n%10]
		if end == "" {
			end = "th"
		}
	}
	if how == "TH" {
		return strings.ToUpper(end)
	}
	return end
}

// field formats a field of a time and returns its number, or -1.
func field(t time.Time, name string, of *interval) (string, int) {
	two := func(n int) (string, int) { return fmt.Sprintf("%02d", n), n }
	if of != nil {
		if text, n, is := intervalField(name, of); is {
			return text, n
		}
	}
	year, week := t.ISOWeek()
	switch name {
	case "HH24":
		return two(t.Hour())
	case "HH", "HH12":
		return two((t.Hour()+11)%12 + 1)
	case "MI":
		return two(t.Minute())
	case "SS":
		return two(t.Second())
	case "MS":
		return fmt.Sprintf("%03d", t.Nanosecond()/1_000_000), t.Nanosecond() / 1_000_000
	case "US":
		return fmt.Sprintf("%06d", t.Nanosecond()/1000), t.Nanosecond() / 1000
	case "SSSS", "SSSSS":
		n := t.Hour()*3600 + t.Minute()*60 + t.Second()
		return strconv.Itoa(n), n
	case "YYYY":
		return fmt.Sprintf("%04d", t.Year()), t.Year()
	case "Y,YYY":
		return fmt.Sprintf("%d,%03d", t.Year()/1000, t.Year()%1000), -1
	case "YYY":
		return fmt.Sprintf("%03d", t.Year()%1000), t.Year() % 1000
	case "YY":
		return two(t.Year() % 100)
	case "Y":
		return strconv.Itoa(t.Year() % 10), t.Year() % 10
	case "IYYY":
		return fmt.Sprintf("%04d", year), year
	case "IYY":
		return fmt.Sprintf("%03d", year%1000), year % 1000
	case "IY":
		return two(year % 100)
	case "I":
		return strconv.Itoa(year % 10), year % 10
	case "MM":
		return two(int(t.Month()))
	case "DD":
		return two(t.Day())
	case "DDD":
		return fmt.Sprintf("%03d", t.YearDay()), t.YearDay()
	case "IW":
		return two(week)
	case "WW":
		return two((t.YearDay()-1)/7 + 1)
	case "CC":
		return two((t.Year() + 99) / 100)
	}
	return fieldMore(t, name)
}

func fieldMore(t time.Time, name string) (string, int) {
	half := "am"
	if t.Hour() >= 12 {
		half = "pm"
	}
	switch name {
	case "AM", "PM":
		return strings.ToUpper(half), -1
	case "am", "pm":
		return half, -1
	case "A.M.", "P.M.":
		return strings.ToUpper(half[:1] + ".m."), -1
	case "a.m.", "p.m.":
		return half[:1] + ".m.", -1
	case "MONTH", "Month", "month":
		return cased(fmt.Sprintf("%-9s", t.Month()), name), -1
	case "MON", "Mon", "mon":
		return cased(t.Month().String()[:3], name), -1
	case "DAY", "Day", "day":
		return cased(fmt.Sprintf("%-9s", t.Weekday()), name), -1
	case "DY", "Dy", "dy":
		return cased(t.Weekday().String()[:3], name), -1
	case "D":
		return strconv.Itoa(int(t.Weekday()) + 1), int(t.Weekday()) + 1
	case "ID":
		n := (int(t.Weekday())+6)%7 + 1
		return strconv.Itoa(n), n
	case "W":
		return strconv.Itoa((t.Day()-1)/7 + 1), (t.Day()-1)/7 + 1
	case "Q":
		return strconv.Itoa((int(t.Month()) + 2) / 3), (int(t.Month()) + 2) / 3
	case "J":
		v, _ := dayPart("julian", time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC))
		return asText(v), -1
	case "TZ", "tz", "OF", "TZH", "TZM":
		return zoneField(t, name), -1
	case "RM":
		return fmt.Sprintf("%-4s", []string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}[t.Month()-1]), -1
	}
	return name, -1
}

// zoneField formats a field of the time zone.
func zoneField(t time.Time, name string) string {
	zone, offset := t.Zone()
	sign := '+'
	if offset < 0 {
		sign, offset = '-', -offset
	}
	hours, minutes := offset/3600, offset/60%60
	switch {
	case name == "TZ":
		return strings.ToUpper(zone)
	case name == "tz":
		return strings.ToLower(zone)
	case name == "TZM":
		return fmt.Sprintf("%02d", minutes)
	case name == "OF" && offset%3600 != 0:
		return fmt.Sprintf("%c%02d:%02d", sign, hours, minutes)
	}
	return fmt.Sprintf("%c%02d", sign, hours)
}

func cased(text, like string) string {
	switch {
	case like == strings.ToUpper(like):
		return strings.ToUpper(text)
	case like == strings.ToLower(like):
		return strings.ToLower(text)
	}
	return text
}

func intervalField(name string, i *interval) (string, int, bool) {
	n, digits := int64(0), 2
	switch name {
	case "HH24", "HH", "HH12":
		n = i.micros / hour
		if name != "HH24" {
			n = (n+11)%12 + 1
		}
	case "DD", "DDD", "D":
		n = i.days
	case "MM":
		n = i.months % 12
	case "YYYY":
		n, digits = i.months/12, 4
	default:
		return "", 0, false
	}
	return fmt.Sprintf("%0*d", digits, n), int(n), true
}

// parseByPattern parses a time with a pattern.
func parseByPattern(a arguments) (any, error) {
	text, pattern, k := a.text(0), a.text(1), a.kind(2)
	zone, err := a.zone(3)
	if err != nil {
		return nil, err
	}
	n := map[string]int{"YYYY": 1, "MM": 1, "DD": 1}
	list, isField := pieces(pattern)
	rest := text
	for i, p := range list {
		if !isField[i] {
			if rest != "" {
				rest = rest[1:]
			}
			continue
		}
		if p == "FM" {
			continue
		}
		var err error
		if rest, err = readField(p, rest, n); err != nil {
			return nil, valueError(StateBadTime, "invalid value %q for %q", shorten(text), pattern)
		}
	}
	t := time.Date(n["YYYY"], time.Month(n["MM"]), n["DD"], n["HH24"], n["MI"], n["SS"], n["US"]*1000, time.UTC)
	if t.Day() != n["DD"] || int(t.Month()) != n["MM"] {
		return nil, valueError(StateTimeRange, "date/time field value out of range: %q", shorten(text))
	}
	return storeTime(in(t, zone), k)
}

func readField(p, rest string, n map[string]int) (string, error) {
	if strings.EqualFold(p, "MON") || strings.EqualFold(p, "MONTH") {
		for m := time.January; m <= time.December; m++ {
			for _, name := range []string{m.String(), m.String()[:3]} {
				if len(rest) >= len(name) && strings.EqualFold(rest[:len(name)], name) {
					n["MM"] = int(m)
					return rest[len(name):], nil
				}
			}
		}
		return rest, badText("month", rest)
	}
	if strings.EqualFold(p, "AM") || strings.EqualFold(p, "PM") {
		if len(rest) < 2 {
			return rest, badText("half", rest)
		}
		n["HH24"] = n["HH24"] % 12
		if strings.EqualFold(rest[:2], "PM") {
			n["HH24"] += 12
		}
		return rest[2:], nil
	}
	rest = strings.TrimLeft(rest, " ")
	width := map[string]int{"YYYY": 4, "US": 6, "MS": 3, "DDD": 3, "YYY": 3}[p]
	if width == 0 {
		width = 2
	}
	end := 0
	for end < len(rest) && end < width && rest[end] >= '0' && rest[end] <= '9' {
		end++
	}
	v, err := strconv.Atoi(rest[:end])
	if err != nil {
		return rest, err
	}
	switch p {
	case "HH", "HH12":
		p = "HH24"
	case "YY":
		p = "YYYY"
		if v += 2000; v >= 2070 {
			v -= 100
		}
	case "MS":
		p, v = "US", v*1000
	}
	n[p] = v
	return rest[end:], nil
}
