package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestDocumentedCommandsAndFlagsExist checks the commands and flags in the pages and in the runbooks of alerts.
func TestDocumentedCommandsAndFlagsExist(t *testing.T) {
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range append(files, "../../README.md", "../../deploy/prometheus/alerts.yml") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		advice := regexp.MustCompile("(?m)(?:`|^\\$ .*?)rota [a-z][^`\n]*")
		if strings.HasSuffix(file, ".yml") {
			advice = regexp.MustCompile(`\brota [a-z]+( [a-z]+)?( --?[a-z][a-z-]*)*`)
		}
		for _, line := range advice.FindAllString(string(text), -1) {
			found++
			checkAdvice(t, filepath.Base(file), line)
		}
	}
	if found < 100 {
		t.Errorf("found only %d commands; the pattern no longer matches the pages", found)
	}
}

// checkAdvice checks each rota command of one line.
func checkAdvice(t *testing.T, file, line string) {
	t.Helper()
	for _, part := range regexp.MustCompile("(?:^|[ `])rota ").Split(line, -1)[1:] {
		part, _, _ = strings.Cut(part, " #")
		part = strings.TrimPrefix(part, "rota ") // docker exec rota rota …: the first one is the container
		root := newRootCommand(&app{environment: environment{getenv: func(string) string { return "" }}, output: formatTable})
		cmd, rest, err := root.Find(strings.Fields(part))
		if err != nil || cmd == root || cmd.HasSubCommands() && len(rest) > 0 && cmd.RunE == nil {
			t.Errorf("%s: there is no rota %s", file, part)
			continue
		}
		for _, flag := range regexp.MustCompile(`(?:^| )--([a-z][a-z-]*)`).FindAllStringSubmatch(part, -1) {
			if cmd.Flag(flag[1]) == nil && flag[1] != "help" {
				t.Errorf("%s: rota %s has no --%s: %s", file, cmd.Name(), flag[1], part)
			}
		}
	}
}

// TestPagesStateDeliveryAttemptsAndHours compares the pages with rota.DeliveryPolicy.
func TestPagesStateDeliveryAttemptsAndHours(t *testing.T) {
	policy, all := rota.DeliveryPolicy, time.Duration(0)
	for n := range policy.MaxAttempts - 1 {
		all += min(policy.Backoff<<n, policy.BackoffMax)
	}
	want := fmt.Sprintf(`\b%d (times|attempts), over about %.0f hours`, policy.MaxAttempts, all.Hours())
	for _, file := range []string{"../../docs/webhooks.md", "../../deploy/prometheus/alerts.yml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(want).Match([]byte(strings.Join(strings.Fields(string(text)), " "))) {
			t.Errorf("%s does not contain %s", file, want)
		}
	}
}

// TestCommandsOfLimitsPageRun runs the commands of docs/limits.md as the page has them, on a new server.
func TestCommandsOfLimitsPageRun(t *testing.T) {
	text, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := regexp.MustCompile(`(?m)^\$ rota (.*)$`).FindAllStringSubmatch(string(text), -1)
	if len(commands) < 6 {
		t.Fatalf("found only %d commands; the pattern no longer matches the page", len(commands))
	}
	s := startServer(t)
	for _, command := range commands {
		s.must(command[1])
	}
}
