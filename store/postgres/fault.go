package postgres

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// fault translates an error of PostgreSQL (by its SQLSTATE) or of the connection into a rota.Error
// with a reason and a remedy. An error of a cancelled context is returned unchanged.
func fault(act string, err error) error {
	var known *rota.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	e := &rota.Error{Code: rota.Internal, Act: "postgres: " + act, Err: err}
	explained, ok := faultOf(err)
	switch {
	case ok:
		e.Code, e.Reason, e.Hint = explained.code, explained.reason, explained.hint
	case errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded):
		return err
	}
	return e
}

// faultInfo is what a rota.Error reports about an error.
type faultInfo struct {
	code         rota.Code
	reason, hint string
}

// faultOf explains an error by its SQLSTATE, and otherwise by the state of the connection. An error
// of connecting is checked before its cause: a server that does not answer a new connection fails
// with an expired context, as a caller that has stopped waiting does.
func faultOf(err error) (m faultInfo, ok bool) {
	var connectErr *pgconn.ConnectError
	if state := stateOf(err); state != "" {
		if m, ok = faults[state]; !ok {
			m, ok = faultClasses[state[:2]]
		}
		return m, ok
	}
	switch {
	case errors.Is(err, context.Canceled):
		return m, false
	case errors.As(err, &connectErr):
		return unreachable, true
	case isLost(err):
		return connectionLost, true
	}
	return m, false
}

// stateOf returns the SQLSTATE of an error, or "" if the error is not from the server.
func stateOf(err error) string {
	var pgErr *pgconn.PgError
	if errors.As(err, &pgErr) && len(pgErr.Code) == 5 {
		return pgErr.Code
	}
	return ""
}

// stateLockTimeout is the SQLSTATE of a lock that was not free in time.
const stateLockTimeout = "55P03"

// isLost reports whether a connection broke.
func isLost(err error) bool {
	var network net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// Explanations that several SQLSTATEs share.
var (
	unreachable    = faultInfo{rota.Unavailable, "PostgreSQL cannot be reached", "check that the server runs, and the host and port in the store's URL"}
	connectionLost = faultInfo{rota.Unavailable, "the connection to PostgreSQL was lost", "retry; a command that was applied is not applied twice"}
	serverStopping = faultInfo{rota.Unavailable, "PostgreSQL is stopping, or an administrator ended the connection", "retry when the server runs; a command that was applied is not applied twice"}
	contended      = faultInfo{rota.Busy, "other transactions keep changing the same rows", "retry"}
	loginRefused   = faultInfo{rota.Unavailable, "PostgreSQL refused the login", "check the user and the password in the store's URL, in PGPASSWORD or in ~/.pgpass, and the server's pg_hba.conf"}
	schemaMismatch = faultInfo{rota.Internal, "the tables differ from those that Rota created", "run rota verify, and restore a backup"}
	preparedLost   = faultInfo{rota.Unavailable, "a prepared statement is missing, as happens behind a pooler", "add poll=true to the store's URL"}
	badCharacter   = faultInfo{rota.Invalid, "the database cannot store a character of the text", "remove the character U+0000, and use a database with the encoding UTF8"}
)

// faults explains errors by their SQLSTATE.
var faults = map[string]faultInfo{
	stateMoved: {rota.Conflict, "this store was moved to another one", "use the store that rota copy has moved it to; rota serve names it"},
	"08P01":    {rota.Unavailable, "PostgreSQL or the pooler rejects a parameter of the store's URL", "remove the parameter from the URL, or add it to ignore_startup_parameters of PgBouncer; its log names the parameter"},
	"22021":    badCharacter,
	"22P05":    badCharacter,
	"25006":    {rota.Unavailable, "the server is read-only", "use the primary in the store's URL, or add target_session_attrs=read-write to it"},
	"25P03":    {rota.Unavailable, "PostgreSQL ended a transaction that was idle for too long", "retry; check whether this machine is overloaded"},
	"26000":    preparedLost,
	"3D000":    {rota.Unavailable, "the database does not exist", "create it with CREATE DATABASE, or use another one in the store's URL"},
	"3F000":    schemaMismatch,
	"40001":    contended,
	"40P01":    contended,
	"42501":    {rota.Unavailable, "the role lacks a privilege", "connect as the role that created the store's schema, or GRANT this role its privileges"},
	"42703":    schemaMismatch,
	"42704":    {rota.Invalid, "PostgreSQL does not know a parameter of the store's URL", "check its spelling; Rota reads schema, pool_max_conns and poll, and passes all others to PostgreSQL"},
	"42883":    schemaMismatch,
	"42P01":    schemaMismatch,
	"42P05":    preparedLost,
	"53100":    {rota.Unavailable, "the server's disk is full", "free some space and retry; what was committed is safe"},
	"53200":    {rota.Unavailable, "the server is out of memory", "free memory on the server or lower its max_connections, and retry"},
	"53300":    {rota.Unavailable, "the server has no free connection", "raise its max_connections, lower pool_max_conns in the store's URL, or use a pooler"},
	"55P03":    {rota.Busy, "another transaction holds a lock for too long", "retry; pg_stat_activity shows the transactions that hold locks"},
	"57014":    {rota.Unavailable, "PostgreSQL cancelled a statement that took too long", "retry; check whether the server is overloaded"},
	"57P01":    serverStopping,
	"57P02":    serverStopping,
	"57P03":    {rota.Unavailable, "PostgreSQL is starting or stopping", "retry in a moment"},
	"57P05":    connectionLost,
	"58030":    {rota.Unavailable, "the server's disk failed", "check the server's log, and retry when the disk works"},
	"XX001":    {rota.Internal, "the server's data is damaged", "stop Rota, copy the data directory, and restore a backup"},
	"XX002":    {rota.Internal, "an index is damaged", "stop Rota, copy the server's data directory, and run REINDEX or restore a backup"},
}

// faultClasses explains errors by the class of their SQLSTATE, its first two characters.
var faultClasses = map[string]faultInfo{
	"08": connectionLost,
	"28": loginRefused,
	"53": {rota.Unavailable, "the server is short of a resource", "check the server's log"},
	"57": connectionLost,
	"58": {rota.Unavailable, "the server's operating system reported an error", "check the server's log, and retry when it works"},
}

// isConstraint reports whether the database refused the data: by a constraint, a trigger or a limit
// of its types. Apply checks it after the last retry, when a unique violation is no longer a race
// with another transaction.
func isConstraint(err error) bool {
	if state := stateOf(err); state != "" {
		class := state[:2]
		return class == "23" || class == "22" || class == "54"
	}
	return false
}

// errReadSetChanged is the serialization failure that PostgreSQL raises when the read set has
// changed.
var errReadSetChanged = &pgconn.PgError{Severity: "ERROR", Code: "40001", Message: "rota: a row of the read set has changed"}

// isRetryable reports whether another transaction interfered, so that the batch has to be decided
// again on new rows.
func isRetryable(err error) bool {
	switch stateOf(err) {
	case "40001", // serialization failure: the read set has changed
		"40P01", // deadlock
		"23505", // unique violation
		"23P01":
		return true
	}
	return false
}
