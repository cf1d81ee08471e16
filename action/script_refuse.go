package action

import (
	"slices"
	"strings"
)

// refuse checks the statements of a script before any of them runs. A run is one
// transaction. A statement that ended it would also commit or roll back the effect,
// and the next attempt would execute statements twice.
func refuse(kind dialect, script string, pieces []piece) error {
	if len(pieces) == 0 {
		return permanentFailure(codeParams, "statement: it contains no statement")
	}
	for _, p := range pieces {
		line, _ := lineAndColumn(script, p.start)
		switch {
		case endsTransaction(kind, p.words):
			return permanentFailure(codeTransaction, "line %d: %s is refused: Rota begins and commits the transaction of a run itself; "+
				"remove it, or split the job", line, statementName(p.words))
		case kind == dialectMaria && len(pieces) > 1 && commitsImplicitly(p.words):
			return permanentFailure(codeTransaction, "line %d: %s is refused together with other statements: MariaDB commits before and after it, "+
				"so the job would not be atomic; put it into its own job", line, statementName(p.words))
		case kind == dialectPostgres && copiesToClient(p):
			return permanentFailure(codeStatement, "line %d: COPY from STDIN or to STDOUT is refused: a job has neither; name a file of the server, or use INSERT", line)
		}
	}
	return nil
}

// statementName is the first words of a statement, for messages.
func statementName(words []string) string {
	return strings.Join(words[:min(len(words), 2)], " ")
}

func endsTransaction(kind dialect, words []string) bool {
	if len(words) == 0 {
		return false
	}
	switch words[0] {
	case "BEGIN", "COMMIT":
		return true
	case "ROLLBACK":
		return !slices.Contains(words, "TO") // ROLLBACK TO a savepoint is allowed
	case "END":
		return kind != dialectMaria
	case "ABORT":
		return kind == dialectPostgres
	case "START":
		return len(words) > 1 && words[1] == "TRANSACTION"
	case "PREPARE":
		return kind == dialectPostgres && len(words) > 1 && words[1] == "TRANSACTION"
	case "XA":
		return kind == dialectMaria
	case "SET":
		return kind == dialectMaria && slices.Contains(words, "AUTOCOMMIT")
	}
	return false
}

// implicitCommits are the statements before which MariaDB commits implicitly.
var implicitCommits = strings.Fields(`ALTER ANALYZE CACHE CHANGE CHECK CREATE DROP FLUSH GRANT INSTALL LOCK OPTIMIZE RENAME REPAIR RESET REVOKE
	SHUTDOWN START STOP TRUNCATE UNINSTALL UNLOCK`)

func commitsImplicitly(words []string) bool {
	if len(words) == 0 || !slices.Contains(implicitCommits, words[0]) {
		return len(words) > 1 && (words[0] == "SET" && words[1] == "PASSWORD" || words[0] == "LOAD" && words[1] == "INDEX")
	}
	temporary := len(words) > 1 && words[1] == "TEMPORARY" || len(words) > 3 && words[3] == "TEMPORARY" // CREATE OR REPLACE TEMPORARY
	return !temporary
}

// copiesToClient reports whether a COPY exchanges data with the client. It would
// wait for the client for ever.
func copiesToClient(p piece) bool {
	if len(p.words) == 0 || p.words[0] != "COPY" {
		return false
	}
	s := &scanner{kind: dialectPostgres, text: p.text}
	for last := ""; ; {
		t := s.next()
		if t.kind == tokenEnd {
			return false
		}
		word := strings.ToUpper(s.text[t.start:s.at])
		if t.kind == tokenWord && (last == "FROM" && word == "STDIN" || last == "TO" && word == "STDOUT") {
			return true
		}
		last = word
	}
}
