package near_test

import (
	"testing"

	"github.com/rotajobs/rota/internal/near"
)

func TestWord(t *testing.T) {
	words := []string{"workers", "http", "data", "log_level"}
	for text, want := range map[string]string{
		"wrokers": "workers", "worker": "workers", "htpp": "http", "HTTP": "http", "log-level": "log_level",
		"dta": "data", "zebra": "", "x": "", "": "",
	} {
		if got := near.Word(text, words); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
