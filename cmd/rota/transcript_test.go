package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the transcripts in testdata with what the program prints now")

// testNow is the time in transcripts.
var testNow = time.Date(2026, 11, 15, 3, 0, 0, 0, time.UTC)

// TestTranscripts replays the transcripts in testdata: each line that begins with "$ rota" is run in this process, and
// the file must contain its output. Lines of standard error begin with "! "; an exit code other than 0 follows.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.transcript")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { replay(t, file, regenerateTranscript) })
	}
}

// TestCronReferencePage replays the console blocks of the page.
func TestCronReferencePage(t *testing.T) { replay(t, "../../docs/reference/cron.md", regeneratePage) }

// replay compares a file with the text that regenerate makes of it, or with -update writes that text.
func replay(t *testing.T, file string, regenerate func(string) string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	got := regenerate(string(want))
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != string(want) {
		t.Errorf("%s is not what the program prints (run with -update and read the diff); first at %s", file, firstDifference(string(want), got))
	}
}

// firstDifference returns the first line in which two texts differ.
func firstDifference(want, got string) string {
	wants, gots := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range wants {
		if i >= len(gots) || wants[i] != gots[i] {
			return fmt.Sprintf("line %d\n- %s\n+ %s", i+1, wants[i], strings.Join(gots[min(i, len(gots)):min(i+1, len(gots))], ""))
		}
	}
	return fmt.Sprintf("line %d\n+ %s", len(wants)+1, gots[len(wants)])
}

// regenerateTranscript keeps the comments and commands of a transcript and replaces their output.
func regenerateTranscript(session string) string {
	var b strings.Builder
	for line := range strings.Lines(session) {
		switch {
		case strings.HasPrefix(line, "# "):
			b.WriteString(line)
		case strings.HasPrefix(line, "$ rota"):
			b.WriteString(line + runAndFormat(strings.TrimPrefix(line, "$ rota")) + "\n")
		}
	}
	return b.String()
}

// runAndFormat runs one command line and formats its output for a transcript.
func runAndFormat(commandLine string) string {
	out, errs, code := runLine(commandLine)
	text := out
	for line := range strings.Lines(errs) {
		text += "! " + line
	}
	if code != exitDone {
		text += fmt.Sprintf("exit %d\n", code)
	}
	return hideDirectory(text)
}

// hideDirectory replaces the directory of the test.
func hideDirectory(text string) string {
	dir, err := os.Getwd()
	if err != nil {
		return text
	}
	return strings.ReplaceAll(text, dir, "DIR")
}

// regeneratePage keeps the prose of a page and replaces the output of the commands in its console blocks.
func regeneratePage(page string) string {
	var b strings.Builder
	console := false
	for line := range strings.Lines(page) {
		fence := strings.HasPrefix(line, "```")
		console = fence && !console && line == "```console\n" || console && !fence
		command, isCommand := strings.CutPrefix(line, "$ rota")
		if !console || fence || isCommand {
			b.WriteString(line)
		}
		if console && isCommand {
			out, errs, _ := runLine(command)
			b.WriteString(out + errs)
		}
	}
	return b.String()
}

func runLine(commandLine string) (out, errs string, code int) {
	var stdout, stderr bytes.Buffer
	code = run(words(commandLine), environment{
		in: strings.NewReader(""), out: &stdout, err: &stderr, now: func() time.Time { return testNow }, getenv: func(string) string { return "" }, host: "web1",
	})
	return stdout.String(), stderr.String(), code
}

// words splits a command line like a shell, with spaces and single quotes only.
func words(commandLine string) []string {
	var all []string
	for i, part := range strings.Split(commandLine, "'") {
		if i%2 == 1 {
			all = append(all, part)
		} else {
			all = append(all, strings.Fields(part)...)
		}
	}
	return all
}
