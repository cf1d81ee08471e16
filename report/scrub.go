package report

import (
	"encoding/json"

	"github.com/rotajobs/rota/internal/scrub"
)

// Scrub hides the secrets in a JSON value: the values of keys such as password, token,
// api_key, authorization, cookie or dsn, in any spelling and depth, and in strings what
// ScrubText hides. The result is JSON, and scrubbing it again changes nothing. Input that
// is not JSON is hidden completely.
func Scrub(value json.RawMessage) json.RawMessage { return scrub.JSON(value) }

// ScrubText hides secrets in a text, such as an error: passwords in URLs, bearer tokens,
// values after password= and similar words, and keys of known formats.
func ScrubText(text string) string { return scrub.Text(text) }
