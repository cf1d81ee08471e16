package main

import (
	"bytes"
	"io"
	"unicode/utf8"
)

// controlFilter writes text of any origin to a terminal. It removes escape sequences, which could clear the screen, change
// the title or type commands, and keeps lines and tabs. A carriage return that does not end a line becomes a line break,
// because text behind it would hide the text before it. Other control characters and changes of the text direction become
// question marks. Sequences and characters may be split over several writes.
type controlFilter struct {
	w       io.Writer
	state   filterState
	partial []byte // bytes of a character whose rest has not arrived
	pending bool   // the last character was a carriage return
	length  int    // characters of the current sequence
}

// filterState is the part of an escape sequence that the filter is in.
type filterState int

const (
	inText       filterState = iota
	afterEscape              // ESC was read
	inEscape                 // ESC and intermediate characters: the next final character ends the sequence
	inControl                // CSI: parameters, then one final character
	inString                 // OSC, DCS, SOS, PM or APC: text up to BEL or ST
	stringEscape             // ESC within such a string
)

// sequenceMax is the longest sequence that is removed. The filter prints what follows, so that a sequence without an end
// does not hide the rest of a log.
const sequenceMax = 4096

// Write filters and writes all of p.
func (f *controlFilter) Write(p []byte) (int, error) {
	text := append(f.partial, p...)
	f.partial = nil
	var out bytes.Buffer
	for len(text) > 0 {
		if !utf8.FullRune(text) {
			f.partial = bytes.Clone(text)
			break
		}
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		f.next(&out, r)
	}
	if _, err := f.w.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// next reads one character. An invalid byte arrives as utf8.RuneError and is printed as such.
func (f *controlFilter) next(out *bytes.Buffer, r rune) {
	if f.state != inText {
		if f.length++; f.length > sequenceMax || r == '\n' {
			f.state = inText
		} else {
			f.sequence(r)
			return
		}
	}
	if f.pending {
		f.pending = false
		out.WriteByte('\n')
		if r == '\n' {
			return
		}
	}
	switch r {
	case '\n', '\t':
		out.WriteRune(r)
	case '\r':
		f.pending = true
	case 0x1b:
		f.begin(afterEscape)
	case 0x9b:
		f.begin(inControl)
	case 0x90, 0x98, 0x9d, 0x9e, 0x9f:
		f.begin(inString)
	default:
		out.WriteString(sanitize(string(r)))
	}
}

func (f *controlFilter) begin(s filterState) { f.state, f.length = s, 0 }

// sequence reads one character of an escape sequence. CAN, SUB and ESC end a sequence at any place, as on a terminal.
func (f *controlFilter) sequence(r rune) {
	switch {
	case r == 0x18 || r == 0x1a:
		f.state = inText
	case f.state == inString && r == 0x1b:
		f.state = stringEscape
	case f.state == inString:
		if r == 0x07 || r == 0x9c {
			f.state = inText
		}
	case r == 0x1b:
		f.begin(afterEscape)
	case f.state == stringEscape && r == '\\':
		f.state = inText
	case f.state == afterEscape || f.state == stringEscape: // ESC ends a string, and begins a sequence
		f.afterEscape(r)
	case f.state == inEscape && r >= 0x30, f.state == inControl && r >= 0x40:
		f.state = inText
	}
}

func (f *controlFilter) afterEscape(r rune) {
	switch {
	case r == '[':
		f.state = inControl
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		f.state = inString
	case r >= 0x20 && r < 0x30:
		f.state = inEscape
	default:
		f.state = inText
	}
}

// Close writes what is left: an incomplete character, or the line break of a last carriage return.
func (f *controlFilter) Close() error {
	var out bytes.Buffer
	for range f.partial {
		f.next(&out, utf8.RuneError)
	}
	if f.pending && f.state == inText {
		out.WriteByte('\n')
	}
	f.partial, f.pending = nil, false
	_, err := f.w.Write(out.Bytes())
	return err
}
