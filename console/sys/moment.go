package sys

import "github.com/rotajobs/rota/console/dialect"

// written is a time as columns write it, and anything else as it is.
func written(text string) string {
	if len(text) == len(TimeLayout) && text[10] == 'T' && text[len(text)-1] == 'Z' {
		return text
	}
	if held, err := dialect.Held(Timestamp, text); err == nil {
		return held.(string)
	}
	return text
}
