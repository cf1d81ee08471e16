package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExportAndImportToAnotherServer: the second server exports the same bytes as the first.
func TestExportAndImportToAnotherServer(t *testing.T) {
	here, there := startServer(t), startServer(t)
	for _, line := range []string{
		`type put mail.send --retries 5 --schema '{"type": "object", "properties": {"n": {"maximum": 12345678901234567890}}}'`,
		"type pause mail.send", "type pause noop",
		`template create digest --type mail.send --params '{"n": 12345678901234567890, "f": 1.0, "e": 1e3, "text": "two\nlines\n", "yes": "no"}'`,
		"template create old --type noop",
		"schedule create old --template old --every 90s",
		"schedule create digest --template digest --cron '*/7 9-17 * * MON-FRI' --tz Europe/Berlin --scope user=7 --scope user=8 --scope team=x",
		"schedule create after --template digest --cron '0 18 * * *' --depends-on digest --catch-up all",
		"schedule create beat --template old --every 7m0.5s",
		"schedule create once --template digest --at 2099-01-01T00:00:00Z --on-completion drop",
		"schedule pause beat", "template archive old",
		"limits set --global 9 --type mail.send=2 --rate mail.send=7/1m30s --key 'a key: with # odd=3'",
		"webhook add https://example.com/hook --event job.dead --secret hush-hush-hush-hush",
	} {
		here.must(line)
	}
	file := filepath.Join(t.TempDir(), "all.yaml")
	here.must("export --secrets " + file)
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a file with secrets has the mode %v, %v", info.Mode(), err)
	}
	exported := here.must("export --secrets")
	if text, _ := os.ReadFile(file); string(text) != exported {
		t.Error("the file differs from the output on standard output")
	}
	before := here.must("schedule list -o json") + here.must("template list -o json") + here.must("type list -o json") + here.must("audit -o json")
	if out := here.must("import " + file); out != "11 unchanged\n" {
		t.Errorf("import into the same server: %s", out)
	}
	if after := here.must("schedule list -o json") + here.must("template list -o json") + here.must("type list -o json") + here.must("audit -o json"); after != before {
		t.Error("import into the same server changed it")
	}
	_, errs, code := there.runWith("import -", terminal{}, map[string]string{"STDIN": here.must("export")})
	if code != exitUsage || !strings.Contains(errs, "webhooks[0].secret: is missing") || !strings.Contains(errs, "standard input:") {
		t.Errorf("import without secrets exits with %d: %s", code, errs)
	}
	_, errs, code = there.runWith("import "+file, terminal{}, nil)
	if code != exitUsage || !strings.Contains(errs, "https://example.com/hook is sealed with the key") || !strings.Contains(errs, "leave the webhook out") {
		t.Errorf("import with another master key exits with %d: %s", code, errs)
	}
	key, err := os.ReadFile(filepath.Join(here.data, "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(there.data, "master.key"), key, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := there.must("import " + file); !strings.HasSuffix(out, "\n8 created, 3 changed\n") { // noop, the limits and the webhooks existed
		t.Error(out)
	}
	if copied := there.must("export --secrets"); copied != exported {
		t.Errorf("got\n%s\nwant\n%s", copied, exported)
	}
	if copied := there.must("export --secrets -o json"); copied != here.must("export --secrets -o json") {
		t.Errorf("as JSON got\n%s", copied)
	}
	_, errs, code = there.runWith("import -", terminal{}, map[string]string{"STDIN": here.must("export --secrets -o json")})
	if code != exitDone {
		t.Error(errs)
	}
}

// TestLocalZoneSources covers the places where systems keep the name of their time zone.
func TestLocalZoneSources(t *testing.T) {
	none := errors.New("no such file")
	for _, row := range []struct{ tz, timezone, localtime, want string }{
		{"", "Europe/Berlin\n", "", "Europe/Berlin, from /etc/timezone"},
		{"", "", "/usr/share/zoneinfo/America/New_York", "America/New_York, from /etc/localtime"},
		{"", "", "../usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo, from /etc/localtime"},
		{"", "nonsense", "/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo, from /etc/localtime"},
		{"", "", "", "UTC, since this machine has no named zone; set another one with --tz"},
		{"", "", "/etc/somewhere", "UTC, since this machine has no named zone; set another one with --tz"},
		{"Asia/Tokyo", "Europe/Berlin", "", "Asia/Tokyo, from TZ"},
		{":Asia/Tokyo", "", "", "Asia/Tokyo, from TZ"},
		{"CET-1CEST", "Europe/Berlin", "", "TZ is CET-1CEST, which is not the name of a time zone"},
	} {
		zone, err := localZone(row.tz,
			func(string) ([]byte, error) {
				if row.timezone == "" {
					return nil, none
				}
				return []byte(row.timezone), nil
			},
			func(string) (string, error) {
				if row.localtime == "" {
					return "", none
				}
				return row.localtime, nil
			})
		got := zone.name + ", " + zone.from
		if err != nil {
			got = err.Error()
		}
		if got != row.want {
			t.Errorf("%+v: %s", row, got)
		}
	}
}

// TestImportOf1200CrontabLines imports them in one command.
func TestImportOf1200CrontabLines(t *testing.T) {
	if testing.Short() {
		t.Skip("the test creates 1,200 schedules")
	}
	s := startServer(t)
	var b strings.Builder
	for i := range 1_200 {
		fmt.Fprintf(&b, "%d %d * * * job %d\n", i%60, i/60%24, i)
	}
	out, errs, code := s.runWith("import crontab - --tz UTC --apply", terminal{}, map[string]string{"STDIN": b.String()})
	if code != exitDone || !strings.Contains(out, "1200 lines: 1200 new, 0 changed, 0 unchanged, 0 refused. The schedules are stored.") {
		t.Errorf("exit %d: %s%s", code, out[max(0, len(out)-300):], errs)
	}
	out, _, _ = s.runWith("import crontab - --tz UTC --apply", terminal{}, map[string]string{"STDIN": b.String()})
	if !strings.Contains(out, "0 new, 0 changed, 1200 unchanged, 0 refused. Nothing to do.") {
		t.Error(out[max(0, len(out)-300):])
	}
}

// TestMigratingPageMatchesImport runs the example of docs/migrating.md and compares the definitions.
func TestMigratingPageMatchesImport(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "in Berlin,\n\n```\n")
	line, rest, _ := strings.Cut(rest, "\n```\n")
	_, rest, _ = strings.Cut(rest, "```yaml\n")
	want, _, _ := strings.Cut(rest, "```\n")
	s := startServer(t)
	if _, errs, code := s.runWith("import crontab - --tz Europe/Berlin --apply", terminal{}, map[string]string{"STDIN": "SHELL=/bin/bash\n" + line + "\n"}); code != exitDone {
		t.Fatal(errs)
	}
	_, got, _ := strings.Cut(s.must("export"), "version: 1\n\n")
	if got != want {
		t.Errorf("the page shows\n%s\nand the import creates\n%s", want, got)
	}
}
