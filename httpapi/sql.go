package httpapi

import (
	"errors"
	"fmt"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/ddl"
)

func (a *api) sqlRoutes() {
	route(a, operation{
		method: "POST", path: "/sql", id: "run-sql", tag: "SQL", summary: "Run SQL",
		description: "Several statements are one transaction. What BEGIN opens and nothing in the request commits is rolled back at its end. " +
			"A refusal says which SQLSTATE it is and where in the text it is about something. " +
			"Under an Idempotency-Key a query is simply run; what writes is not done twice.",
		example:  `{"statement": "SELECT job_name, next_run_time_ts FROM sys.jobs WHERE state = $1", "args": ["ENABLED"]}`,
		response: SQLAnswer{}, errors: []int{403, 404, 408, 409},
	}, runSQL)
}

func runSQL(c *call, body *SQLRequest) (reply, error) {
	args, err := body.check()
	if err != nil {
		return reply{}, err
	}
	answers, err := c.runStatements(body.Statement, args)
	if errors.Is(err, errReplay) {
		answers, err = c.runStatements(body.Statement, args)
	}
	if err != nil {
		return reply{}, err
	}
	v := SQLAnswer{SQLResult: NewSQLResult(&console.Answer{})}
	for _, a := range answers {
		v.Results = append(v.Results, NewSQLResult(a))
	}
	if n := len(v.Results); n > 0 {
		v.SQLResult = v.Results[n-1]
	}
	if len(v.Results) == 1 {
		v.Results = nil
	}
	return ok(v)
}

// check holds a request to what can be read, and returns its arguments.
func (r *SQLRequest) check() (args []any, err error) {
	switch {
	case r.Statement == "":
		return nil, rota.Invalidf("statement", "is empty; write a statement, such as SHOW JOBS")
	case len(r.Statement) > ddl.TextMax:
		return nil, rota.Invalidf("statement", "has %d bytes; at most %d are read", len(r.Statement), ddl.TextMax)
	}
	for i, v := range r.Args {
		arg, simple := v.argument()
		if !simple {
			return nil, rota.Invalidf(fmt.Sprintf("args[%d]", i), "is no text, number, true, false or null")
		}
		args = append(args, arg)
	}
	return args, nil
}

// errReplay ends statements that were sent before under the key of their request:
// they are run anew, by the ids that they had then.
var errReplay = errors.New("the statements were sent before")

// runStatements runs statements in a session of their own. The key of the request is tied
// when the first of them is about to change something.
func (c *call) runStatements(text string, args []any) ([]*console.Answer, error) {
	var refusal error
	c.commandCount = 0
	session := c.Console.SessionOf(c.meta)
	session.Tell(func() error {
		before := c.replay
		if refusal = c.bindKey(); refusal == nil && c.replay && !before {
			refusal = errReplay
		}
		return refusal
	}, c.replay)
	answers, err := session.Answers(c.ctx, text, args...)
	switch {
	case refusal != nil:
		return nil, refusal
	case err != nil:
		return nil, err
	}
	if session.Status() != console.Idle {
		last := answers[len(answers)-1]
		last.Notices = append(last.Notices, "the transaction was not committed in its request, so nothing of it was done; send BEGIN, its statements and COMMIT together")
	}
	return answers, nil
}
