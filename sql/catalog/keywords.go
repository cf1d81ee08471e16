package catalog

import (
	"strings"
	"sync"
)

// keywords are the words of PostgreSQL's grammar, by the letter that pg_get_keywords
// has for them: U are not reserved; C cannot be the name of a function or a type; T
// can be nothing else; R are reserved. Those of a small letter cannot name a column
// of an answer without AS.
var keywords = map[string]string{
	"c": `
		char character precision`,
	"C": `
		between bigint bit boolean coalesce dec decimal exists extract float greatest grouping inout int integer
		interval least national nchar none normalize nullif numeric out overlay position real row setof smallint
		substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement xmlexists xmlforest
		xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable`,
	"r": `
		array as create except fetch for from grant group having intersect into limit offset on order returning to
		union where window with`,
	"R": `
		all analyse analyze and any asc asymmetric both case cast check collate column constraint current_catalog
		current_date current_role current_time current_timestamp current_user default deferrable desc distinct do else
		end false foreign in initially lateral leading localtime localtimestamp not null only or placing primary
		references select session_user some symmetric table then trailing true unique user using variadic when`,
	"t": `
		isnull notnull overlaps`,
	"T": `
		authorization binary collation concurrently cross current_schema freeze full ilike inner is join left like
		natural outer right similar tablesample verbose`,
	"u": `
		day filter hour minute month over second varying within without year`,
	"U": `
		abort absolute access action add admin after aggregate also alter always asensitive assertion assignment at
		atomic attach attribute backward before begin breadth by cache call called cascade cascaded catalog chain
		characteristics checkpoint class close cluster columns comment comments commit committed compression
		configuration conflict connection constraints content continue conversion copy cost csv cube current cursor
		cycle data database deallocate declare defaults deferred definer delete delimiter delimiters depends depth
		detach dictionary disable discard document domain double drop each enable encoding encrypted enum escape event
		exclude excluding exclusive execute explain expression extension external family finalize first following
		force forward function functions generated global granted groups handler header hold identity if immediate
		immutable implicit import include including increment index indexes inherit inherits inline input insensitive
		insert instead invoker isolation key label language large last leakproof level listen load local location lock
		locked logged mapping match matched materialized maxvalue merge method minvalue mode move name names new next
		nfc nfd nfkc nfkd no normalized nothing notify nowait nulls object of off oids old operator option options
		ordinality others overriding owned owner parallel parameter parser partial partition passing password plans
		policy preceding prepare prepared preserve prior privileges procedural procedure procedures program
		publication quote range read reassign recheck recursive ref referencing refresh reindex relative release
		rename repeatable replace replica reset restart restrict return returns revoke role rollback rollup routine
		routines rows rule savepoint schema schemas scroll search security sequence sequences serializable server
		session set sets share show simple skip snapshot sql stable standalone start statement statistics stdin stdout
		storage stored strict strip subscription support sysid system tables tablespace temp template temporary text
		ties transaction transform trigger truncate trusted type types uescape unbounded uncommitted unencrypted
		unknown unlisten unlogged until update vacuum valid validate validator value version view views volatile
		whitespace work wrapper write xml yes zone`,
}

// keyword maps each keyword to its letter.
var keyword = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	for letter, words := range keywords {
		for _, word := range strings.Fields(words) {
			all[word] = letter
		}
	}
	return all
})

// QuoteIdent quotes a name if needed: unless it consists of lower-case letters, digits and
// underscores and is not a keyword.
func QuoteIdent(name string) string {
	if letter := strings.ToUpper(keyword()[name]); simple(name) && (letter == "" || letter == "U") {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// simple reports whether a name consists of lower-case letters, digits and underscores and does
// not start with a digit.
func simple(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c == '_' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return name != ""
}
