package ddl

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// clause is a part of CREATE JOB and ALTER JOB.
type clause struct {
	words []string // that it begins with, one or two
	read  func(*parser, *Clauses)
}

func (c clause) name() string { return strings.Join(c.words, " ") }

// clauses are in the order in which errors list them. The variable has no initial value, because PARTITION BY ends where
// another clause begins and so refers to it.
var clauses []clause

func init() {
	clauses = []clause{
		{[]string{"SCHEDULE"}, (*parser).scheduleClause},
		{[]string{"AS"}, func(p *parser, c *Clauses) { c.Action = p.action() }},
		{[]string{"DEPENDS", "ON"}, (*parser).dependsClause},
		{[]string{"MAX_RETRIES"}, func(p *parser, c *Clauses) { p.equals(); c.MaxRetries = p.wholeNumber("MAX_RETRIES", 0) }},
		{[]string{"TIMEOUT"}, func(p *parser, c *Clauses) { c.Timeout = p.seconds("TIMEOUT") }},
		{[]string{"DESCRIPTION"}, func(p *parser, c *Clauses) { p.equals(); c.Description = pointer(p.stringLiteral("the description")) }},
		{[]string{"RETRY_BACKOFF"}, func(p *parser, c *Clauses) { c.RetryBackoff = p.seconds("RETRY_BACKOFF") }},
		{[]string{"CLASS"}, func(p *parser, c *Clauses) { p.equals(); c.Class = pointer(p.choose("a class", classes...)) }},
		{[]string{"PARTITION", "BY"}, func(p *parser, c *Clauses) { c.Partition = p.partition() }},
		{[]string{"TIME", "ZONE"}, func(p *parser, c *Clauses) { c.TimeZone = pointer(p.nonEmptyString("the time zone")) }},
		{[]string{"CATCH_UP"}, func(p *parser, c *Clauses) { c.CatchUp = p.policy("NONE", "LAST", "ALL") }},
		{[]string{"OVERLAP"}, func(p *parser, c *Clauses) { c.Overlap = p.policy("ALLOW", "SKIP", "CANCEL") }},
		{[]string{"ON", "COMPLETION"}, func(p *parser, c *Clauses) {
			c.OnCompletion = pointer(strings.ToLower(p.choose("", "PRESERVE", "DROP")))
		}},
		{[]string{"ON", "TARGET"}, func(p *parser, c *Clauses) { c.Target = pointer(p.name("the name of a target")) }},
		{[]string{"RUN", "AS"}, (*parser).runAsClause},
		{[]string{"PRIORITY"}, func(p *parser, c *Clauses) { p.equals(); c.Priority = p.wholeNumber("PRIORITY", priorityMin) }},
		{[]string{"WITH", "PARAMS"}, (*parser).paramsClause},
		{[]string{"STATE"}, func(p *parser, c *Clauses) { p.equals(); c.State = pointer(p.choose("a state", states...)) }},
	}
}

// priorityMin is the least value of the column of sys. The store checks the actual range of priorities.
const priorityMin = -1 << 31

var (
	classes = []string{"LOCAL_SAFE", "LEADER_ONLY", "QUORUM_REQUIRED"}
	states  = []string{"ENABLED", "DISABLED", "PAUSED"}
)

// clausePositions holds the first token of each clause that the statement has given so far.
type clausePositions map[string]token

// checkOnce reports an error if the statement gives a clause a second time.
func (p *parser) checkOnce(given clausePositions, name string) {
	first, again := given[name]
	if again {
		p.steps += first.Start
		p.failAt(p.tok, "", fmt.Sprintf("%s is given twice, first in line %d", name, lineOf(p.Text, first.Start)), "remove one of them")
		return
	}
	given[name] = p.tok
}

// clauseContext describes the statement that a clause is part of.
type clauseContext struct {
	expected string
	more     []string // other words allowed there
	altering bool
}

var (
	inCreateJob = clauseContext{expected: "a clause", more: states}
	inAlterJob  = clauseContext{expected: "a clause to set", more: []string{"SECRET"}, altering: true}
)

