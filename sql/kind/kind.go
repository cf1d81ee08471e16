// Package kind names the SQL types of values, with the names and OIDs of PostgreSQL.
package kind

import "strings"

// Kind is the SQL type of a value. The name of an array type ends in [].
type Kind string

// The kinds. SQLite stores their values as follows:
//
//	numbers, booleans (0 and 1), ids of the catalogue   as numbers
//	texts, uuids (in small letters), documents          as texts
//	timestamptz                                         2006-01-02T15:04:05.000000Z
//	timestamp                                           2006-01-02T15:04:05.000000
//	date, time                                          2006-01-02, 15:04:05.000000
//	interval                                            "months days microseconds", three numbers
//	arrays, vectors, records                            as JSON: an array, an array, an object
//	bytea                                               as bytes
const (
	Unknown   Kind = "" // a text or NULL whose type is not known yet
	Text      Kind = "text"
	Varchar   Kind = "varchar"
	BPChar    Kind = "bpchar"
	Char      Kind = `"char"` // one byte, of the catalogue
	Name      Kind = "name"
	UUID      Kind = "uuid"
	Integer   Kind = "bigint"
	Int4      Kind = "integer"
	Int2      Kind = "smallint"
	Float     Kind = "double precision"
	Float4    Kind = "real"
	Numeric   Kind = "numeric"
	Boolean   Kind = "boolean"
	Timestamp Kind = "timestamptz"
	Local     Kind = "timestamp" // without a time zone
	Date      Kind = "date"
	Time      Kind = "time"
	Interval  Kind = "interval"
	JSON      Kind = "jsonb"
	PlainJSON Kind = "json"
	Bytea     Kind = "bytea"
	OID       Kind = "oid"
	XID       Kind = "xid"
	Regclass  Kind = "regclass"
	Regtype   Kind = "regtype"
	Regproc   Kind = "regproc"
	Regspace  Kind = "regnamespace"
	Regrole   Kind = "regrole"
	Int2s     Kind = "int2vector"
	OIDs      Kind = "oidvector"
	NodeTree  Kind = "pg_node_tree"
	ACLItem   Kind = "aclitem"
	Inet      Kind = "inet"
	Record    Kind = "record"
	Void      Kind = "void"
	AnyArray  Kind = "anyarray"
)

// Array is an array of a kind.
func (k Kind) Array() Kind { return k + "[]" }

// Elem returns the element type of an array or a vector, and Unknown for any other kind.
func (k Kind) Elem() Kind {
	switch k {
	case Int2s:
		return Int2
	case OIDs:
		return OID
	}
	if elem, is := strings.CutSuffix(string(k), "[]"); is {
		return Kind(elem)
	}
	return Unknown
}

// Number reports whether SQLite stores values of the kind as numbers.
func (k Kind) Number() bool {
	switch k {
	case Integer, Int4, Int2, Float, Float4, Numeric, Boolean, OID, XID, Regclass, Regtype, Regproc, Regspace, Regrole:
		return true
	}
	return false
}

// oids are the PostgreSQL OIDs of each kind and of its array type.
var oids = map[Kind][2]uint32{
	Text: {25, 1009}, Varchar: {1043, 1015}, BPChar: {1042, 1014}, Char: {18, 1002}, Name: {19, 1003}, UUID: {2950, 2951},
	Integer: {20, 1016}, Int4: {23, 1007}, Int2: {21, 1005}, Float: {701, 1022}, Float4: {700, 1021}, Numeric: {1700, 1231},
	Boolean: {16, 1000}, Timestamp: {1184, 1185}, Local: {1114, 1115}, Date: {1082, 1182}, Time: {1083, 1183}, Interval: {1186, 1187},
	JSON: {3802, 3807}, PlainJSON: {114, 199}, Bytea: {17, 1001}, OID: {26, 1028}, XID: {28, 1011},
	Regclass: {2205, 2210}, Regtype: {2206, 2211}, Regproc: {24, 1008}, Regspace: {4089, 4090}, Regrole: {4096, 4097},
	Int2s: {22, 1006}, OIDs: {30, 1013}, NodeTree: {194, 0}, ACLItem: {1033, 1034}, Inet: {869, 1041}, Record: {2249, 2287},
	Void: {2278, 0}, AnyArray: {2277, 0}, Unknown: {705, 0},
}

var byOID = func() map[uint32]Kind {
	all := map[uint32]Kind{}
	for k, ids := range oids {
		all[ids[0]] = k
		if ids[1] != 0 {
			all[ids[1]] = k.Array()
		}
	}
	return all
}()

// OID returns the PostgreSQL OID of a kind, or 0 if it has none.
func (k Kind) OID() uint32 {
	if ids, plain := oids[k]; plain {
		return ids[0]
	}
	return oids[Kind(strings.TrimSuffix(string(k), "[]"))][1]
}

// OfOID returns the kind with an OID.
func OfOID(oid uint32) (k Kind, known bool) {
	k, known = byOID[oid]
	return k, known
}

// names are aliases of the kinds.
var names = map[string]Kind{
	"int8": Integer, "bigserial": Integer, "int4": Int4, "int": Int4, "serial": Int4, "int2": Int2,
	"float8": Float, "float": Float, "float4": Float4, "decimal": Numeric, "dec": Numeric,
	"bool": Boolean, "timestamp with time zone": Timestamp, "timestamp without time zone": Local,
	"time without time zone": Time, "character varying": Varchar, "character": BPChar, "char": BPChar, "char varying": Varchar,
	"string": Text,
}

// Named returns the kind with a name or alias. The type "char" is passed with its
// quotes, because char is another type.
func Named(name string) (Kind, bool) {
	if k, known := names[name]; known {
		return k, true
	}
	k := Kind(name)
	if _, known := oids[k]; known && k != Unknown {
		return k, true
	}
	return Unknown, false
}
