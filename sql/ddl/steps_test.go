package ddl

import (
	"strings"
	"testing"
)

// TestParseStepsGrowLinearlyWithText parses texts that are hard on parsers. It counts the bytes that the parser reads,
// because run time depends on the machine.
func TestParseStepsGrowLinearlyWithText(t *testing.T) {
	for name, hard := range map[string]struct{ head, part, tail string }{
		"parentheses":           {"", "(", ""},
		"quotes":                {"", "''", ""},
		"names":                 {"", "a ", ""},
		"commas":                {"", ",", ""},
		"near misses":           {"CREATE JOB a ", "SHEDULE ", ""},
		"comments":              {"", "/*", ""},
		"closed comments":       {"", "/**/", "SHOW JOBS"},
		"line comments":         {"", "--\n", "SHOW JOBS"},
		"semicolons":            {"SHOW JOBS", ";", ""},
		"dollars":               {"SELECT ", "$", ""},
		"tags":                  {"SELECT ", "$a$ $b$ ", ""},
		"a query of brackets":   {"SELECT ", "(", ""},
		"a query of quotes":     {"SELECT ", "'';\"\"", ""},
		"dynamic":               {"CREATE JOB a PARTITION BY DYNAMIC ", "(", ""},
		"dynamic and flat":      {"CREATE JOB a PARTITION BY DYNAMIC (", "()", ")"},
		"a string":              {"CREATE JOB a AS '", "''", "'"},
		"an open string":        {"CREATE JOB a AS '", "''", ""},
		"dependencies":          {"ALTER JOB a SET DEPENDS ON b", ", c", ""},
		"settings":              {"ALTER JOB a SET PRIORITY = 1", ", SET PRIORITY = 1", ""},
		"secrets":               {"ALTER JOB a ", "DROP SECRET 'k' ", ""},
		"digits":                {"ALTER JOB a SET PRIORITY = ", "1", ""},
		"units":                 {"ALTER JOB a SET SCHEDULE EVERY ", "1 SECOND ", ""},
		"shards":                {"CREATE JOB a PARTITION BY SHARD_SET (", "3f2504e0-4f89-11d3-9a0c-0305e82c3301,", ""},
		"almost shards":         {"CREATE JOB a PARTITION BY SHARD_SET (", "3f2504e0-", ""},
		"arguments":             {"CREATE JOB a AS CALL p(", "1,", ""},
		"parts":                 {"CREATE JOB a AS CALL ", "p.", ""},
		"grants":                {"GRANT ", "ADMIN,", ""},
		"modes":                 {"BEGIN ", "READ ONLY,", ""},
		"words of a setting":    {"SHOW ", "a ", ""},
		"params":                {"CREATE JOB a WITH PARAMS '", `{"a":`, "'"},
		"a word":                {"", "SHEDULE", ""},
		"lines":                 {"", "\n", "CREATE JOB"},
		"lines between clauses": {"CREATE JOB a PRIORITY = 1", "\n", "PRIORITY = 1"},
	} {
		text := hard.head + strings.Repeat(hard.part, 64<<10/len(hard.part)) + hard.tail
		if steps := stepsOf(text); steps > stepsMax(text) {
			t.Errorf("%s: %d steps for %d bytes", name, steps, len(text))
		}
		if _, err := Split(text); err != nil {
			checkError(t, text, err)
		}
	}
}

// stepsOf counts the bytes that Parse reads.
func stepsOf(text string) int {
	p, err := newParser(text)
	if err != nil {
		return len(text)
	}
	p.statement()
	p.expectEnd()
	return p.steps
}

// stepsMax allows each byte to be read a few times: as a token, as lookahead, in a query and for the position of an
// error.
func stepsMax(text string) int { return 5*len(text) + 100 }
