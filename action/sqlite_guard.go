package action

import (
	"fmt"
	"slices"
	"strings"

	"zombiezen.com/go/sqlite"
)

// sqliteGuard keeps the statements of a run in their file and in their
// transaction. SQLite calls it while it prepares a statement, so a refused
// statement has had no effect.
type sqliteGuard struct {
	reason string // why the last one was refused
}

// harmlessPragmas read properties of the file, or set options of the connection that
// weaken no guarantee.
var harmlessPragmas = strings.Fields(`application_id case_sensitive_like collation_list compile_options data_version
	defer_foreign_keys encoding foreign_key_check foreign_key_list freelist_count function_list index_info index_list index_xinfo
	integrity_check page_count page_size quick_check recursive_triggers schema_version table_info table_list table_xinfo user_version`)

// unsettablePragmas are those of them that may be read but not set.
var unsettablePragmas = []string{"encoding", "page_size", "schema_version"}

// Authorize decides what a statement may do.
func (g *sqliteGuard) Authorize(action sqlite.Action) sqlite.AuthResult {
	switch action.Type() {
	case sqlite.OpAttach, sqlite.OpDetach:
		return g.deny("a job cannot attach another file")
	case sqlite.OpTransaction:
		return g.deny("Rota begins and commits the transaction of a run itself")
	case sqlite.OpPragma:
		return g.pragma(strings.ToLower(action.Pragma()), action.PragmaArg())
	case sqlite.OpInsert, sqlite.OpUpdate, sqlite.OpDelete, sqlite.OpDropTable, sqlite.OpAlterTable, sqlite.OpCreateTrigger, sqlite.OpCreateTempTrigger:
		if strings.EqualFold(action.Table(), effectTable) {
			return g.deny("the table " + effectTable + " records committed work, and jobs cannot change it")
		}
	}
	return sqlite.AuthResultOK
}

func (g *sqliteGuard) pragma(name, arg string) sqlite.AuthResult {
	if !slices.Contains(harmlessPragmas, name) || arg != "" && slices.Contains(unsettablePragmas, name) {
		return g.deny(fmt.Sprintf("PRAGMA %.32s is not allowed in a job", name))
	}
	return sqlite.AuthResultOK
}

func (g *sqliteGuard) deny(reason string) sqlite.AuthResult {
	g.reason = reason
	return sqlite.AuthResultDeny
}
