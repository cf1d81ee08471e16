package cron

// The Gregorian calendar in whole days since 1970-01-01. The time package has it too, but only for a Time, which costs a
// zone lookup per call.

const (
	minutesPerDay = 24 * 60
	secondsPerDay = minutesPerDay * 60

	// yearMin and yearMax limit the calendar to the years that RFC 3339 can represent.
	yearMin = 1
	yearMax = 9999
)

// civil returns the date of a day number. It counts years from March, so that the leap day is the last day of a year and
// the lengths of the months follow a formula.
func civil(day int64) (year, month, dom int) {
	const daysPerEra, marchOfEpoch = 146097, 719468
	z := day + marchOfEpoch
	era := floorDiv(z, daysPerEra)
	doe := int(z - era*daysPerEra)
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	dom = doy - (153*mp+2)/5 + 1
	month = mp + 3
	year = int(era)*400 + yoe
	if month > 12 {
		month -= 12
		year++
	}
	return year, month, dom
}

// dayNumber is the inverse of civil.
func dayNumber(year, month, dom int) int64 {
	const daysPerEra, marchOfEpoch = 146097, 719468
	mp := month - 3
	if month <= 2 {
		year--
		mp += 12
	}
	era := floorDiv(int64(year), 400)
	yoe := int64(year) - era*400
	doy := int64((153*mp+2)/5 + dom - 1)
	doe := yoe*365 + yoe/4 - yoe/100 + doy
	return era*daysPerEra + doe - marchOfEpoch
}

// weekday returns the day of the week, 0 for Sunday; 1970-01-01 was a Thursday.
func weekday(day int64) int {
	w := (day + 4) % 7
	if w < 0 {
		w += 7
	}
	return int(w)
}

func monthLength(year, month int) int {
	if month == 2 && !leapYear(year) {
		return 28
	}
	return monthLengthMax(month)
}

func monthLengthMax(month int) int {
	const lengths = "\x00\x1f\x1d\x1f\x1e\x1f\x1e\x1f\x1f\x1e\x1f\x1e\x1f"
	return int(lengths[month])
}

func leapYear(year int) bool {
	return year%4 == 0 && (year%100 != 0 || year%400 == 0)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func ceilDiv(a, b int64) int64 { return -floorDiv(-a, b) }
