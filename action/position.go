package action

import (
	"strings"
	"unicode/utf8"
)

// lineAndColumn converts an offset in bytes to a line and a column, both from 1. The
// column counts characters, as editors do.
func lineAndColumn(text string, offset int) (line, column int) {
	before := text[:max(0, min(offset, len(text)))]
	start := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[start:]) + 1
}

// byteOffset converts a position in characters, from 1, to an offset in bytes.
func byteOffset(text string, position int) int {
	for offset := range text {
		if position--; position == 0 {
			return offset
		}
	}
	return len(text)
}
