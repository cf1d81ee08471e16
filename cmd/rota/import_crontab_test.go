package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/crontab"
)

// TestClockChangeNotes: a line has a note for each direction in which Rota and cron differ, and no other note. The rules are
// in import_crontab_clock.go.
func TestClockChangeNotes(t *testing.T) {
	now := time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)
	const (
		afterChange = " does not exist, clocks go forward: Rota skips it; cron would run it right after the change"
		cronTwice   = " twice, clocks go back: Rota runs it once, the first time; cron would run it both times"
		rotaTwice   = " twice, clocks go back: Rota runs it both times; cron would run it once, the first time"
	)
	for _, row := range []struct {
		times, zone string
		want        []string
	}{
		// Fixed times: cron moves them out of the gap; both run a repeated time once.
		{"30 2 * * *", "Europe/Berlin", []string{"2027-03-28 02:30" + afterChange}},
		{"30 2 28 3 *", "Europe/Berlin", []string{"2027-03-28 02:30" + afterChange}},
		{"15 2 * * *", "Australia/Lord_Howe", []string{"2027-10-03 02:15" + afterChange}},
		{"0 0 * * *", "America/Santiago", []string{"2027-09-05 00:00" + afterChange}},
		{"@daily", "America/Santiago", []string{"2027-09-05 00:00" + afterChange}},
		{"0,30 2 * * *", "Europe/Berlin", []string{
			"2 times from 2027-03-28 02:00 to 02:30 do not exist, clocks go forward: Rota skips them; cron would run each of them right after the change",
		}},

		// A star in the minute or hour field: cron follows the wall clock, so that it skips the gap as Rota does and runs a
		// repeated time twice.
		{"*/30 2 * * *", "Europe/Berlin", []string{
			"2 times from 2027-10-31 02:00 to 02:30 occur twice, clocks go back: Rota runs them once, the first time; cron would run them both times",
		}},
		{"30 */2 * * *", "Europe/Berlin", []string{"2027-10-31 02:30 occurs" + cronTwice}},
		{"* 1 * * *", "Europe/Berlin", nil},

		// All hours: Rota follows the wall clock, cron only if the field is written with a star.
		{"30 * * * *", "Europe/Berlin", nil},
		{"*/5 * * * *", "Europe/Berlin", nil},
		{"@hourly", "Europe/Berlin", nil},
		{"30 0-23 * * *", "Europe/Berlin", []string{"2027-03-28 02:30" + afterChange, "2027-10-31 02:30 occurs" + rotaTwice}},

		// Lines and zones without a difference.
		{"30 2 27 * *", "Europe/Berlin", nil},
		{"30 3 * * *", "Europe/Berlin", nil},
		{"30 2 * * *", "UTC", nil},
		{"30 2 * * *", "Asia/Tokyo", nil},
		{"*/5 2 * * *", "Asia/Tokyo", nil},

		// With CRON_TZ, cronie follows the wall clock of that zone.
		{"CRON_TZ 30 2 * * *", "Europe/Berlin", []string{"2027-10-31 02:30 occurs" + cronTwice}},
	} {
		e := &crontab.Entry{}
		times, own := strings.CutPrefix(row.times, "CRON_TZ ")
		if e.Times = times; own {
			e.Zone = crontab.Setting{Name: "CRON_TZ", Value: row.zone}
		}
		expression, err := cron.Parse(times, cron.Config{Zone: row.zone})
		if err != nil {
			t.Fatal(err)
		}
		got := clockChangeNotes(e, "x", expression, now)
		if strings.Join(got, "\n") != strings.Join(row.want, "\n") {
			t.Errorf("%s in %s:\n%s\nwant\n%s", row.times, row.zone, strings.Join(got, "\n"), strings.Join(row.want, "\n"))
		}
	}
}

