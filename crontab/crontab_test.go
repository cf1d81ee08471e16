package crontab

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestLines reads crontabs of a few lines each. What comes of them is written down as people would say it: entries as
// "LINE: TIMES | COMMAND" with what else they have, then what was refused (✗) and what was noted (·).
func TestLines(t *testing.T) {
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
		{"a command may hold anything", "* * * * * echo \"$HOME = $(date)\" > /dev/null 2>&1\n", []string{`1: * * * * * | echo "$HOME = $(date)" > /dev/null 2>&1`}},
		{"an assignment in a command", "* * * * * FOO=bar baz\n", []string{"1: * * * * * | FOO=bar baz"}},
		{"- before the times", "-*/15 * * * * x\n", []string{"1: */15 * * * * | x", "· 1: the - before the times, by which cron does not log the line, is left out"}},
		{"no line goes on", "* * * * * x \\\n  y\n", []string{
			"1: * * * * * | x \\",
			`✗ 2: "y" is neither a time nor a setting; begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment`,
			"· 1: the line ends with a backslash: a crontab line does not go on on the next one, neither with cron nor here",
		}},
		{"options of the BSDs", "* * * * * -n -q x\n* * * * * -s y -n\n", []string{
			"1: * * * * * | x", "2: * * * * * | y -n",
			"· 1: -n, an option of the BSDs' cron, is left out", "· 1: -q, an option of the BSDs' cron, is left out",
			"· 2: -s, an option of the BSDs' cron, is left out; for one run at a time use rota schedule edit NAME --overlap skip",
		}},

		// % and the input.
		{"no input", `* * * * * date +\%F` + "\n", []string{"1: * * * * * | date +%F"}},
		{"input", "* * * * * mail root%Hello%there\n", []string{`1: * * * * * | mail root | input "Hello\nthere\n"`}},
		{"an empty input", "* * * * * cat%\n", []string{`1: * * * * * | cat | input ""`}},
		{"a % in the input", `* * * * * cat%100\%%\n` + "\n", []string{`1: * * * * * | cat | input "100%\n\\n\n"`}},
		{"backslashes before %", `* * * * * a\\%b\\%c` + "\n", []string{`1: * * * * * | a\\ | input "b\\%c\n"`}},
		{"other backslashes", `* * * * * a\b \\c` + "\n", []string{`1: * * * * * | a\b \\c`}},
		{"nothing before %", "* * * * * %x\n", []string{`✗ 1: "%x" has no command before the first %; write \% for a % that is none of cron's`}},

		// Settings.
		{"settings hold from where they stand", "* * * * * a\nA=1\n* * * * * b\nA=2\nB = two words \n* * * * * c\n", []string{
			"1: * * * * * | a", "3: * * * * * | b | A=1", "6: * * * * * | c | A=2 B=two words",
		}},
		{"quotes", "A=\" x \"\nB='\"y\"'\nC = \"\"\nD=\n'E'=z\n* * * * * a\n", []string{`6: * * * * * | a | A= x  B="y" C= D= E=z`}},
		{"a quote inside", "A=it's\n* * * * * a\n", []string{"2: * * * * * | a | A=it's"}},
		{"what steers cron is no variable", "SHELL=/bin/bash\nMAILTO=ops@example.com\nCRON_TZ=Asia/Tokyo\nHOME=/srv\nPATH=/bin:/usr/bin\n0 5 * * * a\nMAILTO=\"\"\nCRON_TZ=\n0 6 * * * b\n", []string{
			"6: 0 5 * * * | a | HOME=/srv PATH=/bin:/usr/bin SHELL=/bin/bash | shell /bin/bash | zone Asia/Tokyo | mail ops@example.com",
			"9: 0 6 * * * | b | HOME=/srv PATH=/bin:/usr/bin SHELL=/bin/bash | shell /bin/bash",
		}},
		{"what is not taken over", "RANDOM_DELAY=45\nSTART_HOURS_RANGE=3-22\nLOGNAME=x\nMAILFROM=y\nCONTENT_TYPE=z\n@daily a\n", []string{
			"6: @daily | a",
			"· 1: RANDOM_DELAY is not taken over: jobs start when they are due; to spread them, write H in place of a number",
			"· 2: START_HOURS_RANGE is not taken over: it is for anacron; write the hours into the times",
			"· 3: LOGNAME is not taken over: cron does not let it be set either",
			"· 4: MAILFROM is not taken over: Rota sends no mail",
			"· 5: CONTENT_TYPE is not taken over: Rota sends no mail",
		}},
		{"what might surprise", "PATH=$HOME/bin:/bin\nTZ=UTC\nA=b # c\nSHELL=\n* * * * * a\n", []string{
			"5: * * * * * | a | A=b # c PATH=$HOME/bin:/bin SHELL= TZ=UTC",
			"· 1: PATH has a $ in it, which stays as it is: cron does not replace it either",
			"· 2: TZ is for the commands alone, as with cron; CRON_TZ is for the times",
			"· 3: A has a # in it, which is part of the value and no comment, as with cron",
			"· 4: SHELL is empty; /bin/sh is taken",
		}},
		{"bad settings", "A=\"x\nB='x' y\nC-D=1\nE=\"\n* * * * * a\n", []string{
			"5: * * * * * | a",
			`✗ 1: "\"x" is not a value: the quote is not closed at the end of the line; put the whole value in quotes, or none of it`,
			`✗ 2: "'x' y" is not a value: the quote is not closed at the end of the line; put the whole value in quotes, or none of it`,
			`✗ 3: "C-D" is not the name of a variable; use letters, digits and _, and no digit at the beginning`,
			`✗ 4: "\"" is not a value: the quote is not closed at the end of the line; put the whole value in quotes, or none of it`,
		}},

		// What is refused.
		{"@reboot and others", "@reboot a\n@every 5m b\n@every_second c\n@dayly d\n", []string{
			`✗ 1: "@reboot" cannot be taken over: a schedule goes by the clock, and outlives the machine; start it from whatever starts the machine, such as a systemd unit that calls rota job create`,
			`✗ 2: "@every" is no word of a crontab; make the schedule with rota schedule create NAME --every DURATION`,
			`✗ 3: "@every_second" cannot be taken over: the times of a line are whole minutes; make the schedule with rota schedule create NAME --every 1s`,
			`✗ 4: "@dayly" is not known; there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually`,
		}},
		{"no command", "* * * * *\n@daily  \n", []string{
			`✗ 1: "* * * * *" has no command; write one behind the five time fields`,
			`✗ 2: "@daily  " has no command; write one behind the five time fields`,
		}},
		{"too few fields", "*/5 * * * /usr/bin/x\n* * *\nx\n", []string{
			`✗ 1: "/usr/bin/x" stands where a time field should be: there are only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
			`✗ 2: "* * *" has 3 time fields and nothing behind; write five: minute hour day-of-month month day-of-week, then the command`,
			`✗ 3: "x" is neither a time nor a setting; begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment`,
		}},
		{"names that are none", "0 9 * * funday x y\n0 9 * * mon,Tues x\n0 9 1 june * x\n0 9 1 JAN-sept * x\n*/5 * * * monitor --all\n0 5 1 * marche x\n", []string{
			`✗ 1: "funday" is not a day of the week; write sun mon tue wed thu fri sat, or 0 to 7`,
			`✗ 2: "mon,Tues" is not a day of the week; write sun mon tue wed thu fri sat, or 0 to 7`,
			`✗ 3: "june" is not a month; write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12`,
			`✗ 4: "JAN-sept" is not a month; write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12`,
			`✗ 5: "monitor" stands where a time field should be: there are only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
			`✗ 6: "marche" stands where a time field should be: there are only 4 time fields before it; write five: minute hour day-of-month month day-of-week; * for one that does not matter`,
		}},
		{"six fields", "0 */5 * * * * x\n0 0 12 1 * 5 x\n0 0 1 * * ? x\n", []string{
			`✗ 1: "*" stands where the command should be: there are six time fields; leave the seconds out: minute hour day-of-month month day-of-week`,
			`✗ 2: "5" stands where the command should be: there are six time fields; leave the seconds out: minute hour day-of-month month day-of-week`,
			`✗ 3: "?" stands where the command should be: there are six time fields; leave the seconds out: minute hour day-of-month month day-of-week`,
		}},
		{"a time by chance", "0~59 3 * * * x\n~ 3 * * * x\n", []string{
			`✗ 1: "0~59" is a time that cron chooses at random; write H(0-59), by which Rota chooses a time from the name, the same for ever`,
			`✗ 2: "~" is a time that cron chooses at random; write H, by which Rota chooses a time from the name, the same for ever`,
		}},

		// Files.
		{"no end of the last line", "* * * * * a\n* * * * * b", []string{
			"1: * * * * * | a", "2: * * * * * | b", "· 2: the last line has no end; cron passes over such a line, here it is read",
		}},
		{"a last comment without an end", "* * * * * a\n# b", []string{"1: * * * * * | a"}},
		{"ends of lines as on Windows", "A=1\r\n* * * * * a\r\n", []string{
			"2: * * * * * | a | A=1", "· 0: 2 lines end with a carriage return, as on Windows; cron would take it for a part of the command, here it is left out",
		}},
		{"a byte order mark", "\xef\xbb\xbf* * * * * a\n", []string{
			"1: * * * * * | a", "· 0: the file begins with a byte order mark; cron would take it for a part of the first line, here it is left out",
		}},
		{"UTF-16", "\xff\xfe*\x00 \x00", []string{"✗ 0: the file is written in UTF-16; convert it, such as with iconv -f UTF-16 -t UTF-8"}},
		{"other letters", "* * * * * echo Grüße\n* * * * * echo Gr\xfc\xdfe\n# Gr\xfc\xdfe\n", []string{
			"1: * * * * * | echo Grüße", "✗ 2: the line is not UTF-8: byte 18 is 0xFC; convert the file, such as with iconv -f ISO-8859-1 -t UTF-8",
		}},
		{"a NUL", "* * * * * a\x00b\n", []string{"✗ 1: the line has a NUL byte at byte 12; see that the file is a crontab"}},
		{"a long line", "* * * * * " + strings.Repeat("x", LineMax) + "\n* * * * * a\n", []string{
			"2: * * * * * | a", "✗ 1: the line has 131082 bytes; at most 131072 are read; put the command into a script",
		}},
		{"a long file", strings.Repeat("#\n", TextMax/2+1), []string{"✗ 0: the file has 2097154 bytes; at most 2097152 are read; see that it is a crontab, and cut it into several"}},
		{"many lines", strings.Repeat("#\n", LinesMax) + "* * * * * a\n", []string{"✗ 10001: the file has more than 10000 lines; those from here on are not read; cut it into several"}},
		{"nothing", "", nil},
	} {
		t.Run(row.name, func(t *testing.T) { compare(t, Parse([]byte(row.text), Config{Form: FormUser}), row.want) })
	}
}

