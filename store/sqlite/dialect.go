package sqlite

import (
	"strings"
	"sync"
)

// dialect rewrites statements of storekit, which have PostgreSQL's placeholders. A statement that
// changes rows uses OR ROLLBACK, so that SQLite needs no statement journal for a table with a
// trigger and a constraint. A limit is an expression, so that SQLite does not plan the statement
// again for each value. Long params of a job have a table of their own. lower changes only the letters
// A to Z with any collation.
var dialect = strings.NewReplacer(
	"j.params", "coalesce(j.params, (SELECT long.params FROM rota_params long WHERE long.job_id = j.id))",
	"p.params", "coalesce(p.params, (SELECT long.params FROM rota_params long WHERE long.job_id = p.id))",
	` COLLATE "C"`, "", "LIMIT $", "LIMIT +?", "$", "?", "INSERT INTO", "INSERT OR ROLLBACK INTO", "UPDATE rota_", "UPDATE OR ROLLBACK rota_")

var rewritten sync.Map // statements by their text before dialect

func rewrite(sql string) string {
	if text, known := rewritten.Load(sql); known {
		return text.(string)
	}
	text := dialect.Replace(sql)
	rewritten.Store(sql, text)
	return text
}
