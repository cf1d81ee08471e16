// Package cron computes the fire times of the three kinds of schedule.
//
//	CRON   Parse("30 9 * * 1-5", Config{Zone: "Europe/Berlin"})   by the clock of a zone
//	AT     NewAt(t)                                               once
//	EVERY  EveryFrom(starts, d), EveryAfter(created, d)           by an interval of real time
//
// Each is a [Timetable], an immutable value that returns its first fire after and its last fire before any instant.
// [Within] limits one to STARTS and ENDS, both included. [Between] and [Latest] list the oldest or the newest fires of an
// interval with bounded work and memory. [Upcoming] lists fires, with a note where a clock change affects them. Nothing
// in this package reads the current time.
//
// # Expressions
//
// An expression has five fields.
//
//	minute         0-59
//	hour           0-23
//	day-of-month   1-31
//	month          1-12 or JAN-DEC
//	day-of-week    0-7 or SUN-SAT; 0 and 7 are Sunday
//
// A field is a list of items joined by commas; names are read in any case.
//
//	a          one value
//	a-b        from a to b; b may not be less than a, but a week may end on Sunday (FRI-SUN, 5-7)
//	*          every value
//	*/n a-b/n  every n-th value of the range, starting with the first
//	a/n        every n-th value from a to the end of the field
//	H          one value, computed from a hash of the schedule's name; H(a-b) takes one from a range
//	H/n        every n-th value from an offset computed from the name; H(a-b)/n within a range
//
// A step larger than the field is refused, H/n included; a smaller one may leave a single value, as in 58/5.
//
// A day must match both day fields; if both are restricted, it is enough to match one. A field is restricted if a
// value is missing from its set: 1-31 and */1 restrict nothing, */2 does.
//
// H spreads schedules that would otherwise all fire on the hour. The same name gives the same times in every release.
// Each field has its own hash. A day of the month is one of the 28 that every month has.
//
// @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually replace a whole expression.
//
// # Clock changes
//
// Three rules apply when a zone changes its clocks.
//
//   - A local time that does not exist is skipped.
//   - A local time that occurs twice fires once, at its first occurrence.
//   - An expression whose hour field holds all 24 hours, in any spelling, follows the wall clock through both changes: it
//     fires whenever the local time matches, also in both occurrences of a repeated hour.
//
// So a nightly job never runs twice in the autumn, and a job that runs every 15 minutes keeps that interval through both
// changes. The rules are the same for zones that shift by half an hour or at midnight, and for those that skipped a day.
// EVERY counts real time; clock changes do not affect it.
//
// # Refusals
//
// Invalid input is refused with an [*Error] that names the field, its value, what is allowed and, where there is one, a
// remedy: 61 minutes, descending ranges, steps of 0, the 31st of February, a sixth field, L W # and ?, @every and
// @reboot, a zone inside the expression, Local as a zone. Nothing is corrected silently.
//
// # Cost
//
// Fields are bit sets. A search moves from one set value to the next, never minute by minute, and looks up the offset of
// the zone once or twice. [Cron.Next] and [Cron.Prev] take well under a microsecond and allocate nothing. They report
// that there is no fire after searching a hundred years, and at the ends of the calendar, which are the years 1 and 9999.
package cron
