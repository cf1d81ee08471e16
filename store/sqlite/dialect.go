package sqlite

import (
	"strings"
	"sync"
)

// dialect rewrites statements of storekit, which have PostgreSQL's placeholders. A limit is an expression, so that SQLite does not plan the statement
// again for each value. Long params of a job have a table of their own. lower changes only the letters
// A to Z with any collation.
var dialect = strings.NewReplacer(
	"j.params", "coalesce(j.params, (SELECT long.params FROM rota_params long WHERE long.job_id = j.id))",
	"p.params", "coalesce(p.params, (SELECT long.params FROM rota_params long WHERE long.job_id = p.id))",
	` COLLATE "C"`, "", "LIMIT $", "LIMIT +?", "$", "?")

// orRollback makes a violated constraint end the transaction, so that SQLite needs no statement journal
// for a table with a trigger and a constraint. Statements in a transaction of a caller do not use it.
var orRollback = strings.NewReplacer("INSERT INTO", "INSERT OR ROLLBACK INTO", "UPDATE rota_", "UPDATE OR ROLLBACK rota_")

var (
	rewritten          sync.Map // statements by their text before dialect and orRollback
	rewrittenForCaller sync.Map // statements by their text before dialect
)

func rewrite(sql string) string {
	return rewriteOnce(&rewritten, sql, func(sql string) string { return orRollback.Replace(dialect.Replace(sql)) })
}

// rewriteForCaller rewrites a statement for a transaction of a caller.
func rewriteForCaller(sql string) string {
	return rewriteOnce(&rewrittenForCaller, sql, dialect.Replace)
}

func rewriteOnce(known *sync.Map, sql string, rewrite func(string) string) string {
	if text, found := known.Load(sql); found {
		return text.(string)
	}
	text := rewrite(sql)
	known.Store(sql, text)
	return text
}
