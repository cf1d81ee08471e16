package pgwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/session"
)

// SQLSTATE codes of errors of this package. The console has its own for statements.
const (
	stateProtocol     = "08P01"
	stateNotSupported = "0A000"
	stateData         = "22000"
	stateRange        = "22003"
	stateEncoding     = "22021"
	stateBadValue     = "22023"

	stateBadBinary          = "22P03"
	stateNoStatement        = "26000"
	stateNotAuthorized      = "28000"
	stateWrongPassword      = "28P01"
	stateNoPortal           = "34000"
	stateNoDatabase         = "3D000"
	stateDuplicateStatement = "42P05"
	stateDuplicatePortal    = "42P03"
	stateTooManyConnections = "53300"
	stateRateExceeded       = "53400"
	stateLimit              = "54000"
	stateWrongState         = "55000"
	stateCancelled          = "57014"
	stateShutdown           = "57P01"
	stateUnavailable        = "57P03"
	stateIdle               = "57P05"
	stateIdleInTransaction  = "25P03"
	stateInternal           = "XX000"
)

// errorf creates the error of one statement or message.
func errorf(state, hint, format string, args ...any) *session.Error {
	return &session.Error{State: state, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// prefixed puts a prefix before the message of an error.
func prefixed(err error, prefix string) error {
	named := *errorf(stateData, "", "%s", err)
	var consoleErr *session.Error
	if errors.As(err, &consoleErr) {
		named = *consoleErr
	}
	named.Message = prefix + named.Message
	return &named
}

// fatal is an error that ends the connection.
type fatal struct{ err *session.Error }

func (f *fatal) Error() string { return f.err.Error() }

func fatalf(state, hint, format string, args ...any) *fatal {
	return &fatal{errorf(state, hint, format, args...)}
}

// Causes of a cancelled statement.
var (
	errCancelled  = errors.New("canceling statement due to user request")
	errTimeout    = errors.New("canceling statement due to statement timeout")
	errShutdown   = errors.New("terminating connection due to administrator command")
	errClientGone = errors.New("the client has disconnected")
)

// response converts an error to the message for the client. It hides the text of internal
// errors, for which internal is true.
func response(err error) (m *pgproto3.ErrorResponse, internal bool) {
	severity := "ERROR"
	var fatalErr *fatal
	var consoleErr *session.Error
	switch {
	case errors.As(err, &fatalErr):
		severity, consoleErr = "FATAL", fatalErr.err
	case !errors.As(err, &consoleErr):
		consoleErr, internal = errorf(stateInternal, "see the server log for details", "internal error"), true
	}
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: consoleErr.State,
		Message: cutAtNUL(consoleErr.Message), Hint: cutAtNUL(consoleErr.Hint), Position: int32(min(consoleErr.Position, 1<<30)),
	}, internal
}

// cutAtNUL cuts a text at its first NUL byte. NUL ends a string on the wire, so the rest would
// be read as the next field.
func cutAtNUL(text string) string {
	for i := range len(text) {
		if text[i] == 0 {
			return text[:i]
		}
	}
	return text
}

// endedReason is why an identity is not valid any more.
func endedReason(err error) string {
	var e *rota.Error
	_ = errors.As(err, &e)
	return e.Reason
}

// cancelReason replaces the error of a cancelled statement by PostgreSQL's text for the reason,
// which drivers check, and that of an identity that is not valid any more by one that ends the
// connection. Other errors stay unchanged.
func cancelReason(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var consoleErr *session.Error
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || cause != nil && errors.Is(err, cause) ||
		errors.As(err, &consoleErr) && consoleErr.State == stateCancelled
	switch {
	case access.Ended(err): // the user was dropped, or its token was revoked or has expired
		return &fatal{errorf(stateNotAuthorized, "log in again", "terminating connection: %s", endedReason(err))}
	case err == nil || cause == nil || !ended:
		return err
	case errors.Is(cause, errCancelled), errors.Is(cause, errTimeout):
		return errorf(stateCancelled, "", "%s", cause)
	}
	return err
}
