package query

import (
	"regexp"
	"strings"

	"github.com/rotajobs/rota/sql/lexer"
)

// wordClass states where a keyword can be used as a name. Keywords that are not listed can be names everywhere.
type wordClass byte

const (
	isReserved wordClass = 1 + iota // never a name
	isFunction                      // a function or a type, never a column or a table
	isColumn                        // a column or a table; as functions they have a form of their own
)

var reserved = classes(map[wordClass]string{
	isReserved: `all analyse analyze and any array as asc asymmetric both case cast check collate
		column constraint create current_catalog current_date current_role current_time
		current_timestamp current_user default deferrable desc distinct do else end except
		false fetch for foreign from grant group having in initially intersect into lateral
		leading limit localtime localtimestamp not null offset on only or order placing
		primary references returning select session_user some symmetric system_user table
		then to trailing true union unique user using variadic when where window with`,
	isFunction: `authorization binary collation concurrently cross current_schema freeze full
		ilike inner is isnull join left like natural notnull outer overlaps right similar
		tablesample verbose`,
	isColumn: `between bigint bit boolean char character coalesce dec decimal exists extract
		float greatest grouping inout int integer interval least national nchar none
		normalize nullif numeric out overlay position precision real row setof smallint
		substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement
		xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`,
})

var simpleName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// QuoteIdent quotes a name if PostgreSQL's quote_ident does: unless it consists of lower-case letters, digits and
// underscores and can be a name everywhere.
func QuoteIdent(name string) string {
	if simpleName.MatchString(name) && reserved[name] == 0 {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

func classes(lists map[wordClass]string) map[string]wordClass {
	all := map[string]wordClass{}
	for class, list := range lists {
		for _, word := range strings.Fields(list) {
			all[word] = class
		}
	}
	return all
}

// labelsOnlyAfterAs are non-reserved words that name an item only after AS. Without AS they continue the value before
// them.
var labelsOnlyAfterAs = set(`char character day filter hour minute month over precision second
	varying within without year`)

// callsWithoutParens are functions that are called without parentheses. timesWithoutParens may have a precision in
// parentheses.
var (
	callsWithoutParens = set(`current_date current_user session_user user current_role current_catalog
		current_schema system_user`)
	timesWithoutParens = set(`current_time current_timestamp localtime localtimestamp`)
)

func set(list string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(list) {
		all[word] = true
	}
	return all
}

// isName reports whether a token names a column, a table or an alias.
func (t token) isName() bool {
	class := reserved[t.Text]
	return t.Kind == lexer.Name || t.Kind == lexer.Word && class != isReserved && class != isFunction
}

// isFunction reports whether a token names a function or a type.
func (t token) isFunction() bool {
	return t.Kind == lexer.Name || t.Kind == lexer.Word && reserved[t.Text] != isReserved
}

// isLabel reports whether a token can be a name after AS or a dot, where every word is allowed.
func (t token) isLabel() bool { return t.Kind == lexer.Name || t.Kind == lexer.Word }

// isLabelWithoutAs reports whether a token names an item without AS.
func (t token) isLabelWithoutAs() bool {
	return t.isName() && (t.Kind == lexer.Name || !labelsOnlyAfterAs[t.Text])
}
