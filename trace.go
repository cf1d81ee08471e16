package rota

import (
	"fmt"
	"strings"
)

// ValidTrace reports whether a text is a traceparent of W3C Trace Context, version 00,
// with a trace id and a span id that are not zero.
func ValidTrace(text string) bool { return traceProblem(text) == "" }

// The parts of a traceparent, such as
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, and their lengths.
var traceParts = []struct {
	name   string
	length int
}{{"version", 2}, {"trace id", 32}, {"span id", 16}, {"flag", 2}}

// traceProblem returns what is wrong with a traceparent, or an empty text.
func traceProblem(text string) string {
	if len(text) != TraceMax {
		return fmt.Sprintf("has %d bytes instead of %d", len(text), TraceMax)
	}
	for _, part := range traceParts {
		digits := text[:part.length]
		switch {
		case strings.Trim(digits, "0123456789abcdef") != "":
			return "has a " + part.name + " that is not lower-case hexadecimal"
		case part.name == "version" && digits != "00":
			return "has the version " + digits + "; only 00 is supported"
		case part.length >= 16 && strings.Trim(digits, "0") == "":
			return "has a " + part.name + " of zeros"
		}
		if text = text[part.length:]; text == "" {
			break
		}
		if text[0] != '-' {
			return "has no dash after its " + part.name
		}
		text = text[1:]
	}
	return ""
}

// checkTrace accepts an empty text or a valid traceparent.
func checkTrace(field, text string) *Error {
	if text == "" {
		return nil
	}
	flaw := traceProblem(text)
	if flaw == "" {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(text) + " " + flaw,
		Hint: "omit it, or pass the traceparent header unchanged, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}
