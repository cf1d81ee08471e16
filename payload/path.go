package payload

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// docPath is the path of a value in a document. It is formatted only for an error.
type docPath struct {
	root   string // params or schema
	parent *docPath
	name   string
	index  int
	list   bool
}

func (p docPath) key(name string) docPath { return docPath{root: p.root, parent: &p, name: name} }

func (p docPath) item(i int) docPath { return docPath{root: p.root, parent: &p, index: i, list: true} }

// String formats the path, such as params.items[2].to.
func (p docPath) String() string {
	if p.parent == nil {
		return p.root
	}
	var tail []string
	for at := &p; at.parent != nil; at = at.parent {
		tail = append(tail, at.step())
	}
	text := p.root
	for i := len(tail) - 1; i >= 0; i-- {
		text += tail[i]
	}
	return text
}

// pointer formats the path as a JSON pointer.
func (p docPath) pointer() string {
	text := ""
	for at := &p; at.parent != nil; at = at.parent {
		step := strconv.Itoa(at.index)
		if !at.list {
			step = pointerToken(at.name)
		}
		text = "/" + step + text
	}
	return text
}

// pointerToken escapes a name for a JSON pointer.
func pointerToken(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func (p *docPath) step() string {
	if p.list {
		return "[" + strconv.Itoa(p.index) + "]"
	}
	return keyStep(p.name)
}

// pathOf formats the path given by tokens, which are keys and indexes.
func pathOf(root string, document any, tokens []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, token := range tokens {
		if list, is := document.([]any); is {
			b.WriteString("[" + truncated(token) + "]")
			document = listEntry(list, token)
			continue
		}
		b.WriteString(keyStep(token))
		object, _ := document.(map[string]any)
		document = object[token]
	}
	return b.String()
}

// keyStep formats a key as .key, or as ["key"] if it has unusual characters.
func keyStep(key string) string {
	simple := key != "" && len(key) <= truncatedBytes
	for _, c := range key {
		if c != '_' && c != '-' && c != '$' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < 0x80 || c == utf8.RuneError) {
			simple = false
		}
	}
	if simple {
		return "." + key
	}
	return "[" + quoteTruncated(key) + "]"
}

// valueAt is the value at the path given by tokens, or nil.
func valueAt(document any, tokens []string) any {
	for _, token := range tokens {
		switch v := document.(type) {
		case map[string]any:
			document = v[token]
		case []any:
			document = listEntry(v, token)
		default:
			return nil
		}
	}
	return document
}

// tokensOf are the keys and indexes of the JSON pointer in a URL.
func tokensOf(target string) []string {
	_, fragment, _ := strings.Cut(target, "#")
	pointer, err := url.PathUnescape(fragment)
	if err != nil || pointer == "" {
		return nil
	}
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i, token := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
	}
	return tokens
}

// findKey finds the first key of a name.
func findKey(document any, key string) (tokens []string, found bool) {
	switch v := document.(type) {
	case map[string]any:
		if _, is := v[key]; is {
			return []string{key}, true
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if tokens, found := findKey(v[name], key); found {
				return append([]string{name}, tokens...), true
			}
		}
	case []any:
		for i, item := range v {
			if tokens, found := findKey(item, key); found {
				return append([]string{strconv.Itoa(i)}, tokens...), true
			}
		}
	}
	return nil, false
}

// comparePaths orders paths with numbers by value: [2] before [10].
func comparePaths(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x != "" && y != "" {
			if order := cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y)); order != 0 {
				return order
			}
			a, b = a[len(x):], b[len(y):]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

// digits returns the leading digits of a text.
func digits(text string) string { return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))] }

func listEntry(list []any, token string) any {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// truncatedBytes is how many bytes of a value an error repeats.
const truncatedBytes = 64

// truncated shortens a text for an error.
func truncated(text string) string {
	if len(text) <= truncatedBytes {
		return text
	}
	cut := truncatedBytes
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// quoteTruncated shortens a text for an error and quotes it.
func quoteTruncated(text string) string {
	if short := truncated(text); short != text {
		return strconv.Quote(strings.TrimSuffix(short, "…")) + "…"
	}
	return strconv.Quote(text)
}
