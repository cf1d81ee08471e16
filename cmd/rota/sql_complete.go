package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/system"
)

// sqlWords are the keywords to complete. They are offered at any place, without regard to the grammar.
var sqlWords = strings.Fields(`
ALTER AND AS ASC AT BEGIN BETWEEN BY CALL CANCEL CASE CATCH_UP CERTIFICATE CLASS COMMIT COMPLETION COUNT CREATE CRON DEPENDS DESC DESCRIPTION DISABLED
DISTINCT DROP ELSE ENABLED END ENDS EVERY EXEC EXECUTE EXISTS EXPLAIN EXTERNAL FROM GRANT GRANTS GROUP HAVING HISTORY HOURS IF ILIKE IN IS JOB JOBS JOIN KEEP LAST
LEFT LIKE LIMIT MAX_RETRIES MINUTES NONE NOT NULL OFFSET ON OR ORDER OVERLAP OWNER PARAMS PARTITION PASSWORD PAUSED PRESERVE PRIORITY PRIVILEGES RECREATE RETRY_BACKOFF
REVOKE ROLE ROLES ROLLBACK RUN SCHEDULE SECONDS SELECT SET SHOW SKIP SQL STARTS STATE TARGET THEN TIME TIMEOUT TO UNION USER USERS VALUES VIEW WHEN WHERE WITH ZONE`)

// sqlCompleter completes words when the user presses tab.
type sqlCompleter struct {
	console    *sqlConsole
	list       io.Writer // where several candidates are printed
	lastWasTab bool      // the last key was a tab with several candidates
	cache      map[string]cachedNames
	timeout    time.Duration // limit of a request for names; 0 means completionTimeout
}

type cachedNames struct {
	at    time.Time
	names []string
}

// key is called for each key and handles only the tab.
func (k *sqlCompleter) key(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		k.lastWasTab = false
		return "", 0, false
	}
	start := strings.LastIndexAny(line[:pos], " \t(),;=<>") + 1
	word := line[start:pos]
	found := k.candidates(k.console.pending+line[:start], word)
	switch {
	case len(found) == 0 && strings.TrimSpace(line[:pos]) == "": // pasted text with tabs as indentation
		return line[:pos] + " " + line[pos:], pos + 1, true
	case len(found) == 0:
		return line, pos, true
	case len(found) == 1:
		return line[:start] + found[0] + " " + strings.TrimPrefix(line[pos:], " "), start + len(found[0]) + 1, true
	}
	if common := commonStart(found); len(common) > len(word) {
		return line[:start] + common + line[pos:], start + len(common), true
	}
	if k.lastWasTab {
		fmt.Fprintln(k.list, strings.Join(found[:min(len(found), completionsMax)], "  "))
	}
	k.lastWasTab = true
	return line, pos, true
}

// completionsMax is the largest number of candidates that is printed.
const completionsMax = 60

var (
	afterJob    = regexp.MustCompile(`(?is)(\b(alter|drop|execute|recreate|show\s+create|on)\s+job|\bdepends\s+on(\s+\S+,)*)(\s+if\s+exists)?\s+$`)
	tableInText = regexp.MustCompile(`(?i)\bsys\.(\w+)`)
)

// candidates returns the completions of a word after the given text.
func (k *sqlCompleter) candidates(before, word string) (found []string) {
	if afterJob.MatchString(before) {
		for _, name := range k.names(strings.TrimPrefix(word, `"`)) {
			found = append(found, quotedName(name))
		}
		if len(found) > 0 {
			return found
		}
	}
	if word == "" {
		return nil
	}
	for _, one := range slices.Concat(columnsIn(before), tableWords()) {
		if strings.HasPrefix(one, strings.ToLower(word)) {
			found = append(found, one)
		}
	}
	for _, one := range sqlWords {
		if strings.HasPrefix(one, strings.ToUpper(word)) {
			if word == strings.ToLower(word) {
				one = strings.ToLower(one)
			}
			found = append(found, one)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func tableWords() (words []string) {
	for name := range system.Tables() {
		words = append(words, "sys."+name)
	}
	return words
}

// columnsIn returns the columns of the tables in a text, or of all tables if it names none.
func columnsIn(text string) (names []string) {
	tables := system.Tables()
	named := map[string]bool{}
	for _, match := range tableInText.FindAllStringSubmatch(text, -1) {
		named[strings.ToLower(match[1])] = true
	}
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if len(named) > 0 && !named[table] {
			continue
		}
		for _, column := range tables[table] {
			names = append(names, column.Name)
		}
	}
	return names
}

// namesCacheTTL is how long names of jobs are cached.
const namesCacheTTL = 5 * time.Second

const sqlJobNames = `SELECT job_name FROM sys.jobs WHERE job_name >= $1 AND job_name < $2 ORDER BY job_name LIMIT 60`

// names reads the names of jobs with a prefix from the server. It returns none if the server does not answer in time.
func (k *sqlCompleter) names(prefix string) []string {
	if known, is := k.cache[prefix]; is && time.Since(known.at) < namesCacheTTL {
		return known.names
	}
	ctx, stop := context.WithTimeout(context.Background(), cmp.Or(k.timeout, completionTimeout))
	defer stop()
	body := map[string]any{"statement": sqlJobNames, "args": []string{prefix, prefix + "\U0010ffff"}}
	v, _, err := fetch[api.SQLAnswer](ctx, k.console.app, newPost("/sql", body))
	if err != nil {
		return nil
	}
	known := cachedNames{at: time.Now()}
	for _, row := range v.Rows {
		known.names = append(known.names, sanitize(cellText(row[0])))
	}
	if k.cache == nil || len(k.cache) > 100 {
		k.cache = map[string]cachedNames{}
	}
	k.cache[prefix] = known
	return known.names
}

var bareName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// quotedName is a name as an SQL identifier, quoted if needed.
func quotedName(name string) string {
	if bareName.MatchString(name) {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}

// commonStart is the longest common prefix of all words.
func commonStart(words []string) string {
	common := words[0]
	for _, word := range words[1:] {
		for !strings.HasPrefix(word, common) {
			runes := []rune(common)
			common = string(runes[:len(runes)-1])
		}
	}
	return common
}
