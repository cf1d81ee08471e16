package main

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
)

// stack is an error with a stack trace and an escape sequence that would clear the terminal.
const stack = "KeyError('month')\r\nTraceback (most recent call last):\n\n\tFile \"job.py\", line 7\n\x1b[2Jstate  completed\n"

func failedJob(text string) api.Job {
	id := rota.NewID()
	return api.Job{
		ID: api.ID{ID: id}, ExecutionID: api.ID{ID: id}, State: "failed", Attempt: 1, MaxAttempts: 1,
		Run: &api.Run{Error: api.Text(text), ErrorCode: "error"},
	}
}

func tableApp(out *strings.Builder) *app {
	return &app{output: formatTable, environment: environment{out: out, now: time.Now, getenv: func(string) string { return "" }}}
}

func TestMultiLineErrorKeepsItsLines(t *testing.T) {
	var b strings.Builder
	a := tableApp(&b)
	a.printKeyValues(&b, a.jobKeyValues(failedJob(stack)))
	want := `
error       KeyError('month')
            Traceback (most recent call last):

                File "job.py", line 7
            ?[2Jstate  completed
error code  error
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("a job is shown as\n%s", b.String())
	}
	b.Reset()
	a.writeExecution(&b, api.ExecutionDetail{Attempts: []api.Job{failedJob(stack)}})
	want = `error  KeyError('month') …

The error of attempt 1:
  KeyError('month')
  Traceback (most recent call last):

      File "job.py", line 7
  ?[2Jstate  completed
`
	if !strings.HasSuffix(b.String(), want) {
		t.Errorf("an execution is shown as\n%s", b.String())
	}
}

func TestMessagesShowFirstLineOfError(t *testing.T) {
	var b strings.Builder
	a := tableApp(&b)
	job := failedJob(stack)
	err := a.finishWait(job, api.ExecutionDetail{Attempts: []api.Job{job}}, nil)
	if err == nil || !strings.HasSuffix(err.Error(), "did not complete: KeyError('month') …") {
		t.Errorf("the wait ends with %v", err)
	}
	if note := a.jobNote(job); note != "KeyError('month') …" {
		t.Errorf("a list notes %q", note)
	}
	if line := eventLine(api.Event{Error: stack}); !strings.HasSuffix(line, "  KeyError('month') …") {
		t.Errorf("an event is printed as %q", line)
	}
	for text, want := range map[string]string{
		"":                       "",
		"short":                  "short",
		"\n\n first \n second":   "first …",
		"ends\n":                 "ends",
		"\x1b[2J\nmore":          "?[2J …",
		strings.Repeat("ü", 201): strings.Repeat("ü", 199) + "…",
	} {
		if got := firstLineShort(text); got != want {
			t.Errorf("the head of %q is %q, want %q", text, got, want)
		}
	}
}

// TestParamsAreNotHTMLEscaped checks params in requests and in every output format.
func TestParamsAreNotHTMLEscaped(t *testing.T) {
	s := startServer(t)
	id, rest, _ := strings.Cut(s.must("job create noop '-p' 'if=a > b && c' --delay 1d12h"), " ")
	if !strings.HasPrefix(rest, "scheduled, starts in 1d 1") {
		t.Errorf("the state is %s", rest)
	}
	for _, format := range []string{"table", "json", "yaml"} {
		if shown := s.must("job show " + id + " -o " + format); !strings.Contains(shown, "a > b && c") {
			t.Errorf("as %s it is shown as\n%s", format, shown)
		}
	}
	out, errs, code := s.run("job create noop --delay 1000000000h")
	if code != exitUsage || !strings.Contains(errs, "--delay: \"1000000000h\" is too long") {
		t.Errorf("exits with %d: %s%s", code, out, errs)
	}
}
