package pgwire

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/rotajobs/rota/console"
)

// The states of SQL that are decided on here. What statements end with is decided
// by the console.
const (
	stateProtocol      = "08P01"
	stateNotSupported  = "0A000"
	stateData          = "22000"
	stateRange         = "22003"
	stateEncoding      = "22021"
	stateBadValue      = "22023"
	stateBadText       = "22P02"
	stateBadBinary     = "22P03"
	stateNoStatement   = "26000"
	stateNotAuthorized = "28000"
	stateWrongPassword = "28P01"
	stateNoPortal      = "34000"
	stateNoDatabase    = "3D000"
	stateDuplicate     = "42P05"
	statePortalTwice   = "42P03"
	stateTooMany       = "53300"
	stateLimit         = "54000"
	stateNotNow        = "55000"
	stateCancelled     = "57014"
	stateShutdown      = "57P01"
	stateIdle          = "57P05"
	stateIdleInWork    = "25P03"
	stateInternal      = "XX000"
)

// refuse makes the error of one statement or message.
func refuse(state, hint, format string, args ...any) *console.Error {
	return &console.Error{State: state, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// fatal is an error that ends the connection.
type fatal struct{ why *console.Error }

func (f *fatal) Error() string { return f.why.Error() }

func fatally(state, hint, format string, args ...any) *fatal {
	return &fatal{refuse(state, hint, format, args...)}
}

// Why a statement was ended before its time.
var (
	errCancelled = errors.New("canceling statement due to user request")
	errTimeout   = errors.New("canceling statement due to statement timeout")
	errShutdown  = errors.New("terminating connection due to administrator command")
	errGone      = errors.New("the client has hung up")
)

// response is an error as a client reads it. Of what is nobody's business it says
// nothing; ours says that the error should be looked at by us.
func response(err error) (m *pgproto3.ErrorResponse, ours bool) {
	severity := "ERROR"
	var last *fatal
	var own *console.Error
	switch {
	case errors.As(err, &last):
		severity, own = "FATAL", last.why
	case !errors.As(err, &own):
		own, ours = refuse(stateInternal, "the log of the server says more", "an error that should not be"), true
	}
	return &pgproto3.ErrorResponse{
		Severity: severity, SeverityUnlocalized: severity, Code: own.State,
		Message: clean(own.Message), Hint: clean(own.Hint), Position: int32(min(own.Position, 1<<30)),
	}, ours
}

// clean takes out the byte that ends a text on the wire, which would put what
// follows it into the next field.
func clean(text string) string {
	for i := range len(text) {
		if text[i] == 0 {
			return text[:i]
		}
	}
	return text
}

// because says in PostgreSQL's words why a statement was ended early, which drivers
// look for. Errors of other kinds stay as they are.
func because(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	var own *console.Error
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || cause != nil && errors.Is(err, cause) ||
		errors.As(err, &own) && own.State == stateCancelled
	switch {
	case err == nil || cause == nil || !ended:
		return err
	case errors.Is(cause, errCancelled), errors.Is(cause, errTimeout):
		return refuse(stateCancelled, "", "%s", cause)
	}
	return err
}
