package payload

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"unicode"
)

// field is a field of a struct as encoding/json writes it.
type field struct {
	name     string // in JSON
	owner    string // in Go, for errors: Message.To
	index    []int
	typ      reflect.Type
	tag      string // jsonschema:"…"
	tags     reflect.StructTag
	named    bool // the tag has its JSON name
	optional bool // may be missing in JSON
	quoted   bool // a number or a boolean that is encoded as text
}

// level is a struct whose fields are read: the type itself, or one embedded in it.
type level struct {
	typ     reflect.Type
	index   []int
	pointer bool // embedded by a pointer; if that is nil, its fields are not encoded
}

// fieldsOf are the fields of a struct type, by the rules of encoding/json. Embedded
// structs are flattened. Of two fields with one name the shallower one counts, else
// the one with a name in its tag, else neither.
func fieldsOf(t reflect.Type) []field {
	var all []field
	next, nextCount := []level{{typ: t}}, map[reflect.Type]int{}
	visited := map[reflect.Type]bool{}
	for len(next) > 0 {
		current, count := next, nextCount
		next, nextCount = nil, map[reflect.Type]int{}
		for _, l := range current {
			if visited[l.typ] {
				continue
			}
			visited[l.typ] = true
			for i := range l.typ.NumField() {
				f, embedded := readField(l, i)
				switch {
				case embedded != nil:
					if nextCount[embedded.typ]++; nextCount[embedded.typ] == 1 {
						next = append(next, *embedded)
					}
				case f != nil && count[l.typ] > 1: // embedded twice on one level: ambiguous, so neither counts
					all = append(all, *f, *f)
				case f != nil:
					all = append(all, *f)
				}
			}
		}
	}
	return dominant(all)
}

// readField reads field i, or returns the struct it embeds.
func readField(l level, i int) (*field, *level) {
	sf := l.typ.Field(i)
	elem := sf.Type
	if elem.Name() == "" && elem.Kind() == reflect.Pointer {
		elem = elem.Elem()
	}
	tag := sf.Tag.Get("json")
	if tag == "-" || !sf.IsExported() && !(sf.Anonymous && elem.Kind() == reflect.Struct) {
		return nil, nil
	}
	name, options, _ := strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	index := append(slices.Clone(l.index), i)
	if name == "" && sf.Anonymous && elem.Kind() == reflect.Struct {
		return nil, &level{typ: elem, index: index, pointer: l.pointer || sf.Type.Kind() == reflect.Pointer}
	}
	given := strings.Split(options, ",")
	f := &field{
		name: cmp.Or(name, sf.Name), owner: truncated(l.typ.String()) + "." + sf.Name, index: index, typ: sf.Type, named: name != "",
		tag: sf.Tag.Get("jsonschema"), tags: sf.Tag,
		optional: l.pointer || slices.Contains(given, "omitempty") || slices.Contains(given, "omitzero"),
		quoted:   slices.Contains(given, "string") && quotable(elem.Kind()),
	}
	return f, nil
}

// dominant keeps for each name the field that is encoded, in the order of the
// struct.
func dominant(all []field) []field {
	slices.SortStableFunc(all, func(a, b field) int {
		return cmp.Or(strings.Compare(a.name, b.name), cmp.Compare(len(a.index), len(b.index)), compareBool(b.named, a.named))
	})
	var kept []field
	for i := 0; i < len(all); {
		j := i + 1
		for j < len(all) && all[j].name == all[i].name {
			j++
		}
		if j == i+1 || len(all[i].index) != len(all[i+1].index) || all[i].named != all[i+1].named {
			kept = append(kept, all[i])
		}
		i = j
	}
	slices.SortFunc(kept, func(a, b field) int { return slices.Compare(a.index, b.index) })
	return kept
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// quotable are the kinds that the option "string" of a tag applies to.
func quotable(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 || k == reflect.String
}

// validName reports whether encoding/json takes a name from a tag.
func validName(name string) bool {
	for _, c := range name {
		if !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", c) && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			return false
		}
	}
	return name != ""
}
