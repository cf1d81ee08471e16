package action

import (
	"strings"
	"unicode/utf8"
)

// lineAndColumn turns an offset in bytes into a line and a column, both from 1, the
// column in characters as editors count them.
func lineAndColumn(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// byteOffset turns a position in characters, from 1, into an offset in bytes.
func byteOffset(text string, position int) int {
	for offset := range text {
		if position--; position == 0 {
			return offset
		}
	}
	return len(text)
}
