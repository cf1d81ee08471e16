package action

import (
	"encoding/hex"
	"encoding/json"
	"testing"
)

func hexOf(b []byte) string { return hex.EncodeToString(b) }

func TestExpectMatchesListedStatuses(t *testing.T) {
	for text, test := range map[string]struct {
		accepted, refused []int
		encoded           string
	}{
		`null`:                {[]int{200, 204, 299}, []int{199, 300, 404}, `[]`},
		`[]`:                  {[]int{200}, []int{404}, `[]`},
		`204`:                 {[]int{204}, []int{200, 205}, `[204]`},
		`"2xx"`:               {[]int{200, 299}, []int{199, 300}, `["2xx"]`},
		`[200, "4xx", "503"]`: {[]int{200, 400, 499, 503}, []int{201, 500}, `[200,"4xx",503]`},
	} {
		var e Expect
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		for _, n := range test.accepted {
			if !e.Has(n) {
				t.Errorf("%s does not accept %d", text, n)
			}
		}
		for _, n := range test.refused {
			if e.Has(n) {
				t.Errorf("%s accepts %d", text, n)
			}
		}
		if encoded, err := json.Marshal(e); err != nil || string(encoded) != test.encoded {
			t.Errorf("%s is encoded as %s, %v", text, encoded, err)
		}
	}
	for _, text := range []string{`"ok"`, `99`, `600`, `"6xx"`, `"2x"`, `{}`, `[[200]]`, `2.5`, `true`} {
		var e Expect
		if err := json.Unmarshal([]byte(text), &e); err == nil {
			t.Errorf("%s is accepted as %v", text, e)
		}
	}
}
