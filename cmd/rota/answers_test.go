package main

import (
	"strings"
	"testing"
)

func TestCommandsOfARemedyCanBeCopied(t *testing.T) {
	for text, want := range map[string]string{
		"It becomes ready at noon; to run it now: rota job run-now 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60.": "rota job run-now 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60",
		"To move it: rota job move a1 --top, or rota job priority a1 N.":                                  "rota job move a1 --top",
		"To run it anyway: rota job cancel a1, then rota job retry a1; it is SKIPPED at noon.":            "rota job cancel a1|rota job retry a1",
		"Resume the type: rota type resume report.build.":                                                 "rota type resume report.build",
		"Wait until it ends":                      "",
		"If it does not, start one: rota serve.":  "rota serve",
		"The word carota is not a command":        "",
		"Check the store with rota verify, first": "rota verify",
	} {
		if got := strings.Join(commandsIn(text), "|"); got != want {
			t.Errorf("%s\n got %q, want %q", text, got, want)
		}
	}
}

// TestReadyTextNamesMovedSQLPort: the server says that it listens on another port than the default, and how to choose one.
func TestReadyTextNamesMovedSQLPort(t *testing.T) {
	if text := movedPort("127.0.0.1:7432", "127.0.0.1:40123"); !strings.Contains(text, "another program listens on port 7432") || !strings.Contains(text, "--sql HOST:PORT") {
		t.Errorf("%q", text)
	}
	for _, wanted := range []string{"127.0.0.1:40123", "127.0.0.1:0", "localhost:40123"} {
		if text := movedPort(wanted, "127.0.0.1:40123"); text != "" {
			t.Errorf("%s: %q", wanted, text)
		}
	}
}

// TestWaitLastsAsLongAsAllAttempts: the duration begins with the first attempt, so it includes the pause before the retry.
func TestWaitLastsAsLongAsAllAttempts(t *testing.T) {
	s := startServer(t)
	out, _, code := s.run("job create fail -p message=x --retries 1 --backoff 1s --wait")
	_, text, found := strings.Cut(out, "failed in ")
	took, _, _ := strings.Cut(text, ",")
	if code != exitFailed || !found || !strings.HasSuffix(strings.TrimSpace(out), ", attempt 2 of 2") || strings.HasSuffix(took, "ms") {
		t.Errorf("exit %d: %s", code, out)
	}
}