// TestSystemLines reads lines that name their user.
func TestSystemLines(t *testing.T) {
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
		`✗ 5: "0 6 * * * root" has a user and no command; write the command behind the user, or read the file with --user if it has no such column`,
		`✗ 6: "0 7 * * *" has neither user nor command; write both behind the times`,
		`✗ 7: "/usr/bin/x" stands where the user should be, and is no user; write USER COMMAND behind the times, or read the file with --user if it has no such column`,
		`✗ 8: "*" stands where the user should be, and is no user; write USER COMMAND behind the times, or read the file with --user if it has no such column`,
	})
}

// TestDaysThatMeanOthersAreRefused holds the day fields to what cron makes of them: see Entry.
func TestDaysThatMeanOthersAreRefused(t *testing.T) {
	const both, every = "cron runs it on days that match both", "cron runs it every day"
	for _, row := range []struct{ day, weekday, refused string }{
		{"*", "*", ""},
		{"13", "*", ""},
		{"*", "5", ""},
		{"13", "5", ""},          // either, for both
		{"1-7", "mon", ""},       // the first Monday it is not, with either
		{"*/2", "*", ""},         // a star leaves nothing to disagree about
		{"*", "*/2", ""},         //
		{"*/1", "1", ""},         // every day, written as a star
		{"1-31", "*", ""},        // every day, both times
		{"1-31", "0-6", ""},      //
		{"1-31", "sun-sat", ""},  //
		{"*/2", "1", both},       // cron: odd days that are Mondays; Rota: odd days and Mondays
		{"1", "*/2", both},       //
		{"*/2", "*/3", both},     //
		{"*,1", "1", ""},         // the star stands for all
		{"1-31", "1", every},     // cron: every day; Rota: Mondays
		{"1", "0-6", every},      //
		{"1", "0-7", every},      //
		{"1", "1-7", every},      //
		{"1-31/1", "fri", every}, //
		{"x", "1", ""},           // is for others to judge
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

func TestFormIsGuessed(t *testing.T) {
	for _, row := range []struct {
		name, text string
		form       Form
		why        string
	}{
		{"/etc/crontab", "* * * * * root x\n", FormSystem, "it is called /etc/crontab"},
		{"backup/etc/crontab", "", FormSystem, "it is called /etc/crontab"},
		{"/etc/cron.d/php", "", FormSystem, "it stands in cron.d"},
		{"cron.d/php", "", FormSystem, "it stands in cron.d"},
		{"crontab", "* * * * * root run\n@daily www-data x\n", FormSystem, "every line names a user that systems have"},
		{"-", "# m h dom mon dow user  command\n* * * * * alice run it\n", FormSystem, "a comment names the column of the user"},
		{"-", "# *  *  *  *  * user-name  command to be executed\n* * * * * alice run it\n", FormSystem, "a comment names the column of the user"},
		{"-", "# m h dom mon dow user  command\n* * * * * run\n", FormUser, "not every line names a user"},
		{"crontab", "* * * * * php artisan\n", FormUser, "nothing in it says otherwise"},
		{"crontab", "* * * * * root run\n* * * * * /bin/x y\n", FormUser, "not every line names a user"},
		{"", "", FormUser, "nothing in it says otherwise"},
		{"", "A=1\nnonsense\n", FormUser, "nothing in it says otherwise"},
	} {
		got := Parse([]byte(row.text), Config{Name: row.name})
		if got.Form != row.form || got.Why != row.why {
			t.Errorf("%s %q: %s, because %s; want %s, because %s", row.name, row.text, got.Form, got.Why, row.form, row.why)
		}
	}
	mixed := Parse([]byte("* * * * * root run\n* * * * * x\n"), Config{})
	if len(mixed.Notes) != 1 || !strings.Contains(mixed.Notes[0].Text, "--system") {
		t.Errorf("nobody is warned: %+v", mixed.Notes)
	}
	if sure := Parse([]byte("* * * * * root run\n"), Config{Form: FormUser}); len(sure.Notes) != 0 || sure.Why != "" {
		t.Errorf("who knows is warned: %+v", sure)
	}
}

func TestPrograms(t *testing.T) {
	for _, row := range []struct{ command, want string }{
		{"/usr/local/bin/backup --all", "backup"},
		{"backup.sh", "backup"},
		{"FOO=1 BAR='x y' run", "y"}, // quotes are not looked into
		{"FOO=1 run", "run"},
		{"cd /srv/app && ./bin/tidy", "tidy"},
		{"cd / && run-parts --report /etc/cron.hourly", "run-parts"},
		{"test -x /usr/sbin/anacron || ( cd / && run-parts -r x)", "run-parts"},
		{"[ -x /usr/bin/certbot ] && certbot -q renew", "certbot"},
		{"command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1"},
		{"php /var/www/artisan schedule:run >> /dev/null 2>&1", "artisan"},
		{"php -q cron.php", "cron"},
		{"python3 -m jobs.nightly", "jobs.nightly"},
		{"perl -e 'print 1'", "perl"},
		{"bash -lc 'x'", "bash"},
		{"java -jar tool.jar", "tool"},
		{"nice -n 19 ionice -c3 rsync -a /a /b", "rsync"},
		{"flock -n /tmp/x.lock /opt/job", "job"},
		{"timeout 5m curl -s http://localhost/", "curl"},
		{"sudo -u www-data php x.php", "x"},
		{"/usr/bin/env FOO=1 ruby tidy.rb", "tidy"},
		{"(sleep 30; /opt/late)", "late"},
		{"echo hello", "echo"},
		{"date", "date"},
		{"\"/opt/my tool\"", "my"},
		{"grüße", "gr--e"},
		{"$HOME/bin/x", "x"},
		{"%%%", "command"},
		{"", "command"},
		{strings.Repeat("long", 30), strings.Repeat("long", 10)},
	} {
		if got := Program(row.command); got != row.want {
			t.Errorf("%s runs %q, want %q", row.command, got, row.want)
		}
	}
}

// TestNamesStay: a name goes with what is run, not with where or when.
func TestNamesStay(t *testing.T) {
	names := func(text string) []string {
		return Names(Parse([]byte(text), Config{Form: FormUser}).Entries, "web1.")
	}
	before := names("0 1 * * * backup a\n0 2 * * * backup b\n0 3 * * * backup a\n")
	after := names("# moved\n0 9 * * * other\n30 4 * * * backup a\nA=1\n@daily backup b\n0 3 * * * backup a\n")
	if before[0] != after[1] || before[1] != after[2] || before[2] != after[3] {
		t.Errorf("they were %v and are %v", before, after)
	}
	if before[0] != "web1.backup-6c3a53" || before[2] != before[0]+"-2" || before[0] == before[1] {
		t.Errorf("they are %v", before)
	}
	all := Names([]Entry{{Command: "x"}, {Command: "x", User: "root"}, {Command: "x", Input: "y"}}, "")
	if all[0] == all[1] || all[0] == all[2] || all[1] == all[2] {
		t.Errorf("different things have one name: %v", all)
	}
}

// TestSamples reads the crontabs that systems come with.
func TestSamples(t *testing.T) {
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
			t.Errorf("beside it there is\n%s", lines[i])
		case i >= len(lines):
			t.Errorf("there is no\n%s", want[i])
		case lines[i] != want[i]:
			t.Errorf("got\n%s\nwant\n%s", lines[i], want[i])
		}
	}
}

// render writes a crontab down as the tables have it.
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
		for _, part := range []struct{ name, value string }{{"shell", e.Shell}, {"zone", e.Zone}, {"mail", e.MailTo}} {
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

// TestSettingsAreBounded in number and in length: each entry is written out with all of them. What replaces another counts
// in its place.
func TestSettingsAreBounded(t *testing.T) {
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
		long.Refused[0].Reason != "is too long: the variables have 16385 bytes with it, and at most 16384 are taken over" {
		t.Errorf("%+v", long.Refused)
	}
	if len(long.Entries) != 2 || len(long.Entries[0].Settings) != 2 || len(long.Entries[1].Settings) != 3 {
		t.Errorf("%d entries", len(long.Entries))
	}
}
