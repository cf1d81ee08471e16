package ddl

import (
	"cmp"
	"strconv"
	"strings"
)

// lines are the printed clauses of a statement.
type lines []string

func (l *lines) add(text string) { *l = append(*l, text) }

// addValue prints a clause that was given.
func addValue[T any](l *lines, clause string, value *T, print func(T) string) {
	if value != nil {
		l.add(clause + print(*value))
	}
}

// print writes one line for each clause. AS comes last, since it is the longest.
func (c *Clauses) print(altering bool) []string {
	var l lines
	addValue(&l, "CLASS = ", c.Class, strings.ToUpper)
	addValue(&l, "PARTITION BY ", c.Partition, Partition.print)
	addValue(&l, "SCHEDULE = ", c.Schedule, Schedule.print)
	addValue(&l, "TIME ZONE ", c.TimeZone, quoteString)
	addValue(&l, "CATCH_UP = ", c.CatchUp, strings.ToUpper)
	addValue(&l, "OVERLAP = ", c.Overlap, strings.ToUpper)
	if c.DependsGiven {
		l.add("DEPENDS ON " + namesOrNone(c.DependsOn))
	}
	addValue(&l, "MAX_RETRIES = ", c.MaxRetries, strconv.Itoa)
	addValue(&l, "RETRY_BACKOFF = ", c.RetryBackoff, printInterval)
	addValue(&l, "TIMEOUT = ", c.Timeout, printInterval)
	addValue(&l, "ON COMPLETION ", c.OnCompletion, strings.ToUpper)
	addValue(&l, "RUN AS ", c.RunAs, nameOrNone)
	addValue(&l, "DESCRIPTION = ", c.Description, quoteString)
	addValue(&l, "PRIORITY = ", c.Priority, strconv.Itoa)
	addValue(&l, "ON TARGET ", c.Target, printName)
	addValue(&l, "WITH PARAMS ", c.Params, quoteString)
	addValue(&l, given(altering, "STATE = "), c.State, strings.ToUpper)
	addValue(&l, "AS ", c.Action, Action.print)
	return l
}

func nameOrNone(name string) string { return cmp.Or(given(name != "", printName(name)), "NONE") }

func namesOrNone(names []string) string { return cmp.Or(join(names, ", ", printName), "NONE") }
