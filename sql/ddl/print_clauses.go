package ddl

import (
	"strconv"
	"strings"
	"time"
)

// lines gathers clauses as they are printed, those that were said.
type lines []string

func (l *lines) add(text string) { *l = append(*l, text) }

func (l *lines) word(clause string, value *string) {
	if value != nil {
		l.add(clause + strings.ToUpper(*value))
	}
}

func (l *lines) text(clause string, value *string) {
	if value != nil {
		l.add(clause + quoteString(*value))
	}
}

func (l *lines) name(clause string, value *string) {
	if value != nil {
		l.add(clause + printName(*value))
	}
}

func (l *lines) number(clause string, value *int) {
	if value != nil {
		l.add(clause + strconv.Itoa(*value))
	}
}

func (l *lines) interval(clause string, value *time.Duration) {
	if value != nil {
		l.add(clause + printInterval(*value))
	}
}

// print writes one line for each clause. AS comes last, since it is the longest.
func (c *Clauses) print(altering bool) []string {
	var l lines
	l.word("CLASS = ", c.Class)
	if c.Partition != nil {
		l.add("PARTITION BY " + c.Partition.print())
	}
	if c.Schedule != nil {
		l.add("SCHEDULE = " + c.Schedule.print())
	}
	l.text("TIME ZONE ", c.TimeZone)
	l.word("CATCH_UP = ", c.CatchUp)
	l.word("OVERLAP = ", c.Overlap)
	if c.DependsGiven {
		l.add("DEPENDS ON " + namesOrNone(c.DependsOn))
	}
	l.number("MAX_RETRIES = ", c.MaxRetries)
	l.interval("RETRY_BACKOFF = ", c.RetryBackoff)
	l.interval("TIMEOUT = ", c.Timeout)
	l.word("ON COMPLETION ", c.OnCompletion)
	if c.RunAs != nil && *c.RunAs == "" {
		l.add("RUN AS NONE")
	} else {
		l.name("RUN AS ", c.RunAs)
	}
	l.text("DESCRIPTION = ", c.Description)
	l.number("PRIORITY = ", c.Priority)
	l.name("ON TARGET ", c.Target)
	l.text("WITH PARAMS ", c.Params)
	if altering {
		l.word("STATE = ", c.State)
	} else {
		l.word("", c.State)
	}
	if c.Action != nil {
		l.add("AS " + c.Action.print())
	}
	return l
}

func namesOrNone(names []string) string {
	if len(names) == 0 {
		return "NONE"
	}
	return printNames(names)
}
