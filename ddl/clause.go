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

// clauses are in the order in which errors list them.
var clauses = []clause{
	{[]string{"SCHEDULE"}, (*parser).scheduleClause},
	{[]string{"AS"}, func(p *parser, c *Clauses) { c.Action = p.action() }},
	{[]string{"DEPENDS", "ON"}, (*parser).dependsClause},
	{[]string{"MAX_RETRIES"}, func(p *parser, c *Clauses) { p.equals(); c.MaxRetries = p.whole("MAX_RETRIES", 0) }},
	{[]string{"TIMEOUT"}, func(p *parser, c *Clauses) { c.Timeout = p.seconds("TIMEOUT") }},
	{[]string{"DESCRIPTION"}, func(p *parser, c *Clauses) { p.equals(); c.Description = keep(p.quoted("the description")) }},
	{[]string{"RETRY_BACKOFF"}, func(p *parser, c *Clauses) { c.RetryBackoff = p.seconds("RETRY_BACKOFF") }},
	{[]string{"CLASS"}, func(p *parser, c *Clauses) { p.equals(); c.Class = keep(p.choose("a class", classes...)) }},
	{[]string{"PARTITION", "BY"}, func(p *parser, c *Clauses) { c.Partition = p.partition() }},
	{[]string{"TIME", "ZONE"}, func(p *parser, c *Clauses) { c.TimeZone = keep(p.filled("the time zone")) }},
	{[]string{"CATCH_UP"}, func(p *parser, c *Clauses) { c.CatchUp = p.policy("NONE", "LAST", "ALL") }},
	{[]string{"OVERLAP"}, func(p *parser, c *Clauses) { c.Overlap = p.policy("ALLOW", "SKIP", "CANCEL") }},
	{[]string{"ON", "COMPLETION"}, func(p *parser, c *Clauses) { c.OnCompletion = keep(strings.ToLower(p.choose("", "PRESERVE", "DROP"))) }},
	{[]string{"ON", "TARGET"}, func(p *parser, c *Clauses) { c.Target = keep(p.name("the name of a target")) }},
	{[]string{"RUN", "AS"}, (*parser).runAsClause},
	{[]string{"PRIORITY"}, func(p *parser, c *Clauses) { p.equals(); c.Priority = p.whole("PRIORITY", priorityMin) }},
	{[]string{"WITH", "PARAMS"}, (*parser).paramsClause},
	{[]string{"STATE"}, func(p *parser, c *Clauses) { p.equals(); c.State = keep(p.choose("a state", states...)) }},
}

// priorityMin is what the column of sys holds; how far priorities go is for the
// store to say.
const priorityMin = -1 << 31

var (
	classes = []string{"LOCAL_SAFE", "LEADER_ONLY", "QUORUM_REQUIRED"}
	states  = []string{"ENABLED", "DISABLED", "PAUSED"}
)

// sayings are the clauses that were said, and where.
type sayings map[string]token

// once refuses to hear a clause again.
func (p *parser) once(said sayings, name string) {
	first, again := said[name]
	if again {
		p.steps += first.start
		p.failAt(p.tok, "", fmt.Sprintf("%s is given twice, first in line %d", name, lineOf(p.text, first.start)), "remove one of them")
		return
	}
	said[name] = p.tok
}

// place says in which statement a clause stands.
type place struct {
	expected string
	more     []string // words that may stand there beside the clauses
	altering bool
}

var (
	creating = place{expected: "a clause", more: states}
	altering = place{expected: "a clause to set", more: []string{"SECRET"}, altering: true}
)

// clause reads the clause that stands next.
func (p *parser) clause(c *Clauses, said sayings, in place) {
	found, ok := p.findClause(said, in)
	if !ok {
		return
	}
	p.once(said, found.name())
	p.expect(found.words...)
	found.read(p, c)
}

// findClause picks a clause by its first word and, if that begins several, by
// its second.
func (p *parser) findClause(said sayings, in place) (clause, bool) {
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
	words := clauseWords(said, in)
	if state := p.bareState(); state != "" {
		p.fail(p.tok.start, Error{Found: p.tok.found(), Expected: in.expected, Hint: "write STATE = " + state})
	}
	p.unexpected(in.expected+" ("+oneOf(words)+")", words...)
	return clause{}, false
}

// clauseWords are the clauses that have not been said.
func clauseWords(said sayings, in place) []string {
	var words []string
	for _, c := range clauses {
		if _, again := said[c.name()]; !again && (in.altering || c.name() != "STATE") {
			words = append(words, c.name())
		}
	}
	if _, again := said["STATE"]; !again || in.altering {
		words = append(words, in.more...)
	}
	return words
}

// equals takes the = between a clause and its value, which may be left out.
func (p *parser) equals() { p.acceptMark("=") }

// keep is where a value stays that was said.
func keep(text string) *string { return &text }

func (p *parser) policy(words ...string) *string {
	p.equals()
	return keep(strings.ToLower(p.choose("", words...)))
}

// seconds reads a length of time in whole seconds, 0 included.
func (p *parser) seconds(clause string) *time.Duration {
	p.equals()
	d := p.interval(clause, true)
	return &d
}

func (p *parser) runAsClause(c *Clauses) {
	if p.accept("NONE") {
		c.RunAs = keep("")
		return
	}
	c.RunAs = keep(p.name(roleName))
}

// dependsClause reads the jobs that come first. In ALTER JOB a comma may also go
// on with the next thing to set; a name has the end of the list behind it.
func (p *parser) dependsClause(c *Clauses) {
	c.DependsSaid = true
	if p.accept("NONE") {
		return
	}
	c.DependsOn = p.names(jobName, func() bool {
		if !p.tok.isMark(",") {
			return false
		}
		if p.altering && !p.namesGoOn() {
			return false
		}
		p.advance()
		return true
	})
}

func (p *parser) paramsClause(c *Clauses) {
	at := p.tok
	text := p.quoted("the params")
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

// checkTogether refuses clauses that do not go together.
func (p *parser) checkTogether(c *Clauses, said sayings) {
	if c.Schedule == nil || p.err != nil {
		return
	}
	if c.OnCompletion != nil && *c.OnCompletion == "drop" && c.Schedule.Kind != At {
		p.failAt(said["ON COMPLETION"], badValue, "ON COMPLETION DROP needs SCHEDULE = AT: CRON and EVERY schedules never complete", "leave it out")
	}
	if c.TimeZone != nil && !c.Schedule.usesZone() {
		p.failAt(said["TIME ZONE"], badValue, "TIME ZONE has no effect here: EVERY and AT use it only for times without an offset", "leave it out")
	}
}
