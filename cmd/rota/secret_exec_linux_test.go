package main

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const programSecret = "s3cret/of+backup &co"

// secretScript prints what it finds in DB_PASSWORD, and how long it is.
const secretScript = `echo "plain [$DB_PASSWORD]"; printf %s "$DB_PASSWORD" | base64; echo "length ${#DB_PASSWORD}"; echo "$DB_PASSWORD" >&2; echo "{\"got\": \"$DB_PASSWORD\"}"`

// createSecretTemplates creates the templates backup, which gets a secret, and other, which runs the same program without one.
func (s *testServer) createSecretTemplates() {
	s.t.Helper()
	file := filepath.Join(s.t.TempDir(), "params.json")
	if err := os.WriteFile(file, []byte(`{"command": "/bin/sh", "args": ["-c", `+strconv.Quote(secretScript)+`]}`), 0o600); err != nil {
		s.t.Fatal(err)
	}
	for _, name := range []string{"backup", "other"} {
		s.must("template create " + name + " --type exec --retries 0 --params @" + file)
	}
	s.setSecret("backup/DB_PASSWORD", programSecret)
}

// runTemplate runs a job of a template and returns its log and all that the command line shows of it.
func (s *testServer) runTemplate(template string) (log, shown string) {
	s.t.Helper()
	id := strings.TrimSpace(s.must("job create --template " + template + " -o json"))
	id = idShape.FindString(id)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		shown = s.must("job show " + id + " -o json")
		if strings.Contains(shown, `"state": "completed"`) {
			log = s.must("job logs " + id)
			return log, shown + log + s.must("job show "+id) + s.must("job list -o yaml")
		}
		if strings.Contains(shown, `"state": "dead"`) || time.Now().After(deadline) {
			s.t.Fatalf("%s\n%s\n%s", shown, s.must("job logs "+id), s.errs)
		}
	}
}

// wantSecretOnlyInBackup checks that only the jobs of backup get the secret, and that its value is not shown.
func (s *testServer) wantSecretOnlyInBackup() {
	s.t.Helper()
	log, shown := s.runTemplate("backup")
	if want := "length " + strconv.Itoa(len(programSecret)); !strings.Contains(log, "plain [***]") || !strings.Contains(log, want) {
		s.t.Errorf("the log is %q, want %q", log, want)
	}
	if !strings.Contains(shown, `"got": "***"`) {
		s.t.Errorf("the result does not show a masked value:\n%s", shown)
	}
	other, shownOther := s.runTemplate("other")
	if !strings.Contains(other, "plain []") || !strings.Contains(other, "length 0") {
		s.t.Errorf("the log of another template is %q", other)
	}
	for _, form := range []string{programSecret, url.QueryEscape(programSecret), base64.StdEncoding.EncodeToString([]byte(programSecret))} {
		if strings.Contains(shown+shownOther+s.errs.String(), form) {
			s.t.Errorf("%q is shown in\n%s\n%s", form, shown, s.errs)
		}
	}
}

// TestProgramGetsTheSecretsOfItsTemplate: a program finds the secrets of the template of its job in its environment.
func TestProgramGetsTheSecretsOfItsTemplate(t *testing.T) {
	s := startExecServer(t, "allow: [/bin/sh]")
	s.createSecretTemplates()
	s.wantSecretOnlyInBackup()
}
