package main

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDeletesAskOnATerminal: a command that deletes one thing asks on a terminal, and deletes only after yes or with
// --yes. Without a terminal it does not ask.
func TestDeletesAskOnATerminal(t *testing.T) {
	s := startServer(t)
	on := terminal{in: true, out: true, err: true, width: 120}
	hook := httptest.NewServer(nil)
	defer hook.Close()
	for _, row := range []struct{ make, remove, question, list, gone string }{
		{"schedule create nightly --cron '0 2 1 1 *' --type noop", "schedule delete nightly", "Delete schedule nightly? [y/N]", "schedule list", "no schedules"},
		{"schedule create nightly --cron '0 2 1 1 *' --type noop", "schedule rm nightly --with-template", "Delete schedule nightly and archive its template? [y/N]", "schedule list", "no schedules"},
		{"template create letter --type noop", "template archive letter", "Archive template letter and disable its schedules? [y/N]", "template show letter", "ARCHIVED"},
		{"webhook add " + hook.URL + " --secret 0123456789abcdef0123", "webhook remove " + hook.URL, "Remove webhook " + hook.URL + " and its undelivered events? [y/N]", "webhook list", "no webhooks"},
	} {
		for _, try := range []struct {
			line, answer string
			terminal     terminal
			asks, does   bool
		}{
			{row.remove, "", on, true, false},
			{row.remove, "n\n", on, true, false},
			{row.remove, "y\n", on, true, true},
			{row.remove + " --yes", "", on, false, true},
			{row.remove, "n\n", terminal{in: true, err: true}, true, false},
			{row.remove, "n\n", terminal{in: true, out: true, width: 120}, true, false}, // 2>file
			{row.remove, "", terminal{}, false, true},
			{row.remove, "", terminal{out: true, width: 80}, false, true},
		} {
			if _, _, code := s.run(row.make); code != exitDone {
				s.must("template unarchive letter")
			}
			out, errs, code := s.runWith(try.line, try.terminal, map[string]string{"STDIN": try.answer})
			if asked := strings.HasPrefix(errs, row.question) || strings.HasPrefix(out, row.question); asked != try.asks || (code == exitDone) != try.does {
				t.Errorf("%s with %q at %+v exits with %d: %s%s", try.line, try.answer, try.terminal, code, out, errs)
			}
			if gone := strings.Contains(s.must(row.list), row.gone); gone != try.does {
				t.Errorf("%s with %q at %+v: deleted %v", try.line, try.answer, try.terminal, gone)
			}
			if !try.does {
				s.must(row.remove)
			}
		}
	}
}
