package main

import "strings"

// sanitize makes text from a server safe to print on one line: line breaks become spaces and control characters become
// question marks, since they could move the cursor.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '?' // control characters, line separators and changes of text direction
		}
		return r
	}, text)
}

// sanitizeLines sanitizes each line of a text and keeps the lines apart, for stack traces.
func sanitizeLines(text string) string {
	lines := strings.Split(strings.Trim(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(sanitize(strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Join(lines, "\n")
}

// firstLine returns the first line of a text for a list, followed by an ellipsis if there are more lines.
func firstLine(text string) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	head = strings.TrimSpace(sanitize(head))
	if rest != "" {
		head += " …"
	}
	return head
}

// firstLineMax is the length of firstLineShort in characters.
const firstLineMax = 200

// firstLineShort is firstLine cut to firstLineMax, for messages, which are not cut to the width of the terminal.
func firstLineShort(text string) string { return cutText(firstLine(text), firstLineMax) }
