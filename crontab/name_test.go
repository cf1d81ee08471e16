package crontab

import (
	"slices"
	"strings"
	"testing"
)

// TestNameIsWordsOfCommand: a line is named by the program that does its work, not by what prepares or wraps it.
func TestNameIsWordsOfCommand(t *testing.T) {
	for _, row := range []struct{ command, want string }{
		{"/usr/local/bin/backup --all", "backup"},
		{"/usr/local/bin/backup.sh --full", "backup"},
		{"report daily", "report-daily"},
		{"FOO=1 BAR='x y' run-it", "run-it"},
		{`/usr/bin/env A=b B="c d" ruby tidy.rb`, "tidy"},
		{"env -u HOME -i A=b /opt/sync", "sync"},

		// Conditions and preparations.
		{"cd /srv/app && ./bin/tidy", "tidy"},
		{"cd / && run-parts --report /etc/cron.hourly", "cron-hourly"},
		{"test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }", "cron-daily"},
		{"[ -x /usr/sbin/anacron ] || ( cd / && run-parts --report /etc/cron.weekly )", "cron-weekly"},
		{"[ -x /usr/bin/certbot ] && certbot -q renew", "certbot"},
		{"perl -e 'sleep int(rand(43200))' && certbot -q renew", "certbot"},
		{`test -x /usr/bin/certbot -a \! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew --no-random-sleep-on-renew`, "certbot"},
		{"command -v debian-sa1 > /dev/null && debian-sa1 1 1", "debian-sa1"},
		{"if [ -x /etc/x ]; then /opt/check; fi", "check"},
		{"(sleep 30; /opt/late)", "late"},
		{"umask 077; pg_dump shop | gzip > /backup/shop.gz", "pg_dump-shop"},
		{"echo hello | mail -s x ops", "mail"},
		{"> /dev/null 2>&1 /opt/quiet", "quiet"},
		{"/opt/noisy &> /tmp/log", "noisy"},
		{"/opt/noisy >> /tmp/log 2>&1 # every night", "noisy"},

		// Wrappers.
		{"nice -n 10 ionice -c3 rsync -a /a /b", "rsync"},
		{"nice -n 10 ionice -c 3 /opt/index-all", "index-all"},
		{"flock -n /tmp/x.lock /opt/app/bin/report daily", "report-daily"},
		{"bundle exec rake x", "rake-x"},
		{"cd /srv/app && bundle exec rake db:clean", "rake-db-clean"},
		{"poetry run python tool.py", "tool"},
		{"bundle install", "bundle-install"},
		{"flock -w 10 /tmp/x -c 'cd /srv && ./report'", "report"},
		{"timeout -k 5 5m curl -s http://localhost/", "curl"},
		{"sudo -u www-data php /srv/shop/x.php", "x"},
		{`su -c "/opt/app/sync.sh --fast" app`, "sync"},
		{`su - app -c "cd /opt && ./sync.sh"`, "sync"},
		{"runuser -u app -- /opt/sync", "sync"},
		{"runuser -l app -c '/opt/sync'", "sync"},
		{"chronic systemd-cat -t backup /opt/backup", "backup"},

		// Interpreters.
		{"php /var/www/artisan schedule:run >> /dev/null 2>&1", "artisan-schedule-run"},
		{"php -q /srv/nextcloud/cron.php", "nextcloud-cron"},
		{"python3 /srv/jobs/clean.py", "clean"},
		{"python3.11 -W ignore -m jobs.nightly", "jobs-nightly"},
		{"java -cp /opt/lib -jar tool.jar", "tool"},
		{"bash -lc 'source ~/.profile && /opt/sync'", "sync"},
		{"perl -e 'print 1'", "perl"},
		{"bash -c 'echo 1'", "bash"},
		{"bash -c", "bash"},

		// Nothing better.
		{"echo hello", "echo"},
		{"date", "date"},
		{"\"/opt/my tool\"", "my-tool"},
		{"grüße", "gr-e"},
		{"$HOME/bin/x", "x"},
		{"'", "command"},
		{"%%%", "command"},
		{"", "command"},
		{strings.Repeat("long", 30), strings.Repeat("long", 10)},
		{strings.Repeat("sh -c \"", 20), "sh"},

		// Values of options are not part of a name: they may be passwords.
		{"mysqldump -psecret shop", "mysqldump"},
		{"sshpass -p hunter2 ssh host", "ssh-host"},
		{"login Hunter2", "login"},
		{"-psecret shop", "command"},
	} {
		if got := Names([]Entry{{Command: row.command}}, Naming{})[0]; got != row.want {
			t.Errorf("%s is named %q, want %q", row.command, got, row.want)
		}
	}
}

// TestNamesDependOnCommandsOnly: the order and the times of the lines do not matter, and equal words get a stable suffix.
func TestNamesDependOnCommandsOnly(t *testing.T) {
	names := func(text string) []string {
		return Names(Parse([]byte(text), Config{Form: FormUser}).Entries, Naming{Prefix: "web1."})
	}
	for _, row := range []struct {
		text string
		want []string
	}{
		{"0 1 * * * backup -a\n", []string{"web1.backup"}},
		{"0 1 * * * backup -a\n0 2 * * * backup -b\n", []string{"web1.backup-51770a", "web1.backup-a61ff4"}},
		{"# moved\n30 4 * * * backup -b\nA=1\n@daily backup -a\n", []string{"web1.backup-a61ff4", "web1.backup-51770a"}},
		{"0 1 * * * backup --all\n0 2 * * * backup --full=yes\n", []string{"web1.backup-all", "web1.backup-full"}},
		{"0 1 * * * backup\n0 2 * * * other\n0 3 * * * backup\n0 4 * * * backup\n", []string{"web1.backup", "web1.other", "web1.backup-2", "web1.backup-3"}},
	} {
		if got := names(row.text); !slices.Equal(got, row.want) {
			t.Errorf("%q: %v, want %v", row.text, got, row.want)
		}
	}
	all := Names([]Entry{{Command: "x"}, {Command: "x", User: "root"}, {Command: "x", Input: "y"}}, Naming{})
	if all[0] == all[1] || all[0] == all[2] || all[1] == all[2] {
		t.Errorf("different commands have the same name: %v", all)
	}
}

// TestNamesKeepAndAvoid: a kept name stays with its line, and no other line gets it or a name that is taken.
func TestNamesKeepAndAvoid(t *testing.T) {
	entries := []Entry{{Command: "backup"}, {Command: "backup"}, {Command: "sync"}, {Command: "tidy"}}
	got := Names(entries, Naming{
		Kept:  map[int]string{1: "old", 3: "sync"},
		Taken: func(name string, e *Entry) bool { return name == "old-2" && e.Command == "backup" },
	})
	if want := []string{"old-3", "old", "sync-" + entries[2].Digest()[:6], "sync"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
