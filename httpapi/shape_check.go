package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
)

// checker walks valid JSON and records where it differs from its shape.
type checker struct {
	data []byte
	errs []api.FieldError

	empty string // path of the first text that must not be empty and is; empty: none
}

// checkShape checks the fields of a valid JSON text. An invalid field is 422, an empty filter 400 as in a query string.
func checkShape(data []byte, s *shape) error {
	c := checker{data: data}
	c.value(0, s, "")
	switch {
	case len(c.errs) > 0:
		return problem.Fields(c.errs)
	case c.empty != "":
		return problem.Malformed(c.empty, "is empty; omit it to select all")
	}
	return nil
}

func (c *checker) addError(path, reason string) {
	if len(c.errs) < problem.Max {
		c.errs = append(c.errs, api.FieldError{Field: path, Reason: reason})
	}
}

// value checks the value that starts at or after i, and returns its end. Null counts as omitted.
func (c *checker) value(i int, s *shape, path string) int {
	i = c.skipSpace(i)
	end := c.skipValue(i)
	text := c.data[i:end]
	if string(text) == "null" {
		return end
	}
	if !s.form.canStartWith(text[0]) {
		c.addError(path, "is not "+formNames[s.form])
		return end
	}
	if s.filled && string(text) == `""` && c.empty == "" {
		c.empty = path
	}
	switch s.form {
	case formObject, formMap:
		c.object(i, s, path)
	case formList:
		c.list(i, s.elem, path)
	case formInteger:
		if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			c.addError(path, integerReason(path))
		}
	case formNumber:
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			c.addError(path, "is too large")
		}
	case formTime, formDuration, formID:
		c.text(text, s, path)
	}
	return end
}

// integerRanges are the ranges of fields in which large numbers are common.
var integerRanges = map[string][2]int{
	"priority": {rota.PriorityMin, rota.PriorityMax}, "max_retries": {0, rota.MaxRetriesMax},
}

// integerReason is the reason for a number that is not an integer, is not written in plain digits, or
// is too large.
func integerReason(path string) string {
	reason := "is not an integer, or is too large"
	if r, known := integerRanges[path[strings.LastIndexByte(path, '.')+1:]]; known {
		reason = fmt.Sprintf("is not an integer; allowed are %d to %d", r[0], r[1])
	}
	return reason
}

// canStartWith reports whether a value of the form can start with a byte.
func (f form) canStartWith(first byte) bool {
	return formStarts[f] == "" || strings.IndexByte(formStarts[f], first) >= 0
}

// formStarts has the first bytes of the values of a form; empty: any byte.
var formStarts = [...]string{
	formObject: "{", formMap: "{", formDocument: "{", formList: "[", formText: `"`, formTime: `"`, formDuration: `"`, formID: `"`,
	formInteger: "-0123456789", formNumber: "-0123456789", formFlag: "tf", formName: "",
}

// text checks a string that has a format.
func (c *checker) text(text []byte, s *shape, path string) {
	f := s.form
	var word string
	_ = json.Unmarshal(text, &word) // the JSON is valid
	var err error
	switch f {
	case formTime:
		_, err = api.ParseTime(word)
	case formDuration:
		_, err = rota.ParseDuration(word)
	case formID:
		if word == "" {
			return
		}
		var id rota.ID
		if id, err = rota.ParseID(word); err == nil && id.IsZero() && s.filled { // the value of a filter that is not given
			err = rota.Invalidf(path, "is zero")
		}
	}
	var refusal *rota.Error
	switch {
	case f == formDuration && errors.As(err, &refusal):
		c.addError(path, refusal.Reason) // it distinguishes a duration that is too long from an invalid one
	case err != nil:
		c.addError(path, "is not "+formNames[f])
	}
}

func (c *checker) object(i int, s *shape, path string) {
	seen := make(map[string]bool, 8)
	for i = c.skipSpace(i + 1); c.data[i] != '}'; i = c.skipSpace(i) {
		end := c.skipValue(i)
		var name string
		_ = json.Unmarshal(c.data[i:end], &name) // the JSON is valid
		at := api.FieldPath(path, name)
		field := s.elem
		if s.form == formObject {
			field = s.fields[name]
		}
		i = c.skipSpace(end) + 1 // past the colon
		switch {
		case field == nil:
			c.unknownField(s, path, name)
			i = c.skipValue(c.skipSpace(i))
		case seen[name]:
			c.addError(at, "is given twice")
			i = c.skipValue(c.skipSpace(i))
		default:
			i = c.value(i, field, at)
		}
		seen[name] = true
		i = c.skipComma(i)
	}
}

func (c *checker) list(i int, elem *shape, path string) {
	n := 0
	for i = c.skipSpace(i + 1); c.data[i] != ']'; i = c.skipSpace(i) {
		i = c.skipComma(c.value(i, elem, path+"["+strconv.Itoa(n)+"]"))
		n++
	}
}

func (c *checker) unknownField(s *shape, path, name string) {
	reason := "is not a field of this request"
	if meant := s.nearest(name); meant != "" {
		reason += "; did you mean " + meant + "?"
	}
	c.addError(api.FieldPath(path, name), reason)
}

func (c *checker) skipSpace(i int) int {
	for i < len(c.data) && (c.data[i] == ' ' || c.data[i] == '\n' || c.data[i] == '\t' || c.data[i] == '\r') {
		i++
	}
	return i
}

func (c *checker) skipComma(i int) int {
	if i = c.skipSpace(i); c.data[i] == ',' {
		i++
	}
	return i
}

// skipValue returns the end of the value at i.
func (c *checker) skipValue(i int) int {
	depth := 0
	for ; i < len(c.data); i++ {
		switch c.data[i] {
		case '"':
			i = c.skipText(i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 { // end of the object or list that contains the value
				return i
			}
		case ',', ' ', '\n', '\t', '\r', ':':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// skipText returns the position of the closing quote of the text at i.
func (c *checker) skipText(i int) int {
	for i++; c.data[i] != '"'; i++ {
		if c.data[i] == '\\' {
			i++
		}
	}
	return i
}
