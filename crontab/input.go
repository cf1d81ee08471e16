package crontab

import "strings"

// cutInput separates a command from its input, as cron does: the command ends at the first % without a backslash before
// it, and \% is a literal %. A backslash before any other character stays.
func cutInput(text string) (command, input string, has bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '%':
			return b.String(), unescapeInput(text[i+1:]), true
		case text[i] == '\\' && i+1 < len(text):
			i++
			if text[i] != '%' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(text[i])
	}
	return b.String(), "", false
}

// unescapeInput returns the input with a line break for each %, a literal % for \%, and a line break at the end. Cron
// treats backslashes here differently than in the command: a backslash after another one still escapes a %.
func unescapeInput(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\' && i+1 < len(text) && text[i+1] == '%':
			i++
			b.WriteByte('%')
		case text[i] == '%':
			b.WriteByte('\n')
		default:
			b.WriteByte(text[i])
		}
	}
	if text := b.String(); text != "" && !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
	return b.String()
}
