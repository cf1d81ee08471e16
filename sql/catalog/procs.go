package catalog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rotajobs/rota/sql/kind"
	"github.com/rotajobs/rota/sql/query"
	"github.com/rotajobs/rota/sql/translate"
)

// proc is one of PostgreSQL's functions. The fields are those of pg_proc.
type proc struct {
	oid                        int64
	name, source               string
	kind, volatility, parallel string
	set, strict, variadic      bool
	shadowed                   bool // our own schema has a row of it too
	returns                    int64
	args                       []int64
	direct                     int                // arguments before ORDER BY of an ordered-set aggregate; 0: it is none
	outputs                    []translate.Column // the columns of a function that returns records
}

type procIndex struct {
	byOID  map[int64]*proc
	byName map[string][]*proc
}

var allProcs = sync.OnceValue(func() *procIndex {
	b := &procIndex{byOID: map[int64]*proc{}, byName: map[string][]*proc{}}
	for _, r := range readData("pg_proc").rows {
		p := &proc{
			oid: r.number("oid"), name: r.text("proname"), source: r.text("prosrc"), kind: r.text("prokind"),
			volatility: r.text("provolatile"), parallel: r.text("proparallel"), set: r.bool("proretset"), strict: r.bool("proisstrict"),
			variadic: r.text("provariadic") != "0", returns: r.number("prorettype"),
		}
		r.decode("proargtypes", &p.args)
		if p.set && r.text("proargmodes") != "" {
			p.outputs = readOutputs(r)
		}
		b.byOID[p.oid] = p
		b.byName[p.name] = append(b.byName[p.name], p)
	}
	for _, r := range readData("pg_aggregate").rows {
		if r.text("aggkind") != "n" {
			b.byOID[r.number("aggfnoid")].direct = int(r.number("aggnumdirectargs"))
		}
	}
	for _, name := range queryFunctions() {
		for _, p := range b.byName[name] {
			b.byOID[ownProcs+p.oid] = p
			p.shadowed = true
		}
	}
	return b
})

// visible reports whether a query finds a function without its schema. The row of a function in our own schema hides that
// in pg_catalog, or psql's \df NAME would list both.
func (b *procIndex) visible(oid int64) bool { return oid >= ownProcs || !b.byOID[oid].shadowed }

// ownProcs is added to the OID of a function of PostgreSQL for its row in our own schema.
const ownProcs = 1_000_000_000

// queryFunctions are the names of the functions that queries are written with, as opposed to those that only clients call.
func queryFunctions() (names []string) {
	for _, r := range readData("functions").rows {
		if r.text("answer") == "translate" {
			names = append(names, r.text("name"))
		}
	}
	return names
}

// ownFunctions lists the functions of queries in our own schema too, because psql's \df leaves out those of pg_catalog.
func (b *builder) ownFunctions() {
	sh, own := b.tableByName["pg_proc"], map[string]bool{}
	space, known := b.schemaOID[ownSchema]
	if !known {
		return
	}
	for _, name := range queryFunctions() {
		own[name] = true
	}
	for _, row := range slices.Clone(sh.rows) {
		if own[textOf(row[sh.at["proname"]])] {
			copied := sh.row()
			copy(copied, row)
			sh.set(copied, []any{"oid", row[sh.at["oid"]].(int64) + ownProcs, "pronamespace", space})
		}
	}
}

// ownSchema is the schema of our tables.
const ownSchema = "sys"

// decode reads an array, which may be missing.
func (r dataRow) decode(column string, list any) {
	text := r.text(column)
	if text == "" {
		return
	}
	if err := json.Unmarshal([]byte(text), list); err != nil {
		panic("catalog: " + column + ": " + err.Error())
	}
}

// readOutputs reads the output columns of a function.
func readOutputs(r dataRow) (all []translate.Column) {
	var types []int64
	var modes, names []string
	r.decode("proallargtypes", &types)
	r.decode("proargmodes", &modes)
	r.decode("proargnames", &names)
	for i, mode := range modes {
		if mode == "o" {
			all = append(all, translate.Column{Name: names[i], Kind: allTypes().byOID[types[i]].kind()})
		}
	}
	return all
}

// anyType is the OID of the pseudo-type "any".
const anyType = 2276

// signatures are the signatures of the functions of a name. Where functions with the same number
// of arguments differ, an argument can be of any kind.
func (b *procIndex) signatures(name string) []translate.Signature {
	byCount := map[int]*translate.Signature{}
	var all []*translate.Signature
	for _, p := range b.byName[name] {
		args := make([]kind.Kind, len(p.args))
		for i, arg := range p.args {
			if arg != anyType {
				args[i] = allTypes().byOID[arg].kind()
			}
		}
		s := byCount[len(args)]
		if s == nil {
			s = &translate.Signature{Name: name, Args: args, Returns: allTypes().byOID[p.returns].kind(), Set: p.set, Fields: p.outputs}
			byCount[len(args)], all = s, append(all, s)
		}
		for i, arg := range args {
			if s.Args[i] != arg {
				s.Args[i] = kind.Unknown
			}
		}
	}
	list := make([]translate.Signature, len(all))
	for i, s := range all {
		list[i] = *s
	}
	return list
}

// arguments formats the argument types.
func (p *proc) arguments() string {
	texts := make([]string, len(p.args))
	for i, arg := range p.args {
		texts[i] = allTypes().format(arg, nil, nil)
		if p.variadic && i == len(p.args)-1 {
			texts[i] = "VARIADIC " + texts[i]
		}
	}
	if p.direct > 0 {
		return strings.Join(texts[:p.direct], ", ") + " ORDER BY " + strings.Join(texts[p.direct:], ", ")
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

// define is a statement that creates the function.
func (p *proc) define() string {
	if p.kind == "a" {
		return ""
	}
	words := map[string]string{"i": " IMMUTABLE", "s": " STABLE"}[p.volatility] + map[string]string{"s": " PARALLEL SAFE", "r": " PARALLEL RESTRICTED"}[p.parallel]
	if p.strict {
		words += " STRICT"
	}
	if words != "" {
		words += "\n"
	}
	return fmt.Sprintf("CREATE OR REPLACE FUNCTION pg_catalog.%s(%s)\n RETURNS %s\n LANGUAGE internal\n%sAS $function$%s$function$\n",
		query.QuoteIdent(p.name), p.arguments(), p.result(), words, p.source)
}
