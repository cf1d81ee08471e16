package action

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestWebhooksPageMatchesCode compares the events, retry times, limits and signature of
// the page with those of the program.
func TestWebhooksPageMatchesCode(t *testing.T) {
	text, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	wants := []string{
		Sign("whsec_test", time.Unix(1793862000, 0), []byte(`{"event":"job.completed"}`)),
		"At most 1 MiB of it is read", "fits 64 KiB", "may take 5 minutes", "takes longer than 10 seconds", "left alone for 5 seconds", "`" + codeDown + "`",
		"more than 5 minutes away", "five redirects", "at most 10 in a list", "within an hour", "Up to a fifth", AllowSetting,
	}
	for _, kind := range rota.WebhookEvents {
		row := fmt.Sprintf("| `%s` | ", kind)
		wants = append(wants, row)
		_, line, _ := strings.Cut(page, row)
		line, _, _ = strings.Cut(line, "\n")
		if ofTemplate := strings.HasPrefix(string(kind), "job."); strings.HasSuffix(line, "| yes |") != ofTemplate {
			t.Errorf("the page states for %s that templates may subscribe: %v", kind, !ofTemplate)
		}
	}
	total := time.Duration(0)
	for attempt := 2; attempt <= deliveryPolicy.MaxAttempts; attempt++ {
		wait := min(deliveryPolicy.Backoff<<(attempt-2), deliveryPolicy.BackoffMax)
		total += wait
		wants = append(wants, fmt.Sprintf("| %d | %s | %s |\n", attempt, durationWords(wait), durationWords(total)))
	}
	for _, want := range wants {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, fmt.Sprintf("| %d | ", deliveryPolicy.MaxAttempts+1)) {
		t.Error("the page lists more attempts than the policy allows")
	}
	if responseMax != 1<<20 || rota.ResultMax != 64<<10 || DefaultHTTPTimeout != 5*time.Minute || SendHeadMax != 10*time.Second || pauseFirst != 5*time.Second || pauseMax != time.Minute ||
		DefaultTolerance != 5*time.Minute || redirectsMax != 5 || rota.WebhooksMax != 10 || retryAfterMax != time.Hour || deliveryPolicy.Jitter != 0.2 {
		t.Error("a limit differs from the page")
	}
}

func durationWords(d time.Duration) string {
	var words []string
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{time.Hour, "h"}, {time.Minute, "min"}, {time.Second, "s"}} {
		if n := d / unit.length; n > 0 {
			words, d = append(words, fmt.Sprintf("%d %s", n, unit.name)), d%unit.length
		}
	}
	return strings.Join(words, " ")
}

// TestSQLJobsPageMatchesCode compares the limits and error codes of the page with those
// of the program, and checks the statements that it lists as refused.
func TestSQLJobsPageMatchesCode(t *testing.T) {
	text, err := os.ReadFile("../docs/sql-jobs.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, code := range []string{codeTarget, codeRole, codeDenied, codeTransaction, codeStatement, codeConnect, rota.CodeTimeout} {
		if !strings.Contains(page, "\n| `"+code+"` | ") {
			t.Errorf("the page lacks the code %s", code)
		}
	}
	for _, want := range []string{"at most 256 KiB", "Rows go after 90 days", "at most 100, and at most 16 KiB", "waits a minute", effectTable, "`" + MainTarget + "`", "`main.db`"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if StatementMax != 256<<10 || effectRetention != 90*24*time.Hour || rowsMax != 100 || rowsSizeMax != 16<<10 || lockTimeout != time.Minute || MainURL != "sqlite:main.db" {
		t.Error("a limit differs from the page")
	}
	for _, kind := range []dialect{dialectSQLite, dialectPostgres, dialectMaria} {
		for _, text := range []string{"BEGIN", "COMMIT", "ROLLBACK", "START TRANSACTION"} {
			if kind == dialectSQLite && text == "START TRANSACTION" {
				continue // SQLite has no such statement
			}
			if refuse(kind, text, split(kind, text)) == nil {
				t.Errorf("%s is not refused on %s", text, kind)
			}
		}
	}
	for _, verb := range []string{"CREATE", "ALTER", "DROP", "TRUNCATE", "GRANT"} {
		if !commitsImplicitly([]string{verb, "X"}) {
			t.Errorf("%s does not count as an implicit commit, as the page states", verb)
		}
	}
}
