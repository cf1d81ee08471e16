package system

import "github.com/rotajobs/rota/sql/translate"

// normalizedTime returns a time in TimeLayout, and any other text unchanged.
func normalizedTime(text string) string {
	if len(text) == len(TimeLayout) && text[10] == 'T' && text[len(text)-1] == 'Z' {
		return text
	}
	if held, err := translate.ParseValue(Timestamp, text); err == nil {
		return held.(string)
	}
	return text
}
