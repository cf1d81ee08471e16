package report

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const sampleStack = `goroutine 34 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/rotajobs/rota/engine.(*task).run.func1()
	github.com/rotajobs/rota/engine/task.go:58 +0x3a
panic({0x6a1b20?, 0xc0000b2000?})
	/usr/local/go/src/runtime/panic.go:783 +0x132
shop/mail.(*Sender).Send(0xc00001, {0x7, 0x8})
	/app/mail/sender.go:41 +0x1f
example.org/lib/v2.Each[...](...)
	/root/go/pkg/mod/example.org/lib/v2@v2.1.0/each.go:9
gopkg.in/yaml%2ev3.Load.func1.2()
	/app/vendor/gopkg.in/yaml.v3/load.go:3 +0x1
main.main.func1()
	/app/main.go:12 +0x25
created by main.main in goroutine 1
	/app/main.go:10 +0x18
`

func TestParseStackReadsFrames(t *testing.T) {
	text, stack := splitPanic("panic: boom\n\n" + sampleStack)
	if text != "panic: boom" || stack == nil {
		t.Fatalf("%q, %v", text, stack)
	}
	var got []string
	for _, f := range stack.Frames {
		got = append(got, fmt.Sprintf("%s|%s|%s|%s|%d|%t", f.Module, f.Function, f.Filename, f.AbsPath, f.Lineno, f.InApp))
	}
	want := []string{
		"main|main|main.go|/app/main.go|10|true",
		"main|main.func1|main.go|/app/main.go|12|true",
		"gopkg.in/yaml.v3|Load.func1.2|gopkg.in/yaml.v3/load.go|/app/vendor/gopkg.in/yaml.v3/load.go|3|false",
		"example.org/lib/v2|Each[...]|example.org/lib/v2/each.go|/root/go/pkg/mod/example.org/lib/v2@v2.1.0/each.go|9|false",
		"shop/mail|(*Sender).Send|shop/mail/sender.go|/app/mail/sender.go|41|true",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("frames\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTextWithoutStackStaysText(t *testing.T) {
	for _, text := range []string{
		"", "boom", "panic: boom", "panic: boom\n\n", "panic: boom\n\ngoroutine 1 [running]:\n", "panic: a\n\nb\n\nc",
		"boom\n\n" + sampleStack, "panic: boom\n\ngoroutine x [running]:\nmain.main()\n\t/a.go:1\n",
	} {
		if got, stack := splitPanic(text); got != text || stack != nil {
			t.Errorf("%q became %q with %v", text, got, stack)
		}
	}
}

// Long errors are truncated at any position.
func TestTruncatedStackIsParsed(t *testing.T) {
	whole := "panic: " + "boom\n\n" + sampleStack
	for end := range whole {
		text, stack := splitPanic(whole[:end])
		if stack == nil {
			continue
		}
		if text != "panic: boom" {
			t.Fatalf("truncated at %d the text is %q", end, text)
		}
		for _, f := range stack.Frames {
			if f.Function == "" || f.AbsPath == "" {
				t.Fatalf("truncated at %d there is %+v", end, f)
			}
		}
	}
}

// The panic was recovered, and its value was used in a second panic.
func TestPanicValueWithStackInside(t *testing.T) {
	text, stack := splitPanic(panicked(errors.New("inner\n\n" + sampleStack)))
	if !strings.HasPrefix(text, "panic: inner\n\ngoroutine 34") || stack == nil {
		t.Fatalf("%q", text)
	}
	if last := stack.Frames[len(stack.Frames)-1]; !strings.HasSuffix(last.Function, "order.func1") {
		t.Errorf("the innermost call is %s", last.Function)
	}
}

func TestSimilarFailuresShareFingerprint(t *testing.T) {
	for _, alike := range [][]string{
		{"user 7 not found", "user 1234 not found"},
		{"job 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60 is gone", "job 01926A5E-7C3B-7F3A-8D2E-1B2C3D4E5F61 is gone"},
		{"dial 10.0.0.1:5432: refused", "dial 10.2.3.44:80: refused", "dial [::1]:80: refused"},
		{"at 2026-11-15T12:00:00Z it broke", "at 2025-01-02 03:04:05.678+01:00 it broke"},
		{"blob 0123456789abcdef is bad", "blob fedcba98765432100000 is bad"},
		{"pointer 0xc000123 is nil", "pointer 0x1 is nil"},
		{"took 1.5s", "took 17s"},
	} {
		for _, text := range alike[1:] {
			if normalise(text) != normalise(alike[0]) {
				t.Errorf("%q is %q, and %q is %q", alike[0], normalise(alike[0]), text, normalise(text))
			}
		}
	}
	if normalise("refused") == normalise("not found") || len(normalise(strings.Repeat("x", 1000))) > fingerprintMax {
		t.Error("the fingerprint is too general or too long")
	}
}
