package mask_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/rotajobs/rota/internal/mask"
)

// TestStringsOfADocumentAreMasked: what an escape stands for may begin another escape. What has no value stays as it was written.
func TestStringsOfADocumentAreMasked(t *testing.T) {
	var s mask.Set
	s.Add(`it's "x"`)
	s.Add("password")
	for document, want := range map[string]string{
		`{"b": 1.50,"a":"\u0041"}`:                `{"b": 1.50,"a":"\u0041"}`,
		`["it\u0026#39;s \u0026quot;x&#34;"]`:     `["***"]`,
		`{"it%27s+%22x%22":"pass"}`:               `{"***":"pass"}`,
		`"{\"a\":\"it\\u0026apos;s \\\"x\\\"\"}"`: `"{\"a\":\"***\"}"`,
		`["password\\"]`:                          `["***\\"]`,
		`12`:                                      `12`,
	} {
		if !json.Valid([]byte(document)) {
			t.Fatalf("%s is no document", document)
		}
		if got := string(s.JSON([]byte(document))); got != want {
			t.Errorf("%s is %s, want %s", document, got, want)
		}
	}
}

// TestReplacedBytesAreMasked: encoders of JSON and stores of texts replace bytes that are not UTF-8.
func TestReplacedBytesAreMasked(t *testing.T) {
	const value = "k\xff\xfe-\x80key"
	var s mask.Set
	s.Add(value)
	quoted, _ := json.Marshal("a " + value + " b")
	for _, text := range []string{string(quoted), strings.ToValidUTF8("\"a "+value+" b\"", "\uFFFD"), `"a k\xff\xfe-\x80key b"`} {
		if got := s.String(text); got != `"a *** b"` {
			t.Errorf("%q is %q", text, got)
		}
	}
}
