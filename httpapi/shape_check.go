package httpapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rotajobs/rota"
)

// checker walks a body that is JSON and notes where it departs from its shape.
type checker struct {
	data []byte
	errs []FieldError
}

// checkShape says which fields of a valid JSON text are wrong.
func checkShape(data []byte, s *shape) []FieldError {
	c := checker{data: data}
	c.value(0, s, "")
	return c.errs
}

func (c *checker) refuse(path, reason string) {
	if len(c.errs) < errorsMax {
		c.errs = append(c.errs, FieldError{Field: path, Reason: reason})
	}
}

// value looks at the value that begins at or after i, and returns where it ends.
// Null is as good as left out.
func (c *checker) value(i int, s *shape, path string) int {
	i = c.space(i)
	end := c.skip(i)
	text := c.data[i:end]
	if string(text) == "null" {
		return end
	}
	if !s.form.begins(text[0]) {
		c.refuse(path, "is not "+words[s.form])
		return end
	}
	switch s.form {
	case formObject, formMap:
		c.object(i, s, path)
	case formList:
		c.list(i, s.elem, path)
	case formInteger:
		if _, err := strconv.ParseInt(string(text), 10, 64); err != nil {
			c.refuse(path, notWhole(path))
		}
	case formNumber:
		if _, err := strconv.ParseFloat(string(text), 64); err != nil {
			c.refuse(path, "is too large a number")
		}
	case formTime, formDuration, formID:
		c.word(text, s.form, path)
	}
	return end
}

// ranges are what fields take that people write large numbers into.
var ranges = map[string][2]int{
	"priority": {rota.PriorityMin, rota.PriorityMax}, "max_retries": {0, rota.MaxRetriesMax},
}

// notWhole is about a number that is no whole one, is not written in digits
// alone, or has too many of them.
func notWhole(path string) string {
	reason := "is not a whole number in digits that can be counted with"
	if r, known := ranges[path[strings.LastIndexByte(path, '.')+1:]]; known {
		reason = fmt.Sprintf("is not a whole number in digits; allowed are %d to %d", r[0], r[1])
	}
	return reason
}

// begins reports whether a value with this first byte can have the form.
func (f form) begins(first byte) bool {
	switch f {
	case formObject, formMap, formDocument:
		return first == '{'
	case formList:
		return first == '['
	case formText, formTime, formDuration, formID:
		return first == '"'
	case formInteger, formNumber:
		return first == '-' || first >= '0' && first <= '9'
	case formFlag:
		return first == 't' || first == 'f'
	}
	return true
}

// word looks at a text that has a meaning.
func (c *checker) word(text []byte, f form, path string) {
	var word string
	_ = json.Unmarshal(text, &word) // it is valid
	var err error
	switch f {
	case formTime:
		_, err = parseTime(word)
	case formDuration:
		_, err = rota.ParseDuration(word)
	case formID:
		if word == "" {
			return
		}
		_, err = rota.ParseID(word)
	}
	var refusal *rota.Error
	switch {
	case f == formDuration && errors.As(err, &refusal):
		c.refuse(path, refusal.Reason) // which knows a length that is too long from what is none
	case err != nil:
		c.refuse(path, "is not "+words[f])
	}
}

func (c *checker) object(i int, s *shape, path string) {
	seen := make(map[string]bool, 8)
	for i = c.space(i + 1); c.data[i] != '}'; i = c.space(i) {
		end := c.skip(i)
		var name string
		_ = json.Unmarshal(c.data[i:end], &name) // it is valid
		at := joinPath(path, name)
		field := s.elem
		if s.form == formObject {
			field = s.fields[name]
		}
		i = c.space(end) + 1 // past the colon
		switch {
		case field == nil:
			c.unknown(s, path, name)
			i = c.skip(c.space(i))
		case seen[name]:
			c.refuse(at, "is given twice")
			i = c.skip(c.space(i))
		default:
			i = c.value(i, field, at)
		}
		seen[name] = true
		i = c.comma(i)
	}
}

func (c *checker) list(i int, elem *shape, path string) {
	n := 0
	for i = c.space(i + 1); c.data[i] != ']'; i = c.space(i) {
		i = c.comma(c.value(i, elem, path+"["+strconv.Itoa(n)+"]"))
		n++
	}
}

func (c *checker) unknown(s *shape, path, name string) {
	reason := "is not a field of this request"
	if meant := s.nearest(name); meant != "" {
		reason += "; did you mean " + meant + "?"
	}
	c.refuse(joinPath(path, name), reason)
}

// joinPath writes where a field is. Names come from the request: long ones are
// cut.
func joinPath(path, name string) string {
	const shown = 64
	if len(name) > shown {
		name = strings.ToValidUTF8(name[:shown], "") + "…"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func (c *checker) space(i int) int {
	for i < len(c.data) && (c.data[i] == ' ' || c.data[i] == '\n' || c.data[i] == '\t' || c.data[i] == '\r') {
		i++
	}
	return i
}

func (c *checker) comma(i int) int {
	if i = c.space(i); c.data[i] == ',' {
		i++
	}
	return i
}

// skip returns where the value at i ends.
func (c *checker) skip(i int) int {
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
			if depth < 0 { // the end of what a number or a word stands in
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

// skipText returns where the closing quote of the text at i is.
func (c *checker) skipText(i int) int {
	for i++; c.data[i] != '"'; i++ {
		if c.data[i] == '\\' {
			i++
		}
	}
	return i
}
