package rota

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*Error{
		"not_found":                       {Code: NotFound},
		"it is gone":                      {Code: NotFound, Reason: "it is gone"},
		"cancel: it is gone":              {Code: NotFound, Act: "cancel", Reason: "it is gone"},
		"enqueue: jobs[3].type: is empty": {Code: Invalid, Act: "enqueue", Field: "jobs[3].type", Reason: "is empty"},
		"open: locked: EOF; close the other process": {
			Code: Busy, Act: "open", Reason: "locked", Err: io.EOF, Hint: "close the other process",
		},
		"EOF":                {Code: Internal, Err: io.EOF},
		"denied; ask for it": {Code: Denied, Hint: "ask for it"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCodeOf(t *testing.T) {
	busy := &Error{Code: Busy}
	for _, test := range []struct {
		err  error
		want Code
	}{
		{nil, ""},
		{busy, Busy},
		{fmt.Errorf("around: %w", busy), Busy},
		{&Error{Code: Unavailable, Err: busy}, Unavailable},
		{errors.Join(io.EOF, busy), Busy},
		{io.EOF, Internal},
	} {
		if got := CodeOf(test.err); got != test.want {
			t.Errorf("CodeOf(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestErrorfWrapsCauses(t *testing.T) {
	one := Errorf(Unavailable, "apply", "read page %d: %w", 7, io.EOF)
	if !errors.Is(one, io.EOF) || one.Error() != "apply: read page 7: EOF" {
		t.Errorf("one cause: %v", one)
	}
	two := Errorf(Unavailable, "apply", "%w after %w", io.EOF, context.Canceled)
	if !errors.Is(two, io.EOF) || !errors.Is(two, context.Canceled) || two.Error() != "apply: EOF after context canceled" {
		t.Errorf("two causes: %v", two)
	}
	none := Errorf(Conflict, "edit", "the job is %s", StatusRunning)
	if none.Err != nil || none.Reason != "the job is RUNNING" || none.Error() != "edit: the job is RUNNING" {
		t.Errorf("no cause: %v", none)
	}
}

// Codes must list every code, because other packages check their tables against it.
func TestCodesListsEveryCode(t *testing.T) {
	seen := map[Code]bool{}
	for _, code := range Codes {
		if code == "" || seen[code] {
			t.Errorf("%q is listed twice or empty", code)
		}
		seen[code] = true
	}
	if declared := declaredConstants(t, "error.go", "Code"); len(declared) != len(Codes) {
		t.Errorf("declared are %v, listed are %v", declared, Codes)
	}
}

func TestQuoteTruncatesLongValues(t *testing.T) {
	if got := quote("a\nb"); got != `"a\nb"` {
		t.Errorf("got %s", got)
	}
	if got := quote(strings.Repeat("x", 1000)); len(got) > 80 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %s", got)
	}
}
