package rota

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

func eachItem[T any](items []T, check func(*T) *Error) error {
	if err := checkCount("items", len(items), 1, ItemsMax); err != nil {
		return err
	}
	for i := range items {
		if err := check(&items[i]); err != nil {
			return within(fmt.Sprintf("items[%d]", i), err)
		}
	}
	return nil
}

// within prefixes the field that err names with a path.
func within(path string, err error) error {
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	inner := *e
	inner.Field = path
	if e.Field != "" {
		inner.Field += "." + e.Field
	}
	return &inner
}

func first(errs ...*Error) *Error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// asError converts a nil *Error to a nil error.
func asError(err *Error) error {
	if err == nil {
		return nil
	}
	return err
}

func asType(err error) *Error {
	if err == nil {
		return nil
	}
	return err.(*Error)
}

func checkCount(field string, n, low, high int) error {
	if n < low || n > high {
		return Invalidf(field, "has %d entries; allowed are %d to %d", n, low, high)
	}
	return nil
}

func checkID(field string, id ID) *Error {
	if id.IsZero() {
		return Invalidf(field, "is empty")
	}
	return nil
}

// checkNewID requires that the id of something new is a UUIDv7, which sorts by
// time.
func checkNewID(field string, id ID) *Error {
	if id.IsZero() {
		return Invalidf(field, "is empty; use NewID, or NewMeta for the head of a command")
	}
	if id[6]>>4 != 7 || id[8]>>6 != 2 {
		return Invalidf(field, "%s is not a UUIDv7", id)
	}
	return nil
}

// checkName allows the characters that need no quoting in a URL, a SQL text and a
// metric label.
func checkName(field, name string, required bool) *Error {
	switch {
	case name == "" && required:
		return Invalidf(field, "is empty")
	case len(name) > NameMax:
		return Invalidf(field, "has %d bytes; at most %d are allowed", len(name), NameMax)
	}
	for i := 0; i < len(name); i++ {
		if !nameByte[name[i]] {
			bad, _ := utf8.DecodeRuneInString(name[i:])
			return Invalidf(field, "%s contains %q; allowed are letters, digits and . _ - : / @ #", quote(name), bad)
		}
	}
	return nil
}

// checkNewName also refuses . and .., which clients and proxies remove from a URL, so that no request reaches what has
// such a name. Only commands that declare something use it: what an earlier version declared must still fire, and it can be
// dropped.
func checkNewName(field, name string) *Error {
	if name == "." || name == ".." {
		return Invalidf(field, "is %s, which a URL cannot contain as a name; choose another name", quote(name))
	}
	return checkName(field, name, true)
}

var nameByte = func() (ok [256]bool) {
	for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-:/@#" {
		ok[c] = true
	}
	return ok
}()

func checkText(field, text string, most int) *Error {
	if len(text) > most {
		return Invalidf(field, "has %d bytes; at most %d are allowed", len(text), most)
	}
	return checkUTF8(field, text)
}

// checkUTF8 also refuses NUL, which PostgreSQL cannot store in a text.
func checkUTF8(field, text string) *Error {
	if !utf8.ValidString(text) {
		return Invalidf(field, "is not UTF-8 text")
	}
	if strings.IndexByte(text, 0) >= 0 {
		return Invalidf(field, "contains a NUL byte")
	}
	return nil
}

func checkInt(field string, n, low, high int) *Error {
	if n < low || n > high {
		return Invalidf(field, "is %d; allowed are %d to %d", n, low, high)
	}
	return nil
}

func checkIntPtr(field string, n *int, low, high int) *Error {
	if n == nil {
		return nil
	}
	return checkInt(field, *n, low, high)
}

// checkDuration also refuses a duration that would be truncated to zero, since
// that is usually a mistake.
func checkDuration(field string, d, low, high time.Duration) *Error {
	if d > 0 && d < time.Microsecond {
		return Invalidf(field, "is %s; the shortest duration that is stored is 1µs", d)
	}
	if d < low || d > high {
		return Invalidf(field, "is %s; allowed are %s to %s", FormatDuration(d), FormatDuration(low), FormatDuration(high))
	}
	return nil
}

func checkDurationPtr(field string, d *time.Duration, low, high time.Duration) *Error {
	if d == nil {
		return nil
	}
	return checkDuration(field, *d, low, high)
}

func checkFraction(field string, f *float64) *Error {
	if f != nil && (math.IsNaN(*f) || *f < 0 || *f > 1) {
		return Invalidf(field, "is %v; it is a fraction of the delay, 0 to 1", *f)
	}
	return nil
}

func checkTime(field string, t time.Time) *Error {
	if t.IsZero() {
		return nil
	}
	if y := t.UTC().Year(); y < 1970 || y > YearMax {
		return Invalidf(field, "is in the year %d; allowed are 1970 to %d", y, YearMax)
	}
	return nil
}

func checkJSON(field string, doc json.RawMessage, most int) *Error {
	switch {
	case doc == nil:
		return nil
	case len(doc) > most:
		return Invalidf(field, "has %d bytes; at most %d are allowed", len(doc), most)
	case len(doc) > DepthMax && JSONDepth(doc) > DepthMax: // a shorter text cannot be that deep
		return Invalidf(field, "is nested more than %d deep", DepthMax)
	case !gjson.ValidBytes(doc):
		return Invalidf(field, "is not JSON")
	case !utf8.Valid(doc):
		return Invalidf(field, "is not UTF-8 text")
	}
	return nil
}

// JSONDepth returns how deep lists and objects are nested in a JSON text. It reads
// the text once, without recursion.
func JSONDepth(doc []byte) (most int) {
	depth, quoted := 0, false
	for i := 0; i < len(doc); i++ {
		switch c := doc[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

// checkObject requires a JSON object, since params are merged key by key, in which every reader finds the same values.
func checkObject(field string, doc json.RawMessage, most int) *Error {
	if err := checkJSON(field, doc, most); err != nil || doc == nil {
		return err
	}
	if bytes.TrimLeft(doc, " \t\r\n")[0] != '{' {
		return Invalidf(field, "is not a JSON object")
	}
	return checkMembers(field, doc)
}

func checkPaths(field string, paths []string) *Error {
	if len(paths) > ArtifactMax {
		return Invalidf(field, "has %d entries; at most %d are allowed", len(paths), ArtifactMax)
	}
	for i, p := range paths {
		at := fmt.Sprintf("%s[%d]", field, i)
		if p == "" {
			return Invalidf(at, "is empty")
		}
		if err := checkText(at, p, PathMax); err != nil {
			return err
		}
	}
	return nil
}

func checkOneOf[T ~string](field string, value T, allowed ...T) *Error {
	for _, a := range allowed {
		if value == a {
			return nil
		}
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	return Invalidf(field, "is %s; allowed are %s", quote(string(value)), strings.Join(names, ", "))
}

// checkWord allows the listed values and the empty value.
func checkWord[T ~string](field string, value T, allowed ...T) *Error {
	if value == "" {
		return nil
	}
	return checkOneOf(field, value, allowed...)
}
