package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rotajobs/rota/action/sandbox"
	"github.com/rotajobs/rota/crontab"
	"github.com/rotajobs/rota/node"
)

// startExecServer starts a server that runs programs with the section. It skips the test where the machine cannot isolate them.
func startExecServer(t *testing.T, section string) *testServer {
	t.Helper()
	if _, err := sandbox.Probe(sandbox.Full); errors.Is(err, errors.ErrUnsupported) {
		t.Skip("skipped:", err)
	}
	file := filepath.Join(t.TempDir(), "rota.yaml")
	if err := os.WriteFile(file, []byte("exec:\n  "+section+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return startServer(t, "--config", file)
}

func ownName(t *testing.T) string {
	t.Helper()
	own, err := user.Current()
	if err != nil {
		t.Skip("skipped:", err)
	}
	return own.Username
}

// TestCrontabRunsTheSameDay imports a crontab, and a line of it runs at its minute.
func TestCrontabRunsTheSameDay(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it waits for the next minute")
	}
	t.Parallel()
	s := startExecServer(t, "allow: [/bin/sh]")
	own := ownName(t)
	file := filepath.Join(t.TempDir(), "crontab")
	text := "# m h dom mon dow user command\nMAILTO=ops@example.com\n" +
		"* * * * * " + own + " echo \"runs as $(id -un) in $LOGNAME with $SHELL\" | tr a-z A-Z; echo '{\"rows\": 3}'\n" +
		"30 2 * * * " + own + " /usr/local/bin/backup --all\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := s.must("import crontab " + file + " --system --tz UTC --apply")
	for _, want := range []string{"new exec", "/bin/sh -c", "rota webhook add URL --event job.dead", "the commands run twice"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "PAUSED") || strings.Contains(out, "paused") {
		t.Errorf("a schedule is paused:\n%s", out)
	}
	if got := s.must("type show exec"); !regexp.MustCompile(`handled by +server`).MatchString(got) {
		t.Error(got)
	}
	want := strings.ToUpper("runs as " + own + " in " + own + " with /bin/sh")
	deadline := time.Now().Add(2 * time.Minute)
	for ; ; time.Sleep(time.Second) {
		jobs := s.must("job list --type exec --state completed -o json")
		if id := idShape.FindString(jobs); id != "" {
			if log := s.must("job logs " + id); !strings.Contains(log, want) {
				t.Errorf("the log is %q", log)
			}
			if job := s.must("job show " + id); !strings.Contains(job, `{"rows":3}`) || !regexp.MustCompile(`exit code +0`).MatchString(job) {
				t.Error(job)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("no job has completed:\n%s\n%s", s.must("job list -o yaml"), s.errs)
		}
	}
}

// TestImportRefusesWhatTheServerWouldRefuse covers lines of another user on a server without root, and variables of the loader.
func TestImportRefusesWhatTheServerWouldRefuse(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/sh]")
	if os.Geteuid() == 0 { // accounts that the section names
		s = startExecServer(t, "allow: [/bin/sh]\n  user: [root, daemon]")
	}
	file := filepath.Join(t.TempDir(), "crontab")
	text := "0 1 * * * nobody true\nLD_PRELOAD=/tmp/x.so\n0 2 * * * " + ownName(t) + " true\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := s.run("import crontab " + file + " --system --tz UTC --apply")
	if code != exitNotClean || !strings.Contains(out, "line 3: refused: no job can set LD_PRELOAD of line 2") {
		t.Errorf("%d\n%s", code, out)
	}
	want := "line 1: refused: cron runs the command as nobody, but this server runs programs as " + ownName(t)
	if os.Geteuid() == 0 {
		want += ", daemon"
	}
	if !strings.Contains(out, want) {
		t.Errorf("no %q in\n%s", want, out)
	}
}

// TestImportPausesWhatTheSectionDoesNotAllow: an enabled schedule would fail at each of its times.
func TestImportPausesWhatTheSectionDoesNotAllow(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(file, []byte("PATH=/bin\n0 1 * * * free\nLISTED=1\n0 2 * * * listed\nTARGET=web1\nDB_PASSWORD=hunter2\n0 3 * * * held\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	imports := func(s *testServer, flags string) string {
		return strings.Join(strings.Fields(s.must("import crontab "+file+" --user --tz UTC "+flags)), " ")
	}
	const shell = "all: /bin/sh is not in allow of the server, and cron runs commands by it: new schedules are PAUSED. Add it to allow of the section exec"
	s := startExecServer(t, "allow: [/bin/true]")
	out := imports(s, "--apply")
	if got := s.scheduleStates(); got["free"] != "PAUSED" || got["held"] != "PAUSED" || strings.Count(out, shell) != 1 || strings.Contains(out, "run twice") {
		t.Errorf("%v\n%s", got, out)
	}
	if out := imports(s, "--enable"); !strings.Contains(out, "and cron runs commands by it: their jobs fail.") {
		t.Error(out)
	}

	s = startExecServer(t, "allow: [/usr/bin, /bin]\n  env: [LISTED]")
	out = imports(s, "--apply")
	if got := s.scheduleStates(); got["free"] != "ENABLED" || got["listed"] != "ENABLED" || got["held"] != "PAUSED" {
		t.Errorf("%v\n%s", got, out)
	}
	for text, want := range map[string]bool{
		"line 5: jobs of this server may not set TARGET: of the lines below it new schedules are PAUSED. Add it to env": true,
		"rota secret set TEMPLATE/DB_PASSWORD": true, "LISTED": false, "may not set PATH": false, "is not in allow": false,
	} {
		if strings.Contains(out, text) != want {
			t.Errorf("%q: want %v in\n%s", text, want, out)
		}
	}
}

// TestSetupProposesASectionThatRunsTheCrontab starts a server with the proposed section.
func TestSetupProposesASectionThatRunsTheCrontab(t *testing.T) {
	file := filepath.Join(t.TempDir(), "crontab")
	const text = "TARGET=web1\n0 1 * * * /usr/bin/env > /var/log/env.txt\n0 2 * * * curl -s https://example.org/status 'https://x/a?b=/c'\n0 3 * * * /opt/nosuch/bin/x >> /opt/gone/log\n@reboot x\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, code := (&testServer{t: t}).run("exec setup --from-crontab " + file)
	for _, want := range []string{
		"exec:\n", "  allow: ['/bin/sh']\n", "  write: ['/var/log']\n", "  read: ['/usr', '/bin', '/sbin', '/lib*', '/etc']\n", "do not exist on this machine: /opt/gone, /opt/nosuch/bin. ",
		"  env: ['TARGET']\n", "need a network: curl, https://\n  network: true\n", "(without 1 line that cannot",
	} {
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%d: no %q in\n%s", code, want, out)
		}
	}
	config := filepath.Join(t.TempDir(), "rota.yaml")
	if err := os.WriteFile(config, []byte(out), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := node.Load(config, func(string) string { return "" }); err != nil {
		t.Error(err)
	}
}

// TestSetupProposesNarrowPaths: a proposal does not open the files of others.
func TestSetupProposesNarrowPaths(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	for file, text := range map[string]string{
		first:  "0 1 * * * root cd /home/x && ./run\n0 2 * * * root /root/b.sh > /root/b.log\n0 3 * * * daemon /srv/app/run --lock /run/app.pid\n",
		second: "0 4 * * * root cd /srv/app/sub; make -C /srv/data/in/ >> /var/log/app/make.log\n0 5 * * * nobody cat /home/x/list /srv/app/sub/y\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := &execProposal{}
	for _, file := range []string{first, second} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read := crontab.Parse(text, crontab.Config{Name: file, Form: crontab.FormSystem})
		p.add(&read, file)
	}
	p.merge()
	var proposal strings.Builder
	p.print(&proposal)
	out := proposal.String()
	for _, want := range []string{
		"the 5 commands of " + first + ", " + second, "  write: ['/root/b.log', '/var/log/app']\n",
		"'/etc', '/home/x', '/root/b.sh', '/run/app.pid', '/srv/app', '/srv/data/in']\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	p = &execProposal{users: []string{"root", "runner", "root"}}
	p.onlyAccount("runner")
	p.merge()
	var text strings.Builder
	if p.print(&text); !strings.Contains(text.String(), "user: ['runner']") || !strings.Contains(text.String(), "# Not proposed: root. Only a server that runs as root") {
		t.Error(text.String())
	}
	if _, errs, code := (&testServer{t: t}).run("exec check"); code != exitUsage || !strings.Contains(errs, `unknown command "check"`) {
		t.Errorf("%d %s", code, errs)
	}
}

// TestCreateJobAsExec runs a job that an SQL statement created, and creates it again from its export.
func TestCreateJobAsExec(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/echo, /usr/bin/echo]")
	file := filepath.Join(t.TempDir(), "create.sql")
	text := "CREATE JOB hello SCHEDULE CRON '30 2 * * *' AS EXEC '/bin/echo --all ''a  b'' it\\''s \"x y\"';"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := s.must("sql -f " + file); strings.Contains(out, "NOTICE") {
		t.Error(out)
	}
	seen := map[string]bool{} // jobs of earlier calls
	echoes := func() {
		t.Helper()
		s.must("sql -c 'EXECUTE JOB hello'")
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
			if id := completedJob(t, s, seen); id != "" {
				seen[id] = true
				if log := s.must("job logs " + id); !strings.Contains(log, "--all a  b it's x y\n") {
					t.Errorf("the log is %q", log)
				}
				return
			}
			if time.Now().After(deadline) {
				t.Fatal(s.must("job list -o yaml"))
			}
		}
	}
	echoes()
	export := s.must("export -o sql")
	if err := os.WriteFile(file, []byte(export), 0o600); err != nil {
		t.Fatal(err)
	}
	before := s.must("template show hello -o json")
	s.must("sql -c 'DROP JOB hello'")
	s.must("sql -f " + file)
	fields := regexp.MustCompile(`"args": \[[^]]*\]`)
	if after := s.must("template show hello -o json"); fields.FindString(after) == "" || fields.FindString(after) != fields.FindString(before) {
		t.Errorf("%s\n%s\n%s", before, export, after)
	}
	echoes()
}

// TestProgramDoesNotReachFilesOfServer: a job of a real server looks for its secrets. Without isolation it finds them, or the test could
// not fail.
func TestProgramDoesNotReachFilesOfServer(t *testing.T) {
	for _, isolation := range []sandbox.Isolation{sandbox.Full, sandbox.Landlock, sandbox.None} {
		t.Run(string(isolation), func(t *testing.T) {
			if _, err := sandbox.Probe(isolation); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("skipped:", err)
			}
			shared := t.TempDir() // around the data directory and the configuration
			s := &testServer{t: t, data: filepath.Join(shared, "data")}
			file := filepath.Join(shared, "rota.yaml")
			section := "exec:\n  allow: [/bin/sh]\n  isolation: " + string(isolation) + "\n  read: [/usr, /bin, \"/lib*\", /etc, " + shared + "]\n  write: [" + shared + "]\n"
			if err := os.WriteFile(file, []byte(section), 0o600); err != nil {
				t.Fatal(err)
			}
			s.start("--config", file)
			if err := os.WriteFile(filepath.Join(s.data, "master.key"), []byte("KEY"), 0o600); err != nil {
				t.Fatal(err)
			}
			for name, attack := range map[string]string{
				"token":       "cat " + s.data + "/admin.token",
				"key":         "cat " + s.data + "/master.key",
				"store":       "head -c 100 " + s.data + "/rota.db",
				"list":        "ls " + s.data + " | grep admin.token",
				"config":      "cat " + file,
				"write":       "echo x >> " + s.data + "/admin.token.new",
				"mode":        "chmod 700 " + s.data,
				"environment": "for f in /proc/[0-9]*/environ; do grep -l ROTA_TEST_PROGRAM $f && exit 0; done; exit 1",
				"link":        "ln -s " + s.data + " $TMPDIR/d && cat $TMPDIR/d/admin.token",
				"hard link":   "ln " + s.data + "/admin.token " + shared + "/t && cat " + shared + "/t",
			} {
				params, _ := json.Marshal(map[string]any{"command": "/bin/sh", "args": []string{"-c", attack}})
				script := filepath.Join(t.TempDir(), "params.json")
				if err := os.WriteFile(script, params, 0o600); err != nil {
					t.Fatal(err)
				}
				out, errs, _ := s.run("job create exec --params @" + script + " --retries 0 --wait")
				if worked := strings.Contains(out, " completed"); worked != (isolation == sandbox.None) {
					t.Errorf("%s: %s%s", name, out, errs)
				}
			}
		})
	}
}

