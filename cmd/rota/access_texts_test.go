package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestTokenThatCannotBeSentIsNamed: a token with a line break is refused before a request, and not taken for a server that does not
// answer.
func TestTokenThatCannotBeSentIsNamed(t *testing.T) {
	t.Parallel()
	s := &testServer{t: t, data: t.TempDir()}
	for _, one := range []struct{ line, variable, source string }{
		{"me --url http://127.0.0.1:1", "rota_a\nrota_b", "ROTA_TOKEN"},
		{"me --url http://127.0.0.1:1", "rota_a\x1bb", "ROTA_TOKEN"},
		{"me --url http://127.0.0.1:1 --token 'rota_a\nb'", "", "--token"},
	} {
		_, errs, code := s.runWith(one.line, terminal{}, map[string]string{"ROTA_TOKEN": one.variable})
		if code != exitUsage || !strings.Contains(errs, "the token of "+one.source+" contains a line break or a control character") {
			t.Errorf("%q exits with %d: %s", one, code, errs)
		}
	}
}

// TestEndedTokenHintsToCreateAnother: the token of the server's admin is not what a program needs whose token has ended.
func TestEndedTokenHintsToCreateAnother(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.must("user create ci --no-password")
	token := strings.TrimSpace(s.must("token create --user ci --scope write"))
	s.must("token revoke " + token[:strings.LastIndex(token, "_")]) // by its name in the audit
	for range 15 {
		_, errs, code := s.runWith("me", terminal{}, map[string]string{"ROTA_TOKEN": token})
		if code != exitDenied || !strings.Contains(errs, "was revoked") || !strings.Contains(errs, "hint: create one with rota token create") || strings.Contains(errs, "admin.token") {
			t.Fatalf("it exits with %d: %s", code, errs)
		}
	}
}

// TestPrivilegeMessages: what is typed wrong at grant and revoke is named with the command that does it.
func TestPrivilegeMessages(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.must("user create bob --no-password")
	s.must("role create operators")
	s.must("role create admins")
	s.must("schedule create nightly --cron '0 2 1 1 *' --type noop")
	for _, one := range []struct {
		line  string
		code  int
		texts string // separated by |
	}{
		{"grant EXECTE_JOB --to bob", exitUsage, "rota: there is no privilege EXECTE_JOB|did you mean EXECUTE_JOB?"},
		{"grant operators --to bob", exitUsage, "there is no privilege operators|operators is a role: rota role grant operators --to bob"},
		{"grant admins --to bob", exitUsage, "admins is a role: rota role grant admins --to bob"},
		{"revoke operators --from bob", exitUsage, "operators is a role: rota role revoke operators --from bob"},
		{"grant ADMIN --job nightly --to bob", exitUsage, "rota: ADMIN cannot be granted on one job"},
		{"grant EXECUTE_JOB alter job VIEW_JOB_HISTORY --job nightly --to bob", exitDone, "granted EXECUTE JOB, ALTER JOB, VIEW JOB HISTORY on nightly to bob"},
		{"grant EXECUTE_JOB FLY --to bob", exitUsage, "there is no privilege FLY"},
		{"revoke ALTER_JOB --from bob", exitDone, "bob has no ALTER JOB of its own|bob has ALTER JOB on nightly: rota revoke ALTER_JOB --job nightly --from bob"},
		{"grant DROP_JOB --to operators", exitDone, "granted"},
		{"role grant operators --to bob", exitDone, "granted"},
		{"revoke DROP_JOB --from bob", exitDone, "bob has DROP JOB on all jobs through the role operators: rota role revoke operators --from bob"},
		{"role create staff", exitDone, "created"},
		{"grant CREATE_JOB --to staff", exitDone, "granted"},
		{"role grant staff --to operators", exitDone, "granted"},
		{"revoke CREATE_JOB --from bob", exitDone, "through the role"},
		{"token list --user nosuch", exitNotFound, "there is no user nosuch"},
		{"token list --user bob", exitDone, "no tokens"},
		{"token list --user admin", exitDone, "no tokens"},
		{"token create --user bob --scope read --job nojob", exitNotFound, "there is no job nojob"},
		{"sql 'ALTER JOB nightly OWNER TO operators'", exitUsage, "a role cannot own a job"},
		{"sql 'ALTER JOB nightly OWNER TO nobody'", exitNotFound, "there is no user nobody"},
		{`sql 'CREATE USER eve PASSWORD $$short$$'`, exitUsage, "use at least 12 characters"},
	} {
		out, errs, code := s.run(one.line)
		for text := range strings.SplitSeq(one.texts, "|") {
			if !strings.Contains(out+errs, text) {
				t.Errorf("rota %s does not print %q: %s%s", one.line, text, out, errs)
			}
		}
		if code != one.code || strings.Contains(errs, "privileges[") {
			t.Errorf("rota %s exits with %d: %s%s", one.line, code, out, errs)
		}
	}
}

