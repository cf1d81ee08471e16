package catalog

import (
	"strings"
	"sync"
)

// proc is one of PostgreSQL's functions in functionFacts.
type proc struct {
	oid        int64
	name       string
	kind       string // f: a function; a: an aggregate; w: of a window; p: a procedure
	returns    int64
	set        bool
	volatile   string
	strict     bool
	defaults   int64
	variadic   int64
	cost, rows float64
	definer    bool
	leakproof  bool
	parallel   string
	language   int64
	args       []int64
}

// languages maps letters to language OIDs: internal, C, SQL and PL/pgSQL.
var languages = map[string]int64{"i": 12, "c": 13, "s": 14, "p": 13563}

type procIndex struct {
	all    []*proc
	byOID  map[int64]*proc
	byName map[string][]*proc
}

var allProcs = sync.OnceValue(func() *procIndex {
	b := &procIndex{byOID: map[int64]*proc{}, byName: map[string][]*proc{}}
	for _, text := range []string{functionFacts, functionFactsMore} {
		for _, f := range splitLines(text) {
			p := readProc(f)
			b.all = append(b.all, p)
			b.byOID[p.oid] = p
			b.byName[p.name] = append(b.byName[p.name], p)
		}
	}
	return b
})

// readProc reads the fields of a function: oid, proname, prokind, prorettype,
// proretset, provolatile, proisstrict, pronargdefaults, provariadic, procost,
// prorows, prosecdef, proleakproof, proparallel, the language and proargtypes.
func readProc(f []string) *proc {
	p := &proc{
		oid: parseNumber(f[0]), name: f[1], kind: f[2], returns: parseNumber(f[3]), set: f[4] == "t", volatile: f[5], strict: f[6] == "t",
		defaults: parseNumber(f[7]), variadic: parseNumber(f[8]), cost: float64(parseNumber(f[9])), rows: float64(parseNumber(f[10])),
		definer: f[11] == "t", leakproof: f[12] == "t", parallel: f[13], language: languages[f[14]],
	}
	if f[15] != "-" {
		for arg := range strings.SplitSeq(f[15], ",") {
			p.args = append(p.args, parseNumber(arg))
		}
	}
	return p
}

// arguments formats the argument types.
func (p *proc) arguments() string {
	texts := make([]string, len(p.args))
	for i, arg := range p.args {
		texts[i] = allTypes().format(arg, nil, nil)
		if p.variadic != 0 && i == len(p.args)-1 {
			texts[i] = "VARIADIC " + texts[i]
		}
	}
	return strings.Join(texts, ", ")
}

// result formats the result type.
func (p *proc) result() string {
	text := allTypes().format(p.returns, nil, nil)
	if p.set {
		text = "SETOF " + text
	}
	return text
}

func (b *builder) functions() {
	for _, p := range allProcs().all {
		b.add("pg_proc", "oid", p.oid, "proname", p.name, "pronamespace", catalogSpace, "proowner", ownerRole, "prolang", p.language,
			"procost", p.cost, "prorows", p.rows, "provariadic", p.variadic, "prokind", p.kind, "prosecdef", p.definer,
			"proleakproof", p.leakproof, "proisstrict", p.strict, "proretset", p.set, "provolatile", p.volatile, "proparallel", p.parallel,
			"pronargs", len(p.args), "pronargdefaults", p.defaults, "prorettype", p.returns, "proargtypes", numbers(p.args...), "prosrc", p.name)
		if p.kind == "a" {
			b.add("pg_aggregate", "aggfnoid", p.oid, "aggkind", "n", "aggfinalmodify", "r", "aggmfinalmodify", "r")
		}
	}
}

// operators fills the relations about operators, casts and operator classes.
func (b *builder) operators() {
	b.addLines("pg_operator", "oid oprname oprkind oprcanmerge oprcanhash oprleft oprright oprresult oprcom oprnegate oprcode oprrest oprjoin",
		operatorFacts, "oprnamespace", catalogSpace, "oprowner", ownerRole)
	b.addLines("pg_cast", "oid castsource casttarget castfunc castcontext castmethod", castFacts)
	b.addLines("pg_opclass", "oid opcmethod opcname opcfamily opcintype opcdefault opckeytype", classFacts,
		"opcnamespace", catalogSpace, "opcowner", ownerRole)
	known := map[string]bool{}
	for _, f := range splitLines(classFacts) {
		if family := f[3]; !known[family] {
			known[family] = true
			b.add("pg_opfamily", "oid", parseNumber(family), "opfmethod", parseNumber(f[1]), "opfname", f[7], "opfnamespace", catalogSpace, "opfowner", ownerRole)
		}
	}
}
