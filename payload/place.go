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

// place is where something stands in a document. It is written out only if
// something is wrong there.
type place struct {
	root   string // params or schema
	parent *place
	name   string
	index  int
	list   bool
}

func (p place) key(name string) place { return place{root: p.root, parent: &p, name: name} }

func (p place) item(i int) place { return place{root: p.root, parent: &p, index: i, list: true} }

// String is the place as a path, such as params.items[2].to.
func (p place) String() string {
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

// pointer is the place as a JSON pointer.
func (p place) pointer() string {
	text := ""
	for at := &p; at.parent != nil; at = at.parent {
		step := strconv.Itoa(at.index)
		if !at.list {
			step = escaped(at.name)
		}
		text = "/" + step + text
	}
	return text
}

// escaped is a name as a step of a JSON pointer.
func escaped(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

func (p *place) step() string {
	if p.list {
		return "[" + strconv.Itoa(p.index) + "]"
	}
	return keyStep(p.name)
}

// pathOf is the path of tokens: the keys and indexes that lead to a value.
func pathOf(root string, document any, tokens []string) string {
	var b strings.Builder
	b.WriteString(root)
	for _, token := range tokens {
		if list, is := document.([]any); is {
			b.WriteString("[" + shown(token) + "]")
			document = entry(list, token)
			continue
		}
		b.WriteString(keyStep(token))
		object, _ := document.(map[string]any)
		document = object[token]
	}
	return b.String()
}

// keyStep writes a key plainly where it can be read so.
func keyStep(key string) string {
	plain := key != "" && len(key) <= shownMost
	for _, c := range key {
		if c != '_' && c != '-' && c != '$' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && (c < 0x80 || c == utf8.RuneError) {
			plain = false
		}
	}
	if plain {
		return "." + key
	}
	return "[" + show(key) + "]"
}

// valueAt is the value that tokens lead to, or nil.
func valueAt(document any, tokens []string) any {
	for _, token := range tokens {
		switch v := document.(type) {
		case map[string]any:
			document = v[token]
		case []any:
			document = entry(v, token)
		default:
			return nil
		}
	}
	return document
}

// tokensOf are the keys and indexes of the pointer in a URL.
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

// findKey leads to the first key of a name.
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

// comparePaths orders paths as people do: [2] before [10].
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

// digits are those that a text begins with.
func digits(text string) string { return text[:len(text)-len(strings.TrimLeft(text, "0123456789"))] }

func entry(list []any, token string) any {
	i, err := strconv.Atoi(token)
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// shownMost is how much of a value that somebody gave is shown to others.
const shownMost = 64

// shown is text that does not flood the reader.
func shown(text string) string {
	if len(text) <= shownMost {
		return text
	}
	cut := shownMost
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// show is text in quotes that does not flood the reader.
func show(text string) string {
	if short := shown(text); short != text {
		return strconv.Quote(strings.TrimSuffix(short, "…")) + "…"
	}
	return strconv.Quote(text)
}
