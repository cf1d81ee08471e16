// Package crontab parses crontabs in the syntax of Vixie cron and its successors (Debian, cronie, the BSDs).
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
//	NAME = value                       for the following lines; in quotes if it begins or ends with a space
//	minute hour day month weekday COMMAND
//	minute hour day month weekday USER COMMAND    in /etc/crontab and /etc/cron.d
//	@daily COMMAND
//
// In a command the first % without a backslash before it begins the standard input. In the input each such % is a line
// break. A line cannot continue on the next line.
//
// # Days
//
// Cron combines the two day fields depending on how they are written, Rota depending on the days they contain. Parse
// refuses a line for which the result differs; see [Entry].
package crontab
