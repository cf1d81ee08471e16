// Package crontab reads crontabs, as the crons of the Vixie family (Debian's, cronie, the BSDs') do.
//
//	read := crontab.Parse(text, crontab.Config{Name: "/etc/crontab"})
//
// It parses text into entries: times, command, settings and input. It does not validate expressions; package cron does.
// A line that Rota cannot run gets a refusal with its line number, the text and a remedy. A line that Rota runs in another
// way than cron gets a note. Nothing is corrected silently, and Parse never fails.
//
// # Lines
//
//	# comment
//	NAME = value                       from here on, in quotes if it begins or ends with a space
//	minute hour day month weekday COMMAND
//	minute hour day month weekday USER COMMAND    in /etc/crontab and /etc/cron.d
//	@daily COMMAND
//
// In a command the first % that has no backslash before it begins the input; in the input each is the end of a line.
// There is no way to go on on the next line.
//
// # Days
//
// Cron asks how the two day fields are written, Rota which days they hold. Where that makes a difference the line is
// refused: see [Entry].
package crontab
