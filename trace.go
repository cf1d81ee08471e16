package rota

import (
	"fmt"
	"strings"
)

// ValidTrace reports whether a text is a traceparent of W3C Trace Context, of
// version 00: the id of a trace, the id of a span, and flags. Ids of zeros are
// none.
func ValidTrace(text string) bool { return flawOfTrace(text) == "" }

// The parts of a traceparent, such as
// 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01, and their lengths.
var traceParts = []struct {
	name   string
	length int
}{{"version", 2}, {"trace id", 32}, {"span id", 16}, {"flag", 2}}

// flawOfTrace says what is wrong with a traceparent; empty: nothing.
func flawOfTrace(text string) string {
	if len(text) != TraceMax {
		return fmt.Sprintf("has %d bytes instead of %d", len(text), TraceMax)
	}
	for _, part := range traceParts {
		digits := text[:part.length]
		switch {
		case strings.Trim(digits, "0123456789abcdef") != "":
			return "has a " + part.name + " that is not written in digits and small letters a to f"
		case part.name == "version" && digits != "00":
			return "is of version " + digits + ", which this Rota does not know"
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

// checkTrace refuses what is no traceparent. A job may have none.
func checkTrace(field, text string) *Error {
	if text == "" {
		return nil
	}
	flaw := flawOfTrace(text)
	if flaw == "" {
		return nil
	}
	return &Error{
		Code: Invalid, Field: field, Reason: quote(text) + " " + flaw,
		Hint: "leave it out, or pass the header traceparent on as it came, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
	}
}
