// Package cron says when: it turns the three kinds of schedule into fire times.
//
//	CRON   Parse("30 9 * * 1-5", Config{Zone: "Europe/Berlin"})   by the clock of a zone
//	AT     NewAt(t)                                               once
//	EVERY  EveryFrom(starts, d), EveryAfter(created, d)           by an interval of real time
//
// Each is a [Timetable], a pure value that knows its fires after and before any instant; [Within] cuts one to STARTS
// and ENDS, both included; [Between] and [Latest] list the oldest or the newest fires of a stretch of time in bounded
// work and memory; [Upcoming] lists fires with a note where a clock change touches them. Nothing here reads a clock.
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
//	*/n a-b/n  every n-th value of these, from the first on
//	a/n        every n-th value from a to the end of the field
//	H          one value, chosen by the schedule's name; H(a-b) chooses from a range
//	H/n        every n-th value from an offset chosen by the name; H(a-b)/n within a range
//
// A step larger than the field is refused, H/n included; a smaller one may leave a single value, as in 58/5.
//
// A day must match both day fields; if both are restricted, it is enough to match one. A field is restricted if a
// value is missing from its set: 1-31 and */1 restrict nothing, */2 does.
//
// H spreads schedules that would otherwise all fire at full hours. The same name gives the same times for ever, each
// field is chosen on its own, and a day of the month is one of the 28 that every month has.
//
// For whole expressions there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually.
//
// # Clock changes
//
// Three sentences say what happens when a zone changes its clocks.
//
//   - A local time that does not exist is skipped.
//   - A local time that occurs twice fires once, at its first occurrence.
//   - An expression whose hour field holds all 24 hours, however written, follows the real clock through both: it fires
//     whenever the clock on the wall matches, and so in both occurrences of a repeated hour.
//
// So a nightly job never runs twice in the autumn, and a job that runs every 15 minutes does so through both changes.
// The rule is the same for zones that shift by half an hour or at midnight, and for those that left out a day. EVERY
// counts real time and is not touched by clocks.
//
// # Refusals
//
// What cannot be meant is refused with an [*Error] that names the field, what stands there, what is allowed and, where
// there is one, a remedy: 61 minutes, descending ranges, steps of 0, the 31st of February, a sixth field, L W # and ?,
// @every and @reboot, a zone inside the expression, Local as a zone. Nothing is corrected silently.
//
// # Cost
//
// Fields are bit sets and are searched by jumps, never minute by minute; a zone is asked for its offset once or twice.
// [Cron.Next] and [Cron.Prev] take well under a microsecond and allocate nothing. They give up after a hundred years,
// and at the ends of the calendar, which are the years 1 and 9999.
package cron
