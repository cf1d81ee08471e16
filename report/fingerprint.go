package report

import (
	"regexp"
	"strings"
)

// fingerprintMax bounds the part of a fingerprint that is taken from a text.
const fingerprintMax = 200

// variableParts matches parts of an error text that differ between failures of the same kind.
var variableParts = []struct {
	pattern     *regexp.Regexp
	placeholder string
}{
	{regexp.MustCompile(`(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "<id>"},
	{regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?`), "<time>"},
	{regexp.MustCompile(`\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b`), "<address>"},
	{regexp.MustCompile(`\[[0-9a-fA-F:]{2,}\](?::\d+)?`), "<address>"},
	{regexp.MustCompile(`\b0[xX][0-9a-fA-F]+\b`), "<n>"},
}

var (
	hexadecimal = regexp.MustCompile(`(?i)\b[0-9a-f]{8,}\b`)
	number      = regexp.MustCompile(`\d+(?:\.\d+)?`)
)

// normalise replaces the changing parts of an error text, so that failures of one kind are
// one issue.
func normalise(line string) string {
	for _, part := range variableParts {
		line = part.pattern.ReplaceAllString(line, part.placeholder)
	}
	line = hexadecimal.ReplaceAllStringFunc(line, func(digits string) string {
		if strings.ContainsAny(digits, "0123456789") && strings.ContainsAny(digits, "abcdefABCDEF") {
			return "<hash>"
		}
		return digits // a number, or a word such as "defaced"
	})
	return cut(number.ReplaceAllString(line, "<n>"), fingerprintMax)
}
