package crontab

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// line is one line of the text that can be read.
type line struct {
	number int
	text   string // without white space before it, and without its end
}

// blank is what may stand between the parts of a line.
const blank = " \t"

// split takes the text apart and refuses lines that are no text.
func (r *reader) split(text []byte) (lines []line) {
	switch {
	case len(text) > TextMax:
		r.refuse(0, "", fmt.Sprintf("the file has %d bytes; at most %d are read", len(text), TextMax), "see that it is a crontab, and cut it into several")
		return nil
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		r.refuse(0, "", "the file is written in UTF-16", "convert it, such as with iconv -f UTF-16 -t UTF-8")
		return nil
	}
	if rest, marked := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); marked {
		text = rest
		r.note(0, "the file begins with a byte order mark; cron would take it for a part of the first line, here it is left out")
	}
	returns := 0
	number := 0
	for part := range bytes.Lines(text) {
		if number++; number > LinesMax {
			r.refuse(number, "", fmt.Sprintf("the file has more than %d lines; those from here on are not read", LinesMax), "cut it into several")
			break
		}
		whole, ended := bytes.CutSuffix(part, []byte("\n"))
		if cut, found := bytes.CutSuffix(whole, []byte("\r")); found {
			whole = cut
			returns++
		}
		l := line{number: number, text: strings.TrimLeft(string(whole), blank)}
		if !r.readable(l) || l.text == "" {
			continue
		}
		if !ended && l.text[0] != '#' {
			r.note(number, "the last line has no end; cron passes over such a line, here it is read")
		}
		lines = append(lines, l)
	}
	if returns > 0 {
		r.note(0, "%s a carriage return, as on Windows; cron would take it for a part of the command, here it is left out", lineCount(returns, "ends with", "end with"))
	}
	return lines
}

func lineCount(n int, one, many string) string {
	if n == 1 {
		return "1 line " + one
	}
	return fmt.Sprintf("%d lines %s", n, many)
}

// readable refuses a line that is too long or no text. A comment may be anything.
func (r *reader) readable(l line) bool {
	if strings.HasPrefix(l.text, "#") {
		return true
	}
	switch bad := firstBad(l.text); {
	case len(l.text) > LineMax:
		r.refuse(l.number, "", fmt.Sprintf("the line has %d bytes; at most %d are read", len(l.text), LineMax), "put the command into a script")
	case bad >= 0 && l.text[bad] == 0:
		r.refuse(l.number, "", fmt.Sprintf("the line has a NUL byte at byte %d", bad+1), "see that the file is a crontab")
	case bad >= 0:
		r.refuse(l.number, "", fmt.Sprintf("the line is not UTF-8: byte %d is 0x%02X", bad+1, l.text[bad]), "convert the file, such as with iconv -f ISO-8859-1 -t UTF-8")
	default:
		return true
	}
	return false
}

// firstBad is where a text stops being one; -1 if it does not.
func firstBad(text string) int {
	for i, c := range text {
		if c == 0 {
			return i
		}
		if c == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return i
			}
		}
	}
	return -1
}

// line reads one line.
func (r *reader) line(l line) {
	if l.text[0] == '#' {
		return
	}
	if name, value, is := cutSetting(l.text); is {
		r.setting(l, name, value)
		return
	}
	r.entry(l)
}
