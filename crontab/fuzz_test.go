package crontab

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzParse parses arbitrary text. Every line other than empty lines, comments and settings is either an entry or
// refused, exactly once. All messages are printable, and the time is bounded.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"", "\n", "* * * * * x\n", "A=1\n* * * * * root x%y\\%z", "@daily\n@reboot x\r\n", "\xef\xbb\xbf-1 2 3 4 5 -n x", "0~5 * */2 * 1 x",
		"\"A B\" = 'x'\n", "* * * * * \xff\n", "0 0 1-31 * 1-5/2 x\n", "\x00", "# user command\n1 1 1 1 1 alice x\n", "* * 99999999999999999999 * 1 x",
	} {
		f.Add(text, uint8(0))
		f.Add(text, uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, form uint8) {
		began := time.Now()
		got := Parse([]byte(text), Config{Form: []Form{FormDetect, FormUser, FormSystem}[form%3]})
		if took := time.Since(began); took > 2*time.Second {
			t.Fatalf("%d bytes take %s", len(text), took)
		}
		seen := map[int]bool{}
		for _, r := range got.Refused {
			checkPrintable(t, r.Found+r.Reason+r.Remedy)
			if r.Reason == "" || r.Remedy == "" || seen[r.Line] || r.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%+v", r)
			}
			seen[r.Line] = true
		}
		for _, n := range got.Notes {
			checkPrintable(t, n.Text)
		}
		for i, e := range got.Entries {
			if e.Times == "" || strings.TrimSpace(e.Command) == "" || seen[e.Line] || !utf8.ValidString(e.Command+e.Input) || (e.User != "") != (got.Form == FormSystem) {
				t.Fatalf("%+v", e)
			}
			seen[e.Line] = true
			if i > 0 && e.Line <= got.Entries[i-1].Line {
				t.Fatalf("line %d is listed after line %d", e.Line, got.Entries[i-1].Line)
			}
		}
		names := map[string]bool{}
		for _, name := range Names(got.Entries, Naming{}) {
			if names[name] || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" || len(name) > 128 {
				t.Fatalf("the name %q is not unique or not valid", name)
			}
			names[name] = true
		}
	})
}

func checkPrintable(t *testing.T, text string) {
	t.Helper()
	if !utf8.ValidString(text) || len(text) > 1000 || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		t.Fatalf("%q is not printable or too long", text)
	}
}
