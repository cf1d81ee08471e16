package httpapi

import (
	"context"
	"errors"
	"net/http"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/api/problem"
	"github.com/rotajobs/rota/sql/session"
)

// Error codes that only this package uses.
const (
	codeMethod    = "method_not_allowed"
	codeTooLarge  = "too_large"
	codeMediaType = "unsupported_media_type"
	codeTooMany   = "too_many_requests"
)

// resourceBusy marks a Busy error that is about the requested resource, not about the store. Another
// request holds the resource, so an immediate retry is useless.
type resourceBusy struct{ error }

func (b resourceBusy) Unwrap() error { return b.error }

// problemOf converts an error to the problem in the response. Internal errors go to the log only.
func problemOf(err error) *api.Problem {
	var statement *session.Error
	if errors.As(err, &statement) {
		return sqlProblem(statement)
	}
	p := problem.Of(err)
	if access.Ended(err) {
		p.Title, p.Status = "Not authorized", http.StatusUnauthorized
	}
	var busy resourceBusy
	if p.Code == string(rota.Busy) && errors.As(err, &busy) {
		p.Status = http.StatusConflict
	}
	return p
}

// codeTooLong is the code of a statement that was cancelled or exceeded its time limit.
const codeTooLong = "took_too_long"

// sqlKind is the response kind of one SQLSTATE.
type sqlKind struct {
	problem.Kind
	code string
}

func sqlKindOf(code rota.Code) sqlKind { return sqlKind{problem.Kinds[code], string(code)} }

// sqlKinds maps SQLSTATEs, or their two-character classes. A test checks that it is complete.
var sqlKinds = map[string]sqlKind{
	"08": sqlKindOf(rota.Invalid),
	"0A": sqlKindOf(rota.Invalid),
	"21": sqlKindOf(rota.Invalid),
	"22": sqlKindOf(rota.Invalid),
	"25": sqlKindOf(rota.Invalid),
	"3B": sqlKindOf(rota.Invalid),
	"3F": sqlKindOf(rota.Invalid),
	"42": sqlKindOf(rota.Invalid),
	"54": sqlKindOf(rota.Invalid),
	"53": sqlKindOf(rota.Unavailable),

	session.StateCannotChange: sqlKindOf(rota.Invalid),
	session.StateUnknown:      sqlKindOf(rota.NotFound),
	session.StateDenied:       sqlKindOf(rota.Denied),
	session.StateDuplicate:    sqlKindOf(rota.Conflict),
	session.StateDependent:    sqlKindOf(rota.Conflict),
	session.StateWrongState:   sqlKindOf(rota.Conflict),
	session.StateConflict:     sqlKindOf(rota.Conflict),
	session.StateBusy:         {problem.Kind{Status: http.StatusConflict, Title: "Busy"}, string(rota.Busy)},
	session.StateCancelled:    {problem.Kind{Status: http.StatusRequestTimeout, Title: "Took too long"}, codeTooLong},
	session.StateUnavailable:  sqlKindOf(rota.Unavailable),
	session.StateInternal:     sqlKindOf(rota.Internal),
}

// sqlKindOfState returns the response kind of a SQLSTATE. An unknown SQLSTATE is a defect of this
// package.
func sqlKindOfState(state string) (sqlKind, bool) {
	if k, known := sqlKinds[state]; known {
		return k, true
	}
	if len(state) == len(session.StateInternal) {
		if k, known := sqlKinds[state[:2]]; known {
			return k, true
		}
	}
	return sqlKinds[session.StateInternal], false
}

// sqlProblem converts the error of a statement. The request of a statement is cancelled only if its
// client has left or the server stops. The server then answers as it does for any other request.
func sqlProblem(e *session.Error) *api.Problem {
	if errors.Is(e.Err, context.Canceled) {
		p := problemOf(e.Err)
		p.SQLState = e.State
		return p
	}
	k, _ := sqlKindOfState(e.State)
	p := &api.Problem{Title: k.Title, Status: k.Status, Code: k.code, SQLState: e.State}
	if p.Status == http.StatusInternalServerError {
		problem.Hide(p)
		return p
	}
	p.Detail, p.Hint = e.Message, e.Hint
	p.Position, p.Line, p.Column = e.Position, e.Line, e.Column
	return p
}
