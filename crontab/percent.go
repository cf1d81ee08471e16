package crontab

import "strings"

// cutInput parts a command from its input, as cron does: the command ends at the first % that has no backslash before
// it, and \% is a %. A backslash before anything else stays.
func cutInput(text string) (command, input string, has bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '%':
			return b.String(), inputOf(text[i+1:]), true
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

// inputOf writes the input out: each % ends a line, \% is a %, and the last line is ended too. Cron reads a backslash
// here otherwise than in the command: one that follows another still shields a %.
func inputOf(text string) string {
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
