package catalog

import (
	"strings"
	"sync"
)

// typ is one of PostgreSQL's types. The fields are those of pg_type.
type typ struct {
	oid    int64
	name   string
	array  int64
	length int64
	space  int64

	byval, preferred, notnull                            bool
	kind, category, delim, align, storage                string
	rel, elem, base, typmod, collation, subscript        int64
	input, output, receive, send, modin, modout, analyze int64
}

// What arrays are read and written by.
const (
	arrayIn, arrayOut, arrayReceive, arraySend = 750, 751, 2400, 2401
	arrayAnalyze, arraySubscript               = 3816, 6179
)

// typeIndex finds types by OID and name.
type typeIndex struct {
	all             []*typ
	byOID           map[int64]*typ
	byName          map[string]*typ // by name in pg_type
	byFormattedName map[string]*typ // by the text of format_type, without a schema
}

var allTypes = sync.OnceValue(func() *typeIndex {
	b := &typeIndex{byOID: map[int64]*typ{}, byName: map[string]*typ{}, byFormattedName: map[string]*typ{}}
	for _, f := range splitLines(typeFacts) {
		b.add(readType(f))
	}
	for _, t := range b.all {
		if t.array != 0 && b.byOID[t.array] == nil { // that of records is among the facts, being like no other
			b.add(arrayOf(t))
		}
	}
	for _, t := range b.all {
		b.byFormattedName[strings.TrimPrefix(b.format(t.oid, nil, nil), standardSchema+".")] = t
	}
	b.byFormattedName["timestamptz"], b.byFormattedName["timestamp"], b.byFormattedName["time"] = b.byOID[1184], b.byOID[1114], b.byOID[1083]
	b.byFormattedName["timestamptz[]"] = b.byOID[1185]
	b.byFormattedName["varchar"], b.byFormattedName["bpchar"] = b.byOID[1043], b.byOID[1042]
	return b
})

func (b *typeIndex) add(t *typ) {
	b.all = append(b.all, t)
	b.byOID[t.oid] = t
	b.byName[t.name] = t
}

// readType reads the fields of a type: oid, typname, typarray, typlen, typbyval,
// typtype, typcategory, typispreferred, typdelim, typrelid, typelem, the functions
// from typinput to typanalyze, typalign, typstorage, typnotnull, typbasetype,
// typtypmod, typcollation and typsubscript.
func readType(f []string) *typ {
	n := func(i int) int64 { return parseNumber(f[i]) }
	t := &typ{
		oid: n(0), name: f[1], array: n(2), length: n(3), byval: f[4] == "t", kind: f[5], category: f[6], preferred: f[7] == "t",
		delim: f[8], rel: n(9), elem: n(10), input: n(11), output: n(12), receive: n(13), send: n(14), modin: n(15), modout: n(16), analyze: n(17),
		align: f[18], storage: f[19], notnull: f[20] == "t", base: n(21), typmod: n(22), collation: n(23), subscript: n(24), space: catalogSpace,
	}
	if t.kind == "d" { // all of PostgreSQL's domains are of the standard's schema
		t.space = standardSpace
	}
	return t
}

// arrayOf creates the array type of a type.
func arrayOf(t *typ) *typ {
	align := "i"
	if t.align == "d" {
		align = "d"
	}
	return &typ{
		oid: t.array, name: "_" + t.name, length: -1, kind: "b", category: "A", delim: t.delim, elem: t.oid, align: align, storage: "x",
		input: arrayIn, output: arrayOut, receive: arrayReceive, send: arraySend, modin: t.modin, modout: t.modout, analyze: arrayAnalyze,
		typmod: -1, collation: t.collation, subscript: arraySubscript, space: t.space,
	}
}

// isArray reports whether the type is an array and not a vector.
func (t *typ) isArray() bool { return t.elem != 0 && t.subscript == arraySubscript && t.storage != "p" }

// root is the base type of a domain.
func (t *typ) root() *typ {
	for t.base != 0 {
		t = allTypes().byOID[t.base]
	}
	return t
}

func (b *builder) types() {
	for _, t := range allTypes().all {
		b.add("pg_type", "oid", t.oid, "typname", t.name, "typnamespace", t.space, "typowner", ownerRole, "typlen", t.length,
			"typbyval", t.byval, "typtype", t.kind, "typcategory", t.category, "typispreferred", t.preferred, "typisdefined", true,
			"typdelim", t.delim, "typrelid", t.rel, "typsubscript", t.subscript, "typelem", t.elem, "typarray", t.array, "typinput", t.input,
			"typoutput", t.output, "typreceive", t.receive, "typsend", t.send, "typmodin", t.modin, "typmodout", t.modout,
			"typanalyze", t.analyze, "typalign", t.align, "typstorage", t.storage, "typnotnull", t.notnull, "typbasetype", t.base,
			"typtypmod", t.typmod, "typndims", 0, "typcollation", t.collation)
	}
	b.addLines("pg_range", "rngtypid rngsubtype rngmultitypid rngcollation rngsubopc rngcanonical rngsubdiff", rangeFacts)
}