// clause parses the next clause.
func (p *parser) clause(c *Clauses, given clausePositions, in clauseContext) {
	found, ok := p.findClause(given, in)
	if !ok {
		return
	}
	p.checkOnce(given, found.name())
	p.expect(found.words...)
	value := p.tok
	if value.IsSymbol("=") {
		value = p.peek()
	}
	p.markAt(found.name(), value)
	found.read(p, c)
}

// findClause picks a clause by its first word and, if that begins several, by
// its second.
func (p *parser) findClause(given clausePositions, in clauseContext) (clause, bool) {
	var seconds []string
	for _, c := range clauses {
		if !p.tok.is(c.words[0]) {
			continue
		}
		if len(c.words) == 1 || p.peek().is(c.words[1]) {
			return c, true
		}
		seconds = append(seconds, c.words[1])
	}
	if len(seconds) > 0 {
		p.advance()
		p.choose("", seconds...)
		return clause{}, false
	}
	words := clauseWords(given, in)
	if state := p.stateWord(); state != "" {
		p.fail(p.tok.Start, Error{Found: p.found(), Expected: in.expected, Hint: "write STATE = " + state})
	}
	p.unexpected(in.expected+" ("+oneOf(words)+")", words...)
	return clause{}, false
}

// clauseWords lists the clauses that the statement has not given yet.
func clauseWords(given clausePositions, in clauseContext) []string {
	var words []string
	for _, c := range clauses {
		if _, again := given[c.name()]; !again && (in.altering || c.name() != "STATE") {
			words = append(words, c.name())
		}
	}
	if _, again := given["STATE"]; !again || in.altering {
		words = append(words, in.more...)
	}
	return words
}

// equals takes the = between a clause and its value, which may be left out.
func (p *parser) equals() { p.acceptSymbol("=") }

// pointer returns a pointer to a copy of the text.
func pointer(text string) *string { return &text }

func (p *parser) policy(words ...string) *string {
	p.equals()
	return pointer(strings.ToLower(p.choose("", words...)))
}

// seconds parses an interval in whole seconds; 0 is allowed.
func (p *parser) seconds(clause string) *time.Duration {
	p.equals()
	d := p.interval(clause, true)
	return &d
}

func (p *parser) runAsClause(c *Clauses) {
	if p.accept("NONE") {
		c.RunAs = pointer("")
		return
	}
	c.RunAs = pointer(p.name(roleName))
}

// dependsClause parses the jobs that this one waits for. In ALTER JOB a comma may end the list and begin the next
// clause to set; nameListContinues decides which.
func (p *parser) dependsClause(c *Clauses) {
	c.DependsGiven = true
	if p.accept("NONE") {
		return
	}
	c.DependsOn = p.names(jobName, DependsPlace, func() bool {
		if !p.tok.IsSymbol(",") {
			return false
		}
		if p.altering && !p.nameListContinues() {
			return false
		}
		p.advance()
		return true
	})
}

func (p *parser) paramsClause(c *Clauses) {
	at := p.tok
	text := p.stringLiteral("the params")
	var object map[string]json.RawMessage
	switch err := json.Unmarshal([]byte(text), &object); {
	case p.err != nil:
	case !json.Valid([]byte(text)):
		p.failAt(at, badValue, "the params are not valid JSON: "+err.Error(), paramsHint)
	case err != nil || object == nil:
		p.failAt(at, badValue, "the params are not a JSON object", paramsHint)
	}
	c.Params = &text
}

const paramsHint = `write them like '{"key": "value"}'`

// checkCombinations rejects clauses that exclude each other.
func (p *parser) checkCombinations(c *Clauses, given clausePositions) {
	if c.Schedule == nil || p.err != nil {
		return
	}
	if c.OnCompletion != nil && *c.OnCompletion == "drop" && c.Schedule.Kind != At {
		p.failAt(given["ON COMPLETION"], badValue, "ON COMPLETION DROP needs SCHEDULE = AT: CRON and EVERY schedules never complete", "leave it out")
	}
}