// completedJob returns the id of a completed job of the type exec that is not in seen.
func completedJob(t *testing.T, s *testServer, seen map[string]bool) string {
	t.Helper()
	var list struct{ Items []struct{ ID string } }
	text := s.must("job list --type exec --state completed -o json")
	if json.Unmarshal([]byte(text), &list) != nil && json.Unmarshal([]byte(text), &list.Items) != nil {
		t.Fatalf("no list of jobs: %s", text)
	}
	for _, job := range list.Items {
		if !seen[job.ID] {
			return job.ID
		}
	}
	return ""
}

// TestServerWithoutSectionSaysWhatToConfigure: its jobs of the type exec wait, and each interface says for what.
func TestServerWithoutSectionSaysWhatToConfigure(t *testing.T) {
	for name, want := range map[string]struct{ config, create, notice, explain, handled, imported string }{
		"no section": {
			"workers: 2\n", "this server does not run programs; another server or worker of this store may", "another server or worker of this store may", "its configuration has no section exec", "nothing here (off)",
			"until its configuration has the section exec",
		},
		"remote": {
			"exec: {remote: true}\n", "leaves programs to remote workers", "jobs wait until rota worker --types exec, or another server of this store, takes them", "leaves programs to remote workers", "nothing (left to remote workers)",
			"leaves jobs of type exec to remote workers, and none has asked it for jobs. Start rota worker --types exec",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rota.yaml")
			if err := os.WriteFile(file, []byte(want.config), 0o600); err != nil {
				t.Fatal(err)
			}
			s := startServer(t, "--config", file)
			out, errs, code := s.run(`job create exec --params '{"command": "/bin/true"}'`)
			id := idShape.FindString(out)
			if code != exitDone || !strings.Contains(errs, want.create) {
				t.Errorf("%d %s%s", code, out, errs)
			}
			if got := s.must("explain " + id); !strings.Contains(got, want.explain) || !strings.Contains(got, "rota worker --types exec") {
				t.Error(got)
			}
			if got := s.must("type show exec"); !strings.Contains(got, want.handled) {
				t.Error(got)
			}
			statement := filepath.Join(t.TempDir(), "create.sql")
			if err := os.WriteFile(statement, []byte("CREATE JOB a SCHEDULE CRON '30 2 * * *' AS EXEC '/bin/true';"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, _ = s.run("sql -f " + statement)
			if !strings.Contains(out+errs, want.notice) {
				t.Error(out, errs)
			}
			crontab := filepath.Join(t.TempDir(), "crontab")
			if err := os.WriteFile(crontab, []byte("30 2 * * * true\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := s.must("import crontab " + crontab + " --user --tz UTC --apply"); !strings.Contains(strings.Join(strings.Fields(got), " "), want.imported) || !strings.Contains(got, "PAUSED") {
				t.Error(got)
			}
			if got := s.must("job show " + id); !strings.Contains(got, "queued") {
				t.Error(got)
			}
		})
	}
}

// TestWorkerRefusesProfilesOfRoles: a worker does not know the roles of the user of a job.
func TestWorkerRefusesProfilesOfRoles(t *testing.T) {
	for text, want := range map[string]string{
		"exec:\n  allow: [/bin/sh]\n  profiles: {roles: {interns: {network: false}}}\n": "exec.profiles.roles (interns) has no effect on a worker",
		"exec: {remote: true}\n": "exec.remote leaves programs to workers",
	} {
		config := filepath.Join(t.TempDir(), "worker.yaml")
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := (&testServer{t: t}).run("worker --url http://127.0.0.1:1 --config " + config); code != exitUsage || !strings.Contains(errs, want) {
			t.Errorf("%d %s", code, errs)
		}
	}
}

// TestWorkerWithoutTokenSaysHowToCreateOne: the token of the administrator is not for workers.
func TestWorkerWithoutTokenSaysHowToCreateOne(t *testing.T) {
	config := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(config, []byte("exec:\n  allow: [/bin/sh]\n  isolation: none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := &testServer{t: t, data: t.TempDir()}
	_, errs, code := s.run("worker --url http://127.0.0.1:1 --config " + config)
	if code != exitUsage || !strings.Contains(errs, "rota user create runner --no-password && rota token create --user runner --scope worker --type exec") || strings.Contains(errs, "admin") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestRemoteWorkerRunsPrograms: the server leaves exec jobs to a worker in another process, and checks the rights of their users.
func TestRemoteWorkerRunsPrograms(t *testing.T) {
	s := startExecServer(t, "remote: true")
	if got := s.must("type show exec"); !regexp.MustCompile(`handled by +nothing`).MatchString(got) {
		t.Error(got)
	}
	s.must("user create runner --no-password")
	s.must("user create ada --no-password")
	token := strings.TrimSpace(s.must("token create --user runner --scope worker --type exec --expires 1d"))
	config, keys := filepath.Join(t.TempDir(), "worker.yaml"), t.TempDir()
	cert, key := writeCertificate(t, keys)
	if err := os.WriteFile(config, []byte("exec:\n  allow: [/bin/sh, /bin/true]\n  read: [/usr, /bin, '/lib*', /etc, "+keys+"]\n  profiles: {jobs: {strict: {allow: [/bin/true]}}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	worker := exec.Command(os.Args[0], "worker", "--types", "exec", "--config", config, "--url", strings.TrimSpace(serverURL(t, s)))
	worker.Env = []string{"ROTA_TEST_PROGRAM=1", "ROTA_TOKEN=" + token, "ROTA_CLIENT_CERT=" + cert, "ROTA_CLIENT_KEY=" + key, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	worker.Dir, worker.Stderr = t.TempDir(), &errs
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = worker.Process.Signal(syscall.SIGTERM)
		if err := worker.Wait(); err != nil {
			t.Errorf("the worker ended with %v:\n%s", err, &errs)
		}
		if files, err := os.ReadDir(worker.Dir); err != nil || len(files) > 0 {
			t.Errorf("the worker left files: %v %v", files, err)
		}
	})
	ended := func(state string) string {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			if id := idShape.FindString(s.must("job list --type exec --state " + state + " -o json")); id != "" {
				return id
			}
			if time.Now().After(deadline) {
				t.Fatalf("no job is %s:\n%s\n%s", state, &errs, s.must("job list -o yaml"))
			}
		}
	}
	s.must(`job create exec --params '{"command": "/bin/sh", "args": ["-c", "cd ` + keys + ` && cat tls.crt | head -1; cat tls.key | grep PRIVATE; echo from the worker"]}' --retries 0`)
	if log := s.must("job logs " + ended("completed")); !strings.Contains(log, "BEGIN CERTIFICATE") || strings.Contains(log, "PRIVATE") || !strings.HasSuffix(log, "from the worker\n") {
		t.Errorf("the log is %q", log)
	}
	// The right is revoked while the job waits.
	s.must("grant EXECUTE_EXTERNAL_JOB,CREATE_JOB --to ada")
	s.must("type pause exec")
	ada := strings.TrimSpace(s.must("token create --user ada --scope write --expires 1d"))
	create := `job create exec --params '{"command": "/bin/sh"}' --retries 0`
	if out, errs, code := s.runWith(create, terminal{}, map[string]string{"ROTA_TOKEN": ada}); code != exitDone {
		t.Fatal(out, errs)
	}
	s.must("revoke EXECUTE_EXTERNAL_JOB --from ada")
	if out, errs, code := s.runWith(create, terminal{}, map[string]string{"ROTA_TOKEN": ada}); code != exitDenied {
		t.Errorf("a job of a user without the right is created: %d %s%s", code, out, errs)
	}
	s.must("type resume exec")
	if got := s.must("job show " + ended("failed")); !strings.Contains(got, "EXECUTE EXTERNAL JOB") {
		t.Error(got)
	}
	// A stricter profile of the job applies on the worker, too.
	s.must(`template create strict --type exec --params '{"command": "/bin/sh", "args": ["-c", "echo no"]}' --retries 0`)
	s.must("job create --template strict")
	if got := s.must("job show " + ended("failed --template strict")); !strings.Contains(got, "not in allow") {
		t.Error(got)
	}
}

func serverURL(t *testing.T, s *testServer) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.data, "rota.addr"))
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + regexp.MustCompile(`127\.0\.0\.1:\d+`).FindString(string(text))
}

// TestHintNamesNoLogOfAProgramThatWasNotStarted: the log of such a run is empty.
func TestHintNamesNoLogOfAProgramThatWasNotStarted(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/sh]")
	for params, want := range map[string]bool{`{"command": "/bin/true"}`: false, `{"command": "/bin/gone"}`: false, `{"command": "/bin/sh", "args": ["-c", "exit 1"]}`: true} {
		out, errs, code := s.run("job create exec --retries 0 --wait --params '" + params + "'")
		if code != exitFailed || strings.Contains(errs, "shows its log") != want {
			t.Errorf("%d %s%s", code, out, errs)
		}
	}
}
