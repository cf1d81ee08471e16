package main

import "strings"

// sanitize keeps what others wrote from moving the cursor or breaking the line.
func sanitize(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069:
			return '?' // controls, and what turns the direction of writing round
		}
		return r
	}, text)
}

// sanitizeLines is plainText of each line, such as those of a stack, which is unreadable in one.
func sanitizeLines(text string) string {
	lines := strings.Split(strings.Trim(text, "\r\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(sanitize(strings.ReplaceAll(line, "\t", "    ")), " ")
	}
	return strings.Join(lines, "\n")
}

// firstLine is the first line of what others wrote, for a list. Dots say that there is more.
func firstLine(text string) string {
	head, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	head = strings.TrimSpace(sanitize(head))
	if rest != "" {
		head += " …"
	}
	return head
}

// firstLineMax is how much of it stands in a message, in characters.
const firstLineMax = 200

// firstLineShort is headLine for a message, which nobody cuts to the width of a terminal.
func firstLineShort(text string) string { return cutText(firstLine(text), firstLineMax) }
