package rota_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

func TestErrorText(t *testing.T) {
	for want, e := range map[string]*rota.Error{
		"not_found":                       {Code: rota.NotFound},
		"it is gone":                      {Code: rota.NotFound, Reason: "it is gone"},
		"cancel: it is gone":              {Code: rota.NotFound, Act: "cancel", Reason: "it is gone"},
		"enqueue: jobs[3].type: is empty": {Code: rota.Invalid, Act: "enqueue", Field: "jobs[3].type", Reason: "is empty"},
		"open: locked: EOF; close the other process": {
			Code: rota.Busy, Act: "open", Reason: "locked", Err: io.EOF, Hint: "close the other process",
		},
		"EOF":                {Code: rota.Internal, Err: io.EOF},
		"denied; ask for it": {Code: rota.Denied, Hint: "ask for it"},
	} {
		if got := e.Error(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestCodeOf(t *testing.T) {
	busy := &rota.Error{Code: rota.Busy}
	for _, test := range []struct {
		err  error
		want rota.Code
	}{
		{nil, ""},
		{busy, rota.Busy},
		{fmt.Errorf("around: %w", busy), rota.Busy},
		{&rota.Error{Code: rota.Unavailable, Err: busy}, rota.Unavailable},
		{errors.Join(io.EOF, busy), rota.Busy},
		{io.EOF, rota.Internal},
	} {
		if got := rota.CodeOf(test.err); got != test.want {
			t.Errorf("CodeOf(%v) = %q, want %q", test.err, got, test.want)
		}
	}
}

func TestErrorfWrapsCauses(t *testing.T) {
	one := rota.Errorf(rota.Unavailable, "apply", "read page %d: %w", 7, io.EOF)
	if !errors.Is(one, io.EOF) || one.Error() != "apply: read page 7: EOF" {
		t.Errorf("one cause: %v", one)
	}
	two := rota.Errorf(rota.Unavailable, "apply", "%w after %w", io.EOF, context.Canceled)
	if !errors.Is(two, io.EOF) || !errors.Is(two, context.Canceled) || two.Error() != "apply: EOF after context canceled" {
		t.Errorf("two causes: %v", two)
	}
	none := rota.Errorf(rota.Conflict, "edit", "the job is %s", rota.StatusRunning)
	if none.Err != nil || none.Reason != "the job is RUNNING" || none.Error() != "edit: the job is RUNNING" {
		t.Errorf("no cause: %v", none)
	}
}

// Codes must list every code, because other packages check their tables against it.
func TestCodesListsEveryCode(t *testing.T) {
	seen := map[rota.Code]bool{}
	for _, code := range rota.Codes {
		if code == "" || seen[code] {
			t.Errorf("%q is listed twice or empty", code)
		}
		seen[code] = true
	}
	if declared := declaredConstants(t, "error.go", "Code"); len(declared) != len(rota.Codes) {
		t.Errorf("declared are %v, listed are %v", declared, rota.Codes)
	}
}

func TestQuoteTruncatesLongValues(t *testing.T) {
	if got := rota.Quote("a\nb"); got != `"a\nb"` {
		t.Errorf("got %s", got)
	}
	if got := rota.Quote(strings.Repeat("x", 1000)); len(got) > 80 || !strings.HasSuffix(got, "…") {
		t.Errorf("got %s", got)
	}
}

// declaredConstants reads the string constants of a type from the source.
func declaredConstants(t *testing.T, path, typ string) (values []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			values = append(values, value)
		}
		return true
	})
	if len(values) == 0 {
		t.Fatalf("%s declares no constants of type %s", path, typ)
	}
	return values
}