// TestImportFindsRemovedLines: an import names the schedules whose line is gone, disables them with --prune, and leaves those
// of other crontabs alone.
func TestImportFindsRemovedLines(t *testing.T) {
	s := startServer(t)
	file, other := filepath.Join(t.TempDir(), "jobs.cron"), filepath.Join(t.TempDir(), "jobs.cron")
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	states := s.scheduleStates
	write(other, "0 1 * * * elsewhere\n")
	s.must("import crontab " + other + " --tz UTC --enable --apply")
	s.must("import crontab " + other + " --tz UTC --enable --apply --prefix web1.")
	write(file, "0 1 * * * backup --all\n0 2 * * * report\n0 3 * * * report\n")
	s.must("import crontab " + file + " --tz UTC --enable --apply")

	write(file, "0 3 * * * report\n")
	out := s.must("import crontab " + file + " --tz UTC --apply")
	for _, want := range []string{
		"removed: schedule backup (0 1 * * *, UTC) came from web1:" + file + " and has no line any more; it still fires. " +
			"Disable it with --prune, or delete it: rota schedule delete backup --with-template\n",
		"removed: schedule report (0 2 * * *, UTC)", // the line with other times keeps its own schedule
		"1 line: 0 new, 0 changed, 1 unchanged, 0 refused, 2 removed. Nothing to do.",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "elsewhere") || states()["backup"] != "ENABLED" {
		t.Errorf("states %v after\n%s", states(), out)
	}
	if out = s.must("import crontab " + file + " --tz UTC --prune"); !strings.Contains(out, "--prune would disable it") || states()["backup"] != "ENABLED" {
		t.Errorf("a dry run changes states to %v:\n%s", states(), out)
	}
	out = s.must("import crontab " + file + " --tz UTC --apply --prune")
	got := states()
	if !strings.Contains(out, "2 removed. The removed schedules are disabled.") || got["backup"] != "DISABLED" || got["report"] != "DISABLED" ||
		got["report-2"] != "ENABLED" || got["elsewhere"] != "ENABLED" || got["web1.elsewhere"] != "ENABLED" {
		t.Errorf("states %v after\n%s", got, out)
	}
	if out = s.must("import crontab " + file + " --tz UTC"); strings.Contains(out, "removed") {
		t.Errorf("a disabled schedule is reported again:\n%s", out)
	}

	write(file, "# nothing left\n")
	if out = s.must("import crontab " + file + " --tz UTC --apply --prune"); states()["report-2"] != "DISABLED" {
		t.Errorf("an empty crontab leaves its schedules:\n%s", out)
	}
	write(file, "0 3 * * * report\n")
	if out = s.must("import crontab " + file + " --tz UTC --enable --apply"); states()["report-2"] != "ENABLED" || !strings.Contains(out, "0 new, 1 changed") {
		t.Errorf("a line that is back does not get its schedule back:\n%s", out)
	}
}

// TestImportRefusesPruneWithoutAllLines: what would count a line as removed although it is not is refused.
func TestImportRefusesPruneWithoutAllLines(t *testing.T) {
	for _, line := range []string{"import crontab - --tz UTC --prune", "import crontab testdata/import/web.cron --tz UTC --prune --skip-refused"} {
		if _, errs, code := runLine(line); code != exitUsage || !strings.Contains(errs, "--prune") {
			t.Errorf("%s exits with %d: %s", line, code, errs)
		}
	}
}

// TestImportKeepsNames: a line keeps its name if other lines come and go, and a name of another origin is not taken over.
func TestImportKeepsNames(t *testing.T) {
	s := startServer(t)
	s.must("template create sync --type noop")
	importText := func(text string) map[string]string {
		t.Helper()
		out, errs, code := s.runWith("import crontab - --tz UTC --apply -o json", terminal{}, map[string]string{"STDIN": text})
		if code != exitDone {
			t.Fatal(errs)
		}
		var view crontabView
		if err := json.Unmarshal([]byte(out), &view); err != nil {
			t.Fatal(err)
		}
		names := map[string]string{}
		for _, l := range view.Lines {
			names[l.Command] = l.Name + " " + l.Change
		}
		return names
	}
	first := importText("0 1 * * * backup -a\n0 2 * * * sync\n")
	if first["backup -a"] != "backup created" || !strings.HasPrefix(first["sync"], "sync-") || s.must("template show sync -o json") == "" {
		t.Errorf("the first import: %v", first)
	}
	if got := s.must("template show sync"); !strings.Contains(got, "noop") {
		t.Errorf("the import changed a template of another origin:\n%s", got)
	}
	second := importText("0 5 * * * backup -b\n0 1 * * * backup -a\n0 2 * * * sync\n")
	if second["backup -a"] != "backup unchanged" || !strings.HasPrefix(second["backup -b"], "backup-") || second["sync"] != strings.Replace(first["sync"], "created", "unchanged", 1) {
		t.Errorf("the second import: %v", second)
	}
	third := importText("0 1 * * * backup -b\n0 2 * * * sync\n")
	if strings.Fields(third["backup -b"])[0] != strings.Fields(second["backup -b"])[0] {
		t.Errorf("the third import: %v, after %v", third, second)
	}

	// A user edited the description; the line is still found by its name and command.
	s.must("template edit backup --description mine")
	if got := importText("0 1 * * * backup -a\n"); got["backup -a"] != "backup unchanged" {
		t.Errorf("after an edit: %v", got)
	}
	if got := s.must("template show backup"); !strings.Contains(got, "mine") {
		t.Errorf("the import changed the description:\n%s", got)
	}
}

