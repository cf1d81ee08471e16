package crontab

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestParseUserLines parses crontabs of a few lines each. The expected results are one line each: entries as
// "LINE: TIMES | COMMAND" with their other fields, then refusals (✗) and notes (·).
func TestParseUserLines(t *testing.T) {
	for _, row := range []struct {
		name, text string
		want       []string
	}{
		// Times and commands.
		{"five fields", "30 2 * * * /usr/bin/backup --all\n", []string{"1: 30 2 * * * | /usr/bin/backup --all"}},
		{"tabs and spaces", "  */5\t*  *\t\t* *\t run  this \n", []string{"1: */5 * * * * | run  this "}},
		{"names", "0 9 * jan-MAR mon,Fri x\n", []string{"1: 0 9 * jan-MAR mon,Fri | x"}},
		{"@ names", "@daily a\n@MIDNIGHT b\n@hourly c\n@weekly d\n@monthly e\n@yearly f\n@annually g\n@every_minute h\n", []string{
			"1: @daily | a", "2: @midnight | b", "3: @hourly | c", "4: @weekly | d", "5: @monthly | e", "6: @yearly | f", "7: @annually | g", "8: * * * * * | h",
		}},
		{"comments and empty lines", "# a comment\n\n   # another\n* * * * * x # for the shell\n", []string{"4: * * * * * | x # for the shell"}},
		{"a command may contain any text", "* * * * * echo \"$HOME = $(date)\" > /dev/null 2>&1\n", []string{`1: * * * * * | echo "$HOME = $(date)" > /dev/null 2>&1`}},
		{"an assignment in a command", "* * * * * FOO=bar baz\n", []string{"1: * * * * * | FOO=bar baz"}},
		{"- before the times", "-*/15 * * * * x\n", []string{"1: */15 * * * * | x", "· 1: the - before the times, which tells cron not to log the line, is ignored"}},
		{"no line continues on the next", "* * * * * x \\\n  y\n", []string{
			"1: * * * * * | x \\",
			"✗ 2: the line seems to continue line 1, which ends with a backslash; cron does not join lines: write the command in one line, or put it into a script",
			"· 1: the line ends with a backslash; a crontab line does not continue on the next line, neither in cron nor in Rota",
		}},
		{"a first line that is no entry", "y\n* * * * * x\n", []string{
			"2: * * * * * | x",
			`✗ 1: "y" is neither a time nor a setting; begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment`,
		}},
		{"options of the BSDs", "* * * * * -n -q x\n* * * * * -s y -n\n", []string{
			"1: * * * * * | x", "2: * * * * * | y -n",
			"· 1: -n, an option of the BSD cron, is ignored", "· 1: -q, an option of the BSD cron, is ignored",
			"· 2: -s, an option of the BSD cron, is ignored; for one run at a time use rota schedule edit NAME --overlap skip",
		}},

		// % and the input.
		{"no input", `* * * * * date +\%F` + "\n", []string{"1: * * * * * | date +%F"}},
		{"input", "* * * * * mail root%Hello%there\n", []string{`1: * * * * * | mail root | input "Hello\nthere\n"`}},
		{"an empty input", "* * * * * cat%\n", []string{`1: * * * * * | cat | input ""`}},
		{"a % in the input", `* * * * * cat%100\%%\n` + "\n", []string{`1: * * * * * | cat | input "100%\n\\n\n"`}},
		{"backslashes before %", `* * * * * a\\%b\\%c` + "\n", []string{`1: * * * * * | a\\ | input "b\\%c\n"`}},
		{"other backslashes", `* * * * * a\b \\c` + "\n", []string{`1: * * * * * | a\b \\c`}},
		{"nothing before %", "* * * * * %x\n", []string{`✗ 1: "%" has no command before it; write \% for a literal %`}},

		// Settings.
		{"settings apply to the following lines", "* * * * * a\nA=1\n* * * * * b\nA=2\nB = two words \n* * * * * c\n", []string{
			"1: * * * * * | a", "3: * * * * * | b | A=1", "6: * * * * * | c | A=2 B=two words",
		}},
		{"quotes", "A=\" x \"\nB='\"y\"'\nC = \"\"\nD=\n'E'=z\n* * * * * a\n", []string{`6: * * * * * | a | A= x  B="y" C= D= E=z`}},
		{"a quote inside", "A=it's\n* * * * * a\n", []string{"2: * * * * * | a | A=it's"}},
		{"settings of cron itself are not variables", "SHELL=/bin/bash\nMAILTO=ops@example.com\nCRON_TZ=Asia/Tokyo\nHOME=/srv\nPATH=/bin:/usr/bin\n0 5 * * * a\nMAILTO=\"\"\nCRON_TZ=\n0 6 * * * b\n", []string{
			"6: 0 5 * * * | a | HOME=/srv PATH=/bin:/usr/bin SHELL=/bin/bash | shell /bin/bash | zone Asia/Tokyo | mail ops@example.com",
			"9: 0 6 * * * | b | HOME=/srv PATH=/bin:/usr/bin SHELL=/bin/bash | shell /bin/bash",
		}},
		{"ignored settings", "RANDOM_DELAY=45\nSTART_HOURS_RANGE=3-22\nLOGNAME=x\nMAILFROM=y\nCONTENT_TYPE=z\n@daily a\n", []string{
			"6: @daily | a",
			"· 1: RANDOM_DELAY is ignored: jobs start when they are due; to spread them, write H instead of a number",
			"· 2: START_HOURS_RANGE is ignored: it is for anacron; write the hours into the times",
			"· 3: LOGNAME is ignored: cron does not allow setting it either",
			"· 4: MAILFROM is ignored: Rota sends no mail",
			"· 5: CONTENT_TYPE is ignored: Rota sends no mail",
		}},
		{"settings with notes", "PATH=$HOME/bin:/bin\nTZ=UTC\nA=b # c\nSHELL=\n* * * * * a\n", []string{
			"5: * * * * * | a | A=b # c PATH=$HOME/bin:/bin SHELL= TZ=UTC",
			"· 1: PATH contains a $, which is not expanded, as in cron",
			"· 2: TZ applies only to the commands, as in cron; CRON_TZ applies to the times",
			"· 3: A contains a #, which is part of the value and not a comment, as in cron",
			"· 4: SHELL is empty; Rota uses /bin/sh",
		}},
		{"bad settings", "A=\"x\nB='x' y\nC-D=1\nE=\"\n* * * * * a\n", []string{
			"5: * * * * * | a",
			`✗ 1: "A" has an invalid value: the closing quote is not at the end of the line; put the whole value in quotes, or none of it`,
			`✗ 2: "B" has an invalid value: the closing quote is not at the end of the line; put the whole value in quotes, or none of it`,
			`✗ 3: "C-D" is not the name of a variable; use letters, digits and _, and begin with a letter or _`,
			`✗ 4: "E" has an invalid value: the closing quote is not at the end of the line; put the whole value in quotes, or none of it`,
		}},

		// Refusals.
		{"@reboot and others", "@reboot a\n@every 5m b\n@every_second c\n@dayly d\n", []string{
			`✗ 1: "@reboot" cannot be imported: a schedule is not bound to one machine; enqueue the job from a boot script, such as a systemd unit that calls rota job create`,
			`✗ 2: "@every" is not a crontab keyword; create the schedule with rota schedule create NAME --every DURATION`,
			`✗ 3: "@every_second" cannot be imported: a crontab line has no seconds; create the schedule with rota schedule create NAME --every 1s`,
			`✗ 4: "@dayly" is not known; use one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually`,
		}},
		{"no command", "* * * * *\n@daily  \n", []string{
			`✗ 1: "* * * * *" has no command; write one after the times`,
			`✗ 2: "@daily  " has no command; write one after the times`,
		}},
		{"too few fields", "*/5 * * * /usr/bin/x\n* * *\nx\n", []string{
			`✗ 1: "/usr/bin/x" is not a time field: the line has only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
			`✗ 2: "* * *" has 3 time fields and no command; write five: minute hour day-of-month month day-of-week, then the command`,
			`✗ 3: "x" is neither a time nor a setting; begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment`,
		}},
		{"invalid names of months and days", "0 9 * * funday x y\n0 9 * * mon,Tues x\n0 9 1 june * x\n0 9 1 JAN-sept * x\n*/5 * * * monitor --all\n0 5 1 * marche x\n", []string{
			`✗ 1: "funday" is not a day of the week; write sun mon tue wed thu fri sat, or 0 to 7`,
			`✗ 2: "mon,Tues" is not a day of the week; write sun mon tue wed thu fri sat, or 0 to 7`,
			`✗ 3: "june" is not a month; write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12`,
			`✗ 4: "JAN-sept" is not a month; write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12`,
			`✗ 5: "monitor" is not a time field: the line has only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
			`✗ 6: "marche" is not a time field: the line has only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
		}},
		{"six fields", "0 */5 * * * * x\n0 0 12 1 * 5 x\n0 0 1 * * ? x\n", []string{
			`✗ 1: "*" is not a command: the line has six time fields; remove the seconds: minute hour day-of-month month day-of-week`,
			`✗ 2: "5" is not a command: the line has six time fields; remove the seconds: minute hour day-of-month month day-of-week`,
			`✗ 3: "?" is not a command: the line has six time fields; remove the seconds: minute hour day-of-month month day-of-week`,
		}},
		{"random times", "0~59 3 * * * x\n~ 3 * * * x\n", []string{
			`✗ 1: "0~59" is a random time; write H(0-59), which Rota computes from the name and never changes`,
			`✗ 2: "~" is a random time; write H, which Rota computes from the name and never changes`,
		}},

		// Files.
		{"no line break after the last line", "* * * * * a\n* * * * * b", []string{
			"1: * * * * * | a", "2: * * * * * | b", "· 2: the last line has no line break; cron ignores such a line, Rota reads it",
		}},
		{"no line break after a last comment", "* * * * * a\n# b", []string{"1: * * * * * | a"}},
		{"Windows line breaks", "A=1\r\n* * * * * a\r\n", []string{
			"2: * * * * * | a | A=1", "· 0: 2 lines end with a carriage return, as on Windows; cron treats it as a part of the command, Rota ignores it",
		}},
		{"a byte order mark", "\xef\xbb\xbf* * * * * a\n", []string{
			"1: * * * * * | a", "· 0: the file begins with a byte order mark; cron treats it as a part of the first line, Rota ignores it",
		}},
		{"UTF-16", "\xff\xfe*\x00 \x00", []string{"✗ 0: the file is encoded in UTF-16; convert it, such as with iconv -f UTF-16 -t UTF-8"}},
		{"UTF-8 and other encodings", "* * * * * echo Grüße\n* * * * * echo Gr\xfc\xdfe\n# Gr\xfc\xdfe\n", []string{
			"1: * * * * * | echo Grüße", "✗ 2: the line is not UTF-8: byte 18 is 0xFC; convert the file, such as with iconv -f ISO-8859-1 -t UTF-8",
		}},
		{"a NUL", "* * * * * a\x00b\n", []string{"✗ 1: the line has a NUL byte at byte 12; check that the file is a crontab"}},
		{"a long line", "* * * * * " + strings.Repeat("x", LineMax) + "\n* * * * * a\n", []string{
			"2: * * * * * | a", "✗ 1: the line has 131082 bytes; the limit is 131072; put the command into a script",
		}},
		{"a long file", strings.Repeat("#\n", TextMax/2+1), []string{"✗ 0: the file has 2097154 bytes; the limit is 2097152; check that it is a crontab, or split it into several files"}},
		{"many lines", strings.Repeat("#\n", LinesMax) + "* * * * * a\n", []string{"✗ 10001: the file has more than 10000 lines; the rest is ignored; split it into several files"}},
		{"nothing", "", nil},
	} {
		t.Run(row.name, func(t *testing.T) { compare(t, Parse([]byte(row.text), Config{Form: FormUser}), row.want) })
	}
}

// TestParseNumbersLinesOfSettings: entries and settings have the numbers of their own lines, whatever is between them.
func TestParseNumbersLinesOfSettings(t *testing.T) {
	read := Parse([]byte("# m h dom mon dow user command\r\n\r\nMAILTO=ops\r\nTOKEN=abc\r\n\r\n# next\r\n@daily root a \\\r\n  b\r\nCRON_TZ=Asia/Tokyo\r\nTOKEN=def\r\n0 5 * * * root c\r\n"), Config{})
	if len(read.Entries) != 2 || len(read.Refused) != 1 || read.Form != FormSystem {
		t.Fatalf("%+v", read)
	}
	first, second := read.Entries[0], read.Entries[1]
	if first.Line != 7 || first.MailTo.Line != 3 || first.Settings[0] != (Setting{"TOKEN", "abc", 4}) || first.Zone.Value != "" {
		t.Errorf("the first entry is %+v", first)
	}
	if second.Line != 11 || second.MailTo.Line != 3 || second.Settings[0] != (Setting{"TOKEN", "def", 10}) || second.Zone.Line != 9 {
		t.Errorf("the second entry is %+v", second)
	}
	if read.Refused[0].Line != 8 || read.Refused[0].Found != "" {
		t.Errorf("the line after a backslash is refused as %+v", read.Refused[0])
	}
}

// TestParseSystemLines parses lines that name their user.
func TestParseSystemLines(t *testing.T) {
	compare(t, Parse([]byte(`SHELL=/bin/sh
17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
@daily www-data php cron.php
0 5 * * * backup:disk/daemon run
0 6 * * * root
0 7 * * *
0 8 * * * /usr/bin/x y
* * * * * * root x
`), Config{Form: FormSystem}), []string{
		"2: 17 * * * * | root: cd / && run-parts --report /etc/cron.hourly | SHELL=/bin/sh | shell /bin/sh",
		"3: @daily | www-data: php cron.php | SHELL=/bin/sh | shell /bin/sh",
		"4: 0 5 * * * | backup:disk/daemon: run | SHELL=/bin/sh | shell /bin/sh",
		`✗ 5: "0 6 * * * root" has a user and no command; write the command after the user, or use --user if the file has no user column`,
		`✗ 6: "0 7 * * *" has neither user nor command; write both after the times`,
		`✗ 7: "/usr/bin/x" is not a user name; write USER COMMAND after the times, or use --user if the file has no user column`,
		`✗ 8: "*" is not a user name; write USER COMMAND after the times, or use --user if the file has no user column`,
	})
}

// TestParseRefusesDayFieldsWithDifferentMeaning checks the rule in the comment of Entry.
func TestParseRefusesDayFieldsWithDifferentMeaning(t *testing.T) {
	const both, every = "cron runs it on days that match both", "cron runs it every day"
	for _, row := range []struct{ day, weekday, refused string }{
		{"*", "*", ""},
		{"13", "*", ""},
		{"*", "5", ""},
		{"13", "5", ""},          // either, for both
		{"1-7", "mon", ""},       // either, so not only the first Monday
		{"*/2", "*", ""},         // the other field is a star
		{"*", "*/2", ""},         //
		{"*/1", "1", ""},         // every day, written as a star
		{"1-31", "*", ""},        // every day, both times
		{"1-31", "0-6", ""},      //
		{"1-31", "sun-sat", ""},  //
		{"*/2", "1", both},       // cron: odd days that are Mondays; Rota: odd days and Mondays
		{"1", "*/2", both},       //
		{"*/2", "*/3", both},     //
		{"*,1", "1", ""},         // contains every day
		{"1-31", "1", every},     // cron: every day; Rota: Mondays
		{"1", "0-6", every},      //
		{"1", "0-7", every},      //
		{"1", "1-7", every},      //
		{"1-31/1", "fri", every}, //
		{"x", "1", ""},           // refused as invalid, not for its meaning
		{"40", "*/2", ""},        //
	} {
		got := Parse(fmt.Appendf(nil, "0 0 %s * %s x\n", row.day, row.weekday), Config{Form: FormUser})
		reason := ""
		for _, r := range got.Refused {
			reason += r.Reason
		}
		if row.day == "x" {
			reason = "" // not a field at all
		}
		if (row.refused == "") != (reason == "") || !strings.Contains(reason, row.refused) {
			t.Errorf("%s and %s: refused with %q, want %q", row.day, row.weekday, reason, row.refused)
		}
	}
}

func TestParseDetectsForm(t *testing.T) {
	for _, row := range []struct {
		name, text string
		form       Form
		why        string
	}{
		{"/etc/crontab", "* * * * * root x\n", FormSystem, "the file is /etc/crontab"},
		{"backup/etc/crontab", "", FormSystem, "the file is /etc/crontab"},
		{"/etc/cron.d/php", "", FormSystem, "the file is in cron.d"},
		{"cron.d/php", "", FormSystem, "the file is in cron.d"},
		{"crontab", "* * * * * root run\n@daily www-data x\n", FormSystem, "every line names a well-known system user"},
		{"-", "# m h dom mon dow user  command\n* * * * * alice run it\n", FormSystem, "a comment names the user column"},
		{"-", "# *  *  *  *  * user-name  command to be executed\n* * * * * alice run it\n", FormSystem, "a comment names the user column"},
		{"-", "# m h dom mon dow user  command\n* * * * * run\n", FormUser, "not every line names a user"},
		{"crontab", "* * * * * php artisan\n", FormUser, "nothing indicates a user column"},
		{"crontab", "* * * * * root run\n* * * * * /bin/x y\n", FormUser, "not every line names a user"},
		{"crontab", "0 5 * * * mysql -psecret shop\n", FormUser, "not every line names a user"},
		{"crontab", "0 5 * * * root -n run\n", FormSystem, "every line names a well-known system user"},
		{"", "", FormUser, "nothing indicates a user column"},
		{"", "A=1\nnonsense\n", FormUser, "nothing indicates a user column"},
	} {
		got := Parse([]byte(row.text), Config{Name: row.name})
		if got.Form != row.form || got.Why != row.why {
			t.Errorf("%s %q: %s, because %s; want %s, because %s", row.name, row.text, got.Form, got.Why, row.form, row.why)
		}
	}
	mixed := Parse([]byte("* * * * * root run\n* * * * * x\n"), Config{})
	if len(mixed.Notes) != 1 || !strings.Contains(mixed.Notes[0].Text, "--system") {
		t.Errorf("no note about the user name: %+v", mixed.Notes)
	}
	if sure := Parse([]byte("* * * * * root run\n"), Config{Form: FormUser}); len(sure.Notes) != 0 || sure.Why != "" {
		t.Errorf("a note or reason although the form is given: %+v", sure)
	}
}

// TestParseCrontabsOfDistributions parses crontabs that distributions ship.
func TestParseCrontabsOfDistributions(t *testing.T) {
	for _, name := range []string{"debian", "cronie"} {
		text, err := os.ReadFile("testdata/" + name + ".crontab")
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile("testdata/" + name + ".want")
		if err != nil {
			t.Fatal(err)
		}
		got := Parse(text, Config{Name: "/etc/crontab"})
		compare(t, got, strings.Split(strings.TrimSpace(string(want)), "\n"))
	}
}

func compare(t *testing.T, got Crontab, want []string) {
	t.Helper()
	lines := render(got)
	for i := range max(len(lines), len(want)) {
		switch {
		case i >= len(want):
			t.Errorf("unexpected\n%s", lines[i])
		case i >= len(lines):
			t.Errorf("missing\n%s", want[i])
		case lines[i] != want[i]:
			t.Errorf("got\n%s\nwant\n%s", lines[i], want[i])
		}
	}
}

// render formats a crontab as in the tables of the tests.
func render(c Crontab) (lines []string) {
	for _, e := range c.Entries {
		text := fmt.Sprintf("%d: %s | ", e.Line, e.Times)
		if e.User != "" {
			text += e.User + ": "
		}
		text += e.Command
		if e.HasInput {
			text += fmt.Sprintf(" | input %q", e.Input)
		}
		var settings []string
		for _, s := range e.Settings {
			settings = append(settings, s.Name+"="+s.Value)
		}
		if len(settings) > 0 {
			text += " | " + strings.Join(settings, " ")
		}
		for _, part := range []struct{ name, value string }{{"shell", e.Shell}, {"zone", e.Zone.Value}, {"mail", e.MailTo.Value}} {
			if part.value != "" {
				text += " | " + part.name + " " + part.value
			}
		}
		lines = append(lines, text)
	}
	for _, r := range c.Refused {
		found := r.Found
		if found != "" {
			found += " "
		}
		lines = append(lines, fmt.Sprintf("✗ %d: %s%s; %s", r.Line, found, r.Reason, r.Remedy))
	}
	for _, n := range c.Notes {
		lines = append(lines, fmt.Sprintf("· %d: %s", n.Line, n.Text))
	}
	return lines
}

// TestParseLimitsSettings checks the limits on number and length of settings. A value that replaces another one counts
// instead of it.
func TestParseLimitsSettings(t *testing.T) {
	var text strings.Builder
	for i := range SettingsMax + 1 {
		fmt.Fprintf(&text, "N%d=1\n", i)
	}
	many := Parse([]byte(text.String()+"* * * * * x\n"), Config{Form: FormUser})
	if len(many.Refused) != 1 || many.Refused[0].Line != SettingsMax+1 || len(many.Entries[0].Settings) != SettingsMax {
		t.Errorf("%+v", many.Refused)
	}
	half := strings.Repeat("v", SettingMax/2-1)
	long := Parse([]byte("A="+half+"\nB="+half+"\nA=\nA="+half+"\nC=\n* * * * * x\nB=1\nC=\n* * * * * y\n"), Config{Form: FormUser})
	if len(long.Refused) != 1 || long.Refused[0].Line != 5 ||
		long.Refused[0].Reason != "is too long: the variables have 16385 bytes with it; the limit is 16384" {
		t.Errorf("%+v", long.Refused)
	}
	if len(long.Entries) != 2 || len(long.Entries[0].Settings) != 2 || len(long.Entries[1].Settings) != 3 {
		t.Errorf("%d entries", len(long.Entries))
	}
}
