package main

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
	"unicode"
)

var filtered = map[string]string{
	"plain\tline\nnext ü 漢\n":                             "plain\tline\nnext ü 漢\n",
	"\x1b[31mred\x1b[0m and \x1b[1;38;5;9mbold\x1b[m":     "red and bold",
	"\x1b[2J\x1b[Hcleared\x1b[?1049h":                     "cleared",
	"\x1b]0;title\x07after":                               "after",
	"\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\": "link",
	"\x1b]52;c;ZWNobw==\x07copy":                          "copy",
	"\x1bP$q\"p\x1b\\dcs":                                 "dcs",
	"\x1b_apc\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\x":          "x",
	"\x1bc reset \x1b(0 charset \x1b#8 \x1b7":             " reset  charset  ",
	"\u009b31mC1\u009d0;t\u009cx\u0085":                   "C1x?",
	"\x9b31m":                                             "\ufffd31m",
	"del\x7f bel\x07 bs\b\b nul\x00":                      "del? bel? bs?? nul?",
	"real\rfake":                                          "real\nfake",
	"10%\r20%\r\n":                                        "10%\n20%\n",
	"dos\r\nline\r\n":                                     "dos\nline\n",
	"ends\r":                                              "ends\n",
	"\x1b]0;never ended\nnext line":                       "\nnext line",
	"\x1b[31\x1b[32mtwice":                                "twice",
	"\x1b[31\x18stopped":                                  "stopped",
	"\x1b]x\x1b[31mgreen":                                 "green",
	"a\u202eb\u2066c\u2028d":                              "a?b?c?d",
	"incomplete \xe6\xbc":                                 "incomplete \ufffd\ufffd",
	"\x1b":                                                "",
}

func TestControlFilterRemovesSequences(t *testing.T) {
	for text, want := range filtered {
		for _, size := range []int{len(text), 1, 2, 3} { // a character or a sequence may be split
			var b bytes.Buffer
			f := &controlFilter{w: &b}
			for rest := []byte(text); len(rest) > 0; rest = rest[min(size, len(rest)):] {
				if n, err := f.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
					t.Fatal(n, err)
				}
			}
			if err := f.Close(); err != nil || b.String() != want {
				t.Errorf("%q in pieces of %d is printed as %q, want %q; %v", text, size, b.String(), want, err)
			}
		}
	}
	var b bytes.Buffer
	f := &controlFilter{w: &b}
	_, _ = f.Write([]byte("\x1b]" + strings.Repeat("x", 2*sequenceMax) + "end"))
	if !strings.HasSuffix(b.String(), "end") {
		t.Error("a sequence without an end hides the rest of the log")
	}
}

func FuzzControlFilter(f *testing.F) {
	for text := range filtered {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var b bytes.Buffer
		filter := &controlFilter{w: &b}
		_, _ = filter.Write(text)
		_ = filter.Close()
		if i := strings.IndexFunc(b.String(), func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }); i >= 0 {
			t.Errorf("%q prints the control character %q", text, b.String()[i])
		}
	})
}

// A terminal gets no control characters unless the user asks for them; a pipe gets the log as it is.
func TestJobLogsOnTerminal(t *testing.T) {
	const log = "\x1b[31mred\x1b[0m\rline\n"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, log) }))
	defer server.Close()
	for _, row := range []struct {
		line     string
		terminal bool
		want     string
	}{
		{"job logs", true, "red\nline\n"},
		{"job logs -f", true, "red\nline\n"},
		{"job logs --raw", true, log},
		{"job logs --raw -f", true, log},
		{"job logs", false, log},
		{"job logs --raw", false, log},
	} {
		var out, errs bytes.Buffer
		code := run(words(row.line+" "+sampleID+" --url "+server.URL), environment{
			in: strings.NewReader(""), out: &out, err: &errs, terminal: terminal{out: row.terminal}, now: time.Now, getenv: func(string) string { return "" },
		})
		if code != exitDone || out.String() != row.want {
			t.Errorf("rota %s, on a terminal: %v, exits with %d and prints %q%s", row.line, row.terminal, code, out.String(), &errs)
		}
	}
}

func TestEventsAsJSONPrintNoControlCharacters(t *testing.T) {
	var b bytes.Buffer
	a := &app{output: formatJSON, environment: environment{out: &b}}
	if err := a.printEvent(event{name: "job.failed", data: "{\"error\":\"\u009b2J\x7f\"}"}); err != nil || b.String() != "{\"error\":\"\\u009b2J\\u007f\"}\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
}

// TestOutputHasNoDirectionMarks: tables replace characters that change the direction of text, JSON and YAML escape
// them.
func TestOutputHasNoDirectionMarks(t *testing.T) {
	for _, r := range "\u061c\u200e\u200f\u2028\u2029\u202a\u202e\u2066\u2069\u009b" {
		text := "a" + string(r) + "b"
		if got := sanitize(text); got != "a?b" {
			t.Errorf("a table shows %q as %q", text, got)
		}
		for _, output := range []format{formatJSON, formatYAML} {
			var b bytes.Buffer
			a := &app{output: output, environment: environment{out: &b}}
			if err := a.print(map[string]string{"v": text}, nil); err != nil || strings.ContainsRune(b.String(), r) || !strings.Contains(b.String(), `\`) {
				t.Errorf("%s shows %q as %s, %v", output, text, &b, err)
			}
		}
	}
	if got := sanitize("ünï 👩‍🚀 שלום"); got != "ünï 👩‍🚀 שלום" {
		t.Errorf("ordinary text becomes %q", got)
	}
}

// TestAuditExportPrintsNoControlCharacters: the lines are JSON with these characters escaped.
func TestAuditExportPrintsNoControlCharacters(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/export") {
			_, _ = io.WriteString(w, "{\"detail\":\"\u009b2J\u202e\"}\n{\"end\":{}}\n")
			return
		}
		_, _ = io.WriteString(w, "{\"items\": [{\"detail\": \"\u009b2J\u202e\"}]}")
	}))
	defer server.Close()
	for flags, end := range map[string]string{"": "{\"end\":{}}\n", "--since 1h": ""} {
		if out, errs, code := runLine("audit export --url " + server.URL + " " + flags); code != exitDone || out != `{"detail":"\u009b2J\u202e"}`+"\n"+end {
			t.Errorf("%s: exit %d: %q%s", flags, code, out, errs)
		}
	}
}