// TestImportKeepsNamesOfEarlierVersions: versions that recorded no source named lines by a hash; an import finds them by their
// command and records the source.
func TestImportKeepsNamesOfEarlierVersions(t *testing.T) {
	s := startServer(t)
	s.must(`template create perl-71b4df --type exec --description 'from a crontab, user root' --params '{"command": "/bin/sh", "args": ["-c", "certbot -q renew"]}'`)
	s.must("schedule create perl-71b4df --template perl-71b4df --cron '0 1 * * *'")
	out, errs, code := s.runWith("import crontab - --system --tz UTC --apply", terminal{}, map[string]string{"STDIN": "0 1 * * * root certbot -q renew\n"})
	if code != exitDone || !strings.Contains(out, "perl-71b4df") || !strings.Contains(out, "0 new, 1 changed") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if got := s.must("template show perl-71b4df"); !strings.Contains(got, "from crontab web1:standard input, user root") {
		t.Error(got)
	}
}

// TestImportWarnsOfPasswordsInCommands: a password on a command line gets a warning at its line, and no output has it.
func TestImportWarnsOfPasswordsInCommands(t *testing.T) {
	const secret = "hunter2X9"
	for _, row := range []struct {
		command string
		warned  bool
	}{
		{"mysqldump -u app -p" + secret + " shop", true},
		{"mysql -p'" + secret + "' shop", true},
		{"backup --password=" + secret, true},
		{"backup --password " + secret, true},
		{"PGPASSWORD=" + secret + " pg_dump shop", true},
		{"curl -u app:" + secret + " https://example.com/", true},
		{"curl -s https://app:" + secret + "@example.com/", true},
		{"curl -H 'Authorization: Bearer " + secret + "' https://example.com/", true},
		{"curl -H 'X-Api-Key: " + secret + "' https://example.com/", true},
		{"AWS_SECRET_ACCESS_KEY=" + secret + " aws s3 ls", true},
		{"aws s3 ls AKIAIOSFODNN7EXAMPLE", true},
		{"sh -c 'mysql -p" + secret + "'", true},
		{"mail ops%password=" + secret, true},
		{"ftp -n host%user app " + secret + "%put f", true},
		{"mount -o user=app,pass=" + secret + " //h/s /mnt", true},
		{"curl -s 'https://example.com/?key=" + secret + "'", true},
		{"sqlplus app/" + secret + "@db @run.sql", true},
		{"echo " + secret + " | sudo -S reboot", true},
		{"rclone --sftp-pass " + secret + " copy /srv b:c", true},
		{"rclone copy /srv :sftp:b --sftp-host h --sftp-user u --sftp-pass " + secret, true},
		{"rclone copy /srv b:c --sftp-pass '" + secret + "' -v", true},
		{"influx -t " + secret + " query 'x'", true},
		{"influx backup /srv/b -t '" + secret + "'", true},
		{"influx backup /srv/b -t $TOKEN", false},

		{"ftp -n host%user app $PASS%put f", false},
		{"sqlplus app/$PASS@db @run.sql", false},
		{`echo "$PASS" | sudo -S reboot`, false},
		{"mysqldump -p shop", false},
		{"mysqldump -p$PASS shop", false},
		{`mysqldump -p"$(cat /run/pass)" shop`, false},
		{"backup --password=$PASS --all", false},
		{"backup --password $PASS all", false},
		{"PGPASSWORD=\"$(cat /run/pass)\" pg_dump shop", false},
		{"curl -u app: https://example.com/", false},
		{"mkdir -p /srv/x", false},
	} {
		for _, format := range []string{"table", "json"} {
			file := filepath.Join(t.TempDir(), "x.cron")
			if err := os.WriteFile(file, []byte("# a comment\n0 5 * * * "+row.command+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, _ := runLine("import crontab " + file + " --tz UTC --url http://127.0.0.1:1 -o " + format)
			if strings.Contains(out+errs, secret) {
				t.Errorf("the output for %s contains the password:\n%s%s", row.command, out, errs)
			}
			if warned := strings.Contains(out, "a part of the command looks like a secret"); warned != row.warned {
				t.Errorf("%s: warned %v\n%s", row.command, warned, out)
			}
			if format == "table" && row.warned && !strings.Contains(out, "line 2: a part of the command looks like a secret") {
				t.Errorf("the warning for %s names another line:\n%s", row.command, out)
			}
		}
	}
	for _, text := range []string{"DB_PASSWORD=\"" + secret + "\n", "* * * * * x \\\n  -p" + secret + "\n", "* * * * * %" + secret + "\n", "https://app:" + secret + "@host/ x\n"} {
		file := filepath.Join(t.TempDir(), "x.cron")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errs, code := runLine("import crontab " + file + " --tz UTC --url http://127.0.0.1:1")
		if code != exitNotClean || strings.Contains(out+errs, secret) {
			t.Errorf("a refused line %q exits with %d:\n%s%s", text, code, out, errs)
		}
	}
}
