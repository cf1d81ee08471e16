package crontab

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"
)

// line is one readable, non-empty line of the text.
type line struct {
	number int
	text   string // without leading white space and line break
}

// whiteSpace separates the parts of a line.
const whiteSpace = " \t"

// split returns the lines of the text. It refuses lines that are not readable text.
func (r *parser) split(text []byte) (lines []line) {
	switch {
	case len(text) > TextMax:
		r.refuse(0, "", fmt.Sprintf("the file has %d bytes; the limit is %d", len(text), TextMax), "check that it is a crontab, or split it into several files")
		return nil
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		r.refuse(0, "", "the file is encoded in UTF-16", "convert it, such as with iconv -f UTF-16 -t UTF-8")
		return nil
	}
	if rest, marked := bytes.CutPrefix(text, []byte("\xef\xbb\xbf")); marked {
		text = rest
		r.note(0, "the file begins with a byte order mark; cron treats it as a part of the first line, Rota ignores it")
	}
	returns := 0
	number := 0
	for part := range bytes.Lines(text) {
		if number++; number > LinesMax {
			r.refuse(number, "", fmt.Sprintf("the file has more than %d lines; the rest is ignored", LinesMax), "split it into several files")
			break
		}
		whole, ended := bytes.CutSuffix(part, []byte("\n"))
		if cut, found := bytes.CutSuffix(whole, []byte("\r")); found {
			whole = cut
			returns++
		}
		l := line{number: number, text: strings.TrimLeft(string(whole), whiteSpace)}
		if !r.readable(l) || l.text == "" {
			continue
		}
		if !ended && l.text[0] != '#' {
			r.note(number, "the last line has no line break; cron ignores such a line, Rota reads it")
		}
		lines = append(lines, l)
	}
	if returns > 0 {
		r.note(0, "%s a carriage return, as on Windows; cron treats it as a part of the command, Rota ignores it", lineCount(returns, "ends with", "end with"))
	}
	return lines
}

func lineCount(n int, one, many string) string {
	if n == 1 {
		return "1 line " + one
	}
	return fmt.Sprintf("%d lines %s", n, many)
}

// readable refuses a line that is too long or not valid UTF-8. It accepts any comment.
func (r *parser) readable(l line) bool {
	if strings.HasPrefix(l.text, "#") {
		return true
	}
	switch bad := firstInvalid(l.text); {
	case len(l.text) > LineMax:
		r.refuse(l.number, "", fmt.Sprintf("the line has %d bytes; the limit is %d", len(l.text), LineMax), "put the command into a script")
	case bad >= 0 && l.text[bad] == 0:
		r.refuse(l.number, "", fmt.Sprintf("the line has a NUL byte at byte %d", bad+1), "check that the file is a crontab")
	case bad >= 0:
		r.refuse(l.number, "", fmt.Sprintf("the line is not UTF-8: byte %d is 0x%02X", bad+1, l.text[bad]), "convert the file, such as with iconv -f ISO-8859-1 -t UTF-8")
	default:
		return true
	}
	return false
}

// firstInvalid returns the position of the first NUL or invalid UTF-8 byte, or -1.
func firstInvalid(text string) int {
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

// parseLine parses one line.
func (r *parser) parseLine(l line) {
	if l.text[0] == '#' {
		return
	}
	if name, value, is := cutSetting(l.text); is {
		r.parseSetting(l, name, value)
		return
	}
	r.parseEntry(l)
}
