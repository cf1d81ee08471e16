package httpapi

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestQuotedTextIsCutBetweenCharacters(t *testing.T) {
	for i := range 4 {
		text := quoted(strings.Repeat("a", i) + strings.Repeat("é日", 40))
		if !utf8.ValidString(text) || strings.Contains(text, `\x`) || !strings.HasSuffix(text, "…") {
			t.Error(text)
		}
	}
}
