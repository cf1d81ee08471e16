package dialect

import (
	"sort"
	"strings"
)

// normal is a document as jsonb has it: keys by their length and their letters, each of
// them once. With blanks it is as PostgreSQL shows it.
func normal(text string, blanks bool) (string, error) {
	v, err := decode(text)
	if err != nil {
		return "", err
	}
	arrange(v)
	var b strings.Builder
	blank := ""
	if blanks {
		blank = " "
	}
	put(&b, v, blank)
	return b.String(), nil
}

func arrange(v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			arrange(e)
		}
	case *object:
		sort.Slice(v.keys, func(i, j int) bool {
			a, b := v.keys[i], v.keys[j]
			if len(a) != len(b) {
				return len(a) < len(b)
			}
			return a < b
		})
		for _, e := range v.values {
			arrange(e)
		}
	}
}
