package action

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
)

// Expect is the set of statuses that are a success. In JSON it is a status
// (204), a word for a hundred of them ("2xx"), or a list of both. Empty means 2xx.
type Expect []Statuses

// Statuses is a range: one status, or a class such as 2xx.
type Statuses struct{ Low, High int }

// Has reports whether a status is expected.
func (e Expect) Has(status int) bool {
	if len(e) == 0 {
		return status >= 200 && status <= 299
	}
	return slices.ContainsFunc(e, func(s Statuses) bool { return status >= s.Low && status <= s.High })
}

// String formats the statuses for messages.
func (e Expect) String() string {
	if len(e) == 0 {
		return "2xx"
	}
	words := make([]string, len(e))
	for i, s := range e {
		words[i] = s.String()
	}
	return strings.Join(words, ", ")
}

// String formats one status as a number and a class as 2xx.
func (s Statuses) String() string {
	if s.Low == s.High {
		return strconv.Itoa(s.Low)
	}
	return strconv.Itoa(s.Low/100) + "xx"
}

// MarshalJSON writes a list.
func (e Expect) MarshalJSON() ([]byte, error) {
	list := make([]any, len(e))
	for i, s := range e {
		if list[i] = s.String(); s.Low == s.High {
			list[i] = s.Low
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads one or a list.
func (e *Expect) UnmarshalJSON(text []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(text, &parts); err != nil {
		parts = []json.RawMessage{text}
	}
	*e = nil
	for _, part := range parts {
		word := strings.Trim(string(part), `"`)
		if word == "null" {
			continue
		}
		s, err := parseStatuses(word)
		if err != nil {
			return err
		}
		*e = append(*e, s)
	}
	return nil
}

func parseStatuses(word string) (Statuses, error) {
	if hundred, is := strings.CutSuffix(word, "xx"); is && len(hundred) == 1 && hundred[0] >= '1' && hundred[0] <= '5' {
		low := int(hundred[0]-'0') * 100
		return Statuses{low, low + 99}, nil
	}
	n, err := strconv.Atoi(word)
	if err != nil || n < statusMin || n > statusMax {
		return Statuses{}, fmt.Errorf("%s is not a status; write one such as 204 or 2xx", quoteShort(word))
	}
	return Statuses{n, n}, nil
}

const (
	statusMin = 100
	statusMax = 599
)

// JSONSchema is the schema of all forms.
func (Expect) JSONSchema() *jsonschema.Schema {
	number := &jsonschema.Schema{Type: "integer", Minimum: json.Number(strconv.Itoa(statusMin)), Maximum: json.Number(strconv.Itoa(statusMax))}
	word := &jsonschema.Schema{Type: "string", Enum: []any{"1xx", "2xx", "3xx", "4xx", "5xx"}}
	one := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{number, word}}
	most := uint64(100)
	list := &jsonschema.Schema{Type: "array", Items: one, MaxItems: &most}
	return &jsonschema.Schema{
		AnyOf:       []*jsonschema.Schema{number, word, list, {Type: "null"}},
		Description: "which statuses are a success: 204, 2xx, or a list; default 2xx",
	}
}
