// Package crontab reads crontabs, as the crons of the Vixie family (Debian's, cronie, the BSDs') do.
//
//	read := crontab.Parse(text, crontab.Config{Name: "/etc/crontab"})
//
// It turns text into entries: when, what, with which settings and which input. It does not judge expressions; whoever
// runs them does. What cannot be taken over is refused with its line, what was found and what to do; what is taken over
// otherwise than cron would is noted. Nothing is corrected silently, and nothing makes Parse fail.
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
