package catalog

import (
	"sync"

	"github.com/rotajobs/rota/sql/kind"
)

// typ is one of PostgreSQL's types. The fields are those of pg_type.
type typ struct {
	oid, array, length, space int64
	name                      string
	byval, notnull            bool
	align, storage            string
	elem, base, typmod        int64
	collation, subscript      int64
}

// arraySubscript is the function that all arrays have as typsubscript.
const arraySubscript = 6179

// typeIndex finds types by OID and name.
type typeIndex struct {
	all    []*typ
	byOID  map[int64]*typ
	byName map[string]*typ // by name in pg_type
}

var allTypes = sync.OnceValue(func() *typeIndex {
	b := &typeIndex{byOID: map[int64]*typ{}, byName: map[string]*typ{}}
	for _, r := range readData("pg_type").rows {
		t := &typ{
			oid: r.number("oid"), array: r.number("typarray"), length: r.number("typlen"), space: r.number("typnamespace"),
			name: r.text("typname"), byval: r.bool("typbyval"), notnull: r.bool("typnotnull"), align: r.text("typalign"),
			storage: r.text("typstorage"), elem: r.number("typelem"), base: r.number("typbasetype"), typmod: r.number("typtypmod"),
			collation: r.number("typcollation"), subscript: r.number("typsubscript"),
		}
		b.all = append(b.all, t)
		b.byOID[t.oid] = t
		b.byName[t.name] = t
	}
	return b
})

// isArray reports whether the type is an array and not a vector.
func (t *typ) isArray() bool { return t.elem != 0 && t.subscript == arraySubscript && t.storage != "p" }

// root is the base type of a domain.
func (t *typ) root() *typ {
	for t.base != 0 {
		t = allTypes().byOID[t.base]
	}
	return t
}

// kind is the kind that stores the values of the type. Types without a kind are stored as text.
func (t *typ) kind() kind.Kind {
	t = t.root()
	if k, known := kind.OfOID(uint32(t.oid)); known {
		return k
	}
	if t.isArray() {
		return allTypes().byOID[t.elem].kind().Array()
	}
	return kind.Text
}
