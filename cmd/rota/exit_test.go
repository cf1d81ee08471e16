package main

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
)

func TestErrorsMapToExitCodes(t *testing.T) {
	_, expression := cron.Parse("61 * * * *", cron.Config{})
	for _, row := range []struct {
		err  error
		want int
	}{
		{nil, exitDone},
		{errors.New("disk full"), exitFailed},
		{expression, exitUsage},
		{fmt.Errorf("reading the schedule: %w", expression), exitUsage},
		{usage(errors.New("unknown flag"), ""), exitUsage},
		{usagef("quote it", "%d arguments", 8), exitUsage},
		{usage(&exitError{code: exitNotFound, err: errors.New("no such job")}, ""), exitNotFound},
	} {
		if got := exitCode(row.err); got != row.want {
			t.Errorf("%v exits with %d, want %d", row.err, got, row.want)
		}
	}
}

// TestEveryErrorCodeHasExitCode: a code without an exit code would exit with 0.
func TestEveryErrorCodeHasExitCode(t *testing.T) {
	for _, code := range rota.Codes {
		if got := exitCode(fmt.Errorf("apply: %w", &rota.Error{Code: code})); got == exitDone {
			t.Errorf("%s exits with 0", code)
		}
	}
	if len(exitCodes) != len(rota.Codes) {
		t.Errorf("%d codes have an exit code, want %d", len(exitCodes), len(rota.Codes))
	}
}

// TestHelpVersionAndCompletionScripts runs the commands that a user tries first.
func TestHelpVersionAndCompletionScripts(t *testing.T) {
	for _, row := range []struct{ line, want string }{
		{"", "Definitions:\n"},
		{"--help", "Definitions:\n"},
		{"version", "rota "},
		{"version -o json", `"version": `},
		{"completion bash", "bash completion"},
		{"completion zsh", "zsh completion"},
		{"completion fish", "fish completion"},
		{"__complete cron --output ''", "table\njson\nyaml\n"},
		{"__complete cron --tz ''", "Zulu\n:4\n"},
		{"__complete cron ''", "@annually\n:4\n"},
		{"__complete cron @daily ''", ":4\n"},
		{"__complete cron --from ''", ":4\n"},
		{"__complete version ''", ":4\n"},
		{"help cron", "rota cron EXPR"},
		{"help", "Definitions:\n"},
	} {
		out, errs, code := runLine(row.line)
		if code != exitDone || !strings.Contains(out, row.want) {
			t.Errorf("rota %s exits with %d without %q: %s%s", row.line, code, row.want, out, errs)
		}
	}
}

// TestCompletionReadsNamesFromServer: without a server nothing is completed.
func TestCompletionReadsNamesFromServer(t *testing.T) {
	s := startServer(t)
	s.must("template create nightly --type noop")
	for line, want := range map[string]string{
		"__complete type show ''":                   "call\nexec\nfail\nhttp\nnoop\nsleep\nsql\n:4\n",
		"__complete template show ''":               "nightly\n:4\n",
		"__complete template show nightly ''":       ":4\n",
		"__complete job create --template ''":       "nightly\n:4\n",
		"__complete job list --state ''":            "scheduled\nblocked\nqueued\nrunning\ncompleted\nfailed\nskipped\ncancelled\n:4\n",
		"__complete backup ''":                      ":0\n",
		"__complete type show --url localhost:1 ''": ":4\n",
	} {
		if out, errs, code := s.run(line); code != exitDone || out != want {
			t.Errorf("rota %s exits with %d and %q, want %q: %s", line, code, out, want, errs)
		}
	}
}

// TestFlagsAcceptAPIFieldNames: --unique_key and --concurrency-key work like --unique and --key.
func TestFlagsAcceptAPIFieldNames(t *testing.T) {
	s := startServer(t)
	s.must("type pause noop")
	out := s.must("job create --type noop --max-retries 7 --unique_key k --run_at 2099-01-01T00:00:00Z --concurrency-key c -o json")
	for _, want := range []string{`"max_attempts": 8`, `"unique_key": "k"`, `"run_at": "2099-01-01T00:00:00Z"`, `"concurrency_key": "c"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s in %s", want, out)
		}
	}
}

// TestControlCharactersAreEscaped covers ASCII and U+0080 to U+009F, of which U+009B starts an escape sequence.
func TestControlCharactersAreEscaped(t *testing.T) {
	if got := shortened("a\x1b[31m\u009b31mé\x7f\u0085"); got != "a?[31m?31mé??" {
		t.Errorf("%q", got)
	}
	got, err := encode(map[string]string{"a": "\x1b\u009b31m\x7fé\u00a0<"}, "")
	if want := `{"a":"\u001b\u009b31m\u007fé` + "\u00a0" + `<"}` + "\n"; err != nil || string(got) != want {
		t.Errorf("%q, want %q, %v", got, want, err)
	}
}