// TestDeniedActHintsWithCommand: rota hints with commands, rota sql with statements.
func TestDeniedActHintsWithCommand(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.must("user create ci --no-password")
	s.must("schedule create nightly --cron '0 2 1 1 *' --type noop")
	s.must("grant EXECUTE_JOB --job nightly --to ci")
	token := strings.TrimSpace(s.must("token create --user ci --scope write"))
	for line, want := range map[string]string{
		"schedule pause nightly":   "can grant it: rota grant ALTER_JOB --job nightly --to ci\n",
		"job create --type noop":   "can grant it: rota grant CREATE_JOB --to ci\n",
		"sql 'DROP JOB nightly'":   "can grant it: GRANT DROP JOB ON JOB nightly TO ci\n",
		"job logs nightly":         "nightly has no executions that you may see\nhint: ask an administrator for VIEW JOB HISTORY",
		"job list":                 "no jobs that you may see; jobs of templates and schedules of others need VIEW JOB HISTORY",
		"schedule trigger nightly": "",
	} {
		out, errs, _ := s.runWith(line, terminal{}, map[string]string{"ROTA_TOKEN": token})
		if !strings.Contains(out+errs, want) {
			t.Errorf("rota %s prints %s%s", line, out, errs)
		}
	}
	if out := s.must("job list --state skipped"); out != "no jobs\n" {
		t.Errorf("an administrator reads %q", out)
	}
}

// TestAuditVerifyHints: a file that was cut off, a private key and a restore are named.
func TestAuditVerifyHints(t *testing.T) {
	s := auditServer(t)
	export := s.file("export.jsonl")
	text := readText(t, export)
	lines := strings.SplitAfter(text, "\n")
	writeText(t, s.file("short.jsonl"), strings.Join(lines[:len(lines)-2], ""))
	private := strings.TrimSpace(readText(t, s.file("audit.key")))
	for _, one := range []struct {
		args, text string
		code       int
	}{
		{"--file " + s.file("short.jsonl"), "the file has no last line, so it is incomplete: export again", exitNotClean},
		{"--file " + export + " --key " + private, "--key is the private key of the file audit.key", exitUsage},
		{"--head " + s.file("audit.head") + " --key " + private, "--key is the private key of the file audit.key", exitUsage},
		{"--key " + private, "--key is the private key of the file audit.key", exitUsage},
	} {
		if _, errs, code := s.verified(one.args); code != one.code || !strings.Contains(errs, one.text) || strings.Contains(errs, private) {
			t.Errorf("audit verify %s exits with %d: %s", one.args, code, errs)
		}
	}
	writeText(t, s.file("changed.jsonl"), strings.Replace(text, `"subject":"template letter"`, `"subject":"template other"`, 1))
	if _, errs, code := s.verified("--file " + s.file("changed.jsonl")); code != exitNotClean || strings.Contains(errs, "incomplete") {
		t.Errorf("a changed export: exit %d, %s", code, errs)
	}
}

// TestRestoreNamesWhatItBringsBack: tokens that were revoked since the backup are valid again, and audit.head does not fit.
func TestRestoreNamesWhatItBringsBack(t *testing.T) {
	s := auditServer(t)
	s.must("token create --scope read")
	s.must("token create --scope read")
	backup := filepath.Join(t.TempDir(), "backup.db")
	s.must("backup " + backup)
	out := s.must("restore " + backup + " --data " + filepath.Join(t.TempDir(), "empty"))
	if !strings.Contains(out, "2 tokens are valid, as at the time of the backup") || strings.Contains(out, "away before") {
		t.Errorf("a restore into an empty directory prints %s", out)
	}
	s.must("type put mail")
	s.must("audit export") // signs a head
	s.stop()
	if out = s.must("restore " + backup + " --force"); !strings.Contains(out, "move "+s.file("audit.head")+" away before the server starts") {
		t.Errorf("a restore over newer entries prints %s", out)
	}
	if _, errs, code := s.verified("--store sqlite:" + s.file("rota.db") + " --head " + s.file("audit.head")); code != exitNotClean || !strings.Contains(errs, "after a restore, move audit.head away") {
		t.Errorf("the check with the old head exits with %d: %s", code, errs)
	}
	if err := os.Remove(s.file("audit.head")); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.wantClean("")
}
