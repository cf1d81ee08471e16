package cron

// This file searches local time, without regard to clock changes. A local minute is the number of minutes since
// 1970-01-01 00:00 local time. Each search goes field by field and never minute by minute.

// ceil returns the first matching local minute at or after the given one.
func (c *Cron) ceil(minute int64) (int64, bool) {
	day := floorDiv(minute, minutesPerDay)
	year, month, dom := civil(day)
	if year >= yearMin && year <= yearMax && c.months.has(month) {
		days := c.daysOf(year, month, weekday(day-int64(dom)+1))
		if days.has(dom) {
			if rest := c.ceilOfDay(int(minute - day*minutesPerDay)); rest != none {
				return day*minutesPerDay + int64(rest), true
			}
		}
		if later := days.from(dom + 1); later != none {
			return (day+int64(later-dom))*minutesPerDay + c.firstOfDay(), true
		}
	}
	return c.ceilMonth(year, month+1)
}

// ceilMonth returns the first matching minute in the given month or a later one. It searches at most the eight
// years that may lie between two leap days, because Parse refuses expressions that never fire.
func (c *Cron) ceilMonth(year, month int) (int64, bool) {
	if year < yearMin {
		year, month = yearMin, 1
	}
	for ; year <= yearMax; year, month = year+1, 1 {
		for month = c.months.from(month); month != none; month = c.months.from(month + 1) {
			first := dayNumber(year, month, 1)
			if days := c.daysOf(year, month, weekday(first)); days != 0 {
				return (first+int64(days.first())-1)*minutesPerDay + c.firstOfDay(), true
			}
		}
	}
	return 0, false
}

func (c *Cron) ceilOfDay(minute int) int {
	hour := minute / 60
	if c.hours.has(hour) {
		if m := c.minutes.from(minute % 60); m != none {
			return hour*60 + m
		}
	}
	if hour = c.hours.from(hour + 1); hour == none {
		return none
	}
	return hour*60 + c.minutes.first()
}

func (c *Cron) firstOfDay() int64 { return int64(c.hours.first()*60 + c.minutes.first()) }

// floor returns the last matching local minute at or before the given one.
func (c *Cron) floor(minute int64) (int64, bool) {
	day := floorDiv(minute, minutesPerDay)
	year, month, dom := civil(day)
	if year >= yearMin && year <= yearMax && c.months.has(month) {
		days := c.daysOf(year, month, weekday(day-int64(dom)+1))
		if days.has(dom) {
			if rest := c.floorOfDay(int(minute - day*minutesPerDay)); rest != none {
				return day*minutesPerDay + int64(rest), true
			}
		}
		if earlier := days.upTo(dom - 1); earlier != none {
			return (day-int64(dom-earlier))*minutesPerDay + c.lastOfDay(), true
		}
	}
	return c.floorMonth(year, month-1)
}

// floorMonth returns the last matching minute in the given month or an earlier one.
func (c *Cron) floorMonth(year, month int) (int64, bool) {
	if year > yearMax {
		year, month = yearMax, 12
	}
	for ; year >= yearMin; year, month = year-1, 12 {
		for month = c.months.upTo(month); month != none; month = c.months.upTo(month - 1) {
			first := dayNumber(year, month, 1)
			if days := c.daysOf(year, month, weekday(first)); days != 0 {
				return (first+int64(days.last())-1)*minutesPerDay + c.lastOfDay(), true
			}
		}
	}
	return 0, false
}

func (c *Cron) floorOfDay(minute int) int {
	hour := minute / 60
	if c.hours.has(hour) {
		if m := c.minutes.upTo(minute % 60); m != none {
			return hour*60 + m
		}
	}
	if hour = c.hours.upTo(hour - 1); hour == none {
		return none
	}
	return hour*60 + c.minutes.last()
}

func (c *Cron) lastOfDay() int64 { return int64(c.hours.last()*60 + c.minutes.last()) }
