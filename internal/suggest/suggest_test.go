package suggest_test

import (
	"testing"

	"github.com/rotajobs/rota/internal/suggest"
)

func TestNearest(t *testing.T) {
	words := []string{"workers", "http", "data", "log_level"}
	for text, want := range map[string]string{
		"wrokers": "workers", "worker": "workers", "htpp": "http", "HTTP": "http", "log-level": "log_level",
		"dta": "data", "zebra": "", "x": "", "": "",
	} {
		if got := suggest.Nearest(text, words); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
