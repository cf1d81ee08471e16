package httpapi

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/sql/ddl"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

func (a *server) sqlRoutes() {
	route(a, operation{
		method: "POST", path: "/sql", id: "run-sql", scope: readScope, tag: "SQL", summary: "Run SQL", secret: true,
		description: "Several statements run as one transaction. A transaction that BEGIN opens and the request does not commit is rolled back. " +
			"An error has its SQLSTATE and its position in the text. " +
			"With an Idempotency-Key, writes take effect once; queries run each time.",
		example:  `{"statement": "SELECT job_name, next_run_time_ts FROM sys.jobs WHERE state = $1", "args": ["ENABLED"]}`,
		response: api.SQLAnswer{}, errors: []int{403, 404, 408, 409},
	}, runSQL)
}

func runSQL(c *call, body *api.SQLRequest) (reply, error) {
	args, err := sqlArgs(body)
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
	for range len(answers) - 1 { // the request counts as one statement; the others cannot be refused any more
		c.UserRate.Count(c.actor)
	}
	defer func() {
		for _, a := range answers {
			a.Release()
		}
	}()
	writeSQLAnswer(c.w, answers)
	return reply{written: true}, nil
}

// sqlArgs validates the request, and returns its arguments.
func sqlArgs(r *api.SQLRequest) (args []any, err error) {
	switch {
	case r.Statement == "":
		return nil, rota.Invalidf("statement", "is empty; send a statement, such as SHOW JOBS")
	case len(r.Statement) > ddl.TextMax:
		return nil, rota.Invalidf("statement", "has %d bytes; at most %d are allowed", len(r.Statement), ddl.TextMax)
	}
	for i, v := range r.Args {
		arg, simple := v.Argument()
		if !simple {
			return nil, rota.Invalidf(fmt.Sprintf("args[%d]", i), "must be a string, a number, true, false or null")
		}
		args = append(args, arg)
	}
	return args, nil
}

// errReplay ends statements of a replayed request: they run again with the ids of the first sending.
var errReplay = errors.New("the statements were sent before")

// runStatements runs statements in a session of their own. The key of the request is bound when the
// first statement is about to change something.
func (c *call) runStatements(text string, args []any) ([]*session.Answer, error) {
	var refusal error
	c.commandCount = 0
	s := c.Console.RequestSession(c.Store, c.actor, c.meta)
	s.BeforeSend(func() error {
		before := c.replay
		if refusal = c.bindKey(); refusal == nil && c.replay && !before {
			refusal = errReplay
		}
		return refusal
	}, c.replay)
	answers, err := s.Answers(c.ctx, text, args...)
	switch {
	case refusal != nil:
		return nil, refusal
	case err != nil:
		return nil, err
	}
	if s.Status() != session.Idle {
		last := answers[len(answers)-1]
		last.Notices = append(last.Notices, "the request did not commit its transaction, so it was rolled back; send BEGIN, the statements and COMMIT in one request")
	}
	return answers, nil
}

// kindBytes is the type of byte strings. No column of the catalog has it, but an expression may.
const kindBytes = "bytea"

// columnKind derives the type of a column from its values; the default is text.
func columnKind(rows [][]any, column int) string {
	kind := ""
	for _, row := range rows {
		one := ""
		switch row[column].(type) {
		case nil:
			continue
		case int64:
			one = string(system.Integer)
		case float64:
			one = string(system.Float)
		case bool:
			one = string(system.Boolean)
		case []byte:
			one = kindBytes
		default:
			one = string(system.Text)
		}
		switch {
		case kind == "" || kind == one:
			kind = one
		case kind == string(system.Integer) && one == string(system.Float) || kind == string(system.Float) && one == string(system.Integer):
			kind = string(system.Float)
		default:
			return string(system.Text)
		}
	}
	if kind == "" {
		return string(system.Text)
	}
	return kind
}

// sqlValue encodes a value as JSON.
func sqlValue(value any) api.SQLValue {
	switch v := value.(type) {
	case nil:
		return api.SQLValue("null")
	case bool:
		return api.SQLValue(strconv.FormatBool(v))
	case int64:
		return api.SQLValue(strconv.FormatInt(v, 10))
	case float64:
		if math.IsInf(v, 0) { // JSON has no infinity
			return api.SQLText(map[bool]string{true: "Infinity", false: "-Infinity"}[v > 0])
		}
		return api.SQLValue(strconv.FormatFloat(v, 'g', -1, 64))
	case []byte:
		return api.SQLText(`\x` + hex.EncodeToString(v))
	}
	return api.SQLText(fmt.Sprint(value))
}
