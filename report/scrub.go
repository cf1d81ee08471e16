package report

import (
	"encoding/json"

	"github.com/rotajobs/rota/internal/scrub"
)

// Scrub hides the secrets of a JSON value: whatever stands under keys such as
// password, token, api_key, authorization, cookie or dsn, however they are
// written and however deep, and in strings what ScrubText hides. What comes out
// is JSON, and scrubbing it again changes nothing. What is not JSON is not shown.
func Scrub(value json.RawMessage) json.RawMessage { return scrub.JSON(value) }

// ScrubText hides what looks like a secret in a text, such as an error: passwords
// in URLs, proofs behind Bearer, values behind password= and its like, keys whose
// form is known.
func ScrubText(text string) string { return scrub.Text(text) }
