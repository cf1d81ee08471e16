package postgres

import (
	"context"
	"errors"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

// fault translates an error of PostgreSQL, by its SQLSTATE, or of the way to it,
// into one that names the reason and the remedy. That somebody stopped waiting is
// not an error of either.
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

// faultInfo is what an error is to whoever reads it.
type faultInfo struct {
	code         rota.Code
	reason, hint string
}

// faultOf looks for what the server said, and then for what became of the
// connection. A server that does not answer while one is made looks like a caller
// who has stopped waiting; it is the first.
func faultOf(err error) (m faultInfo, ok bool) {
	var unmade *pgconn.ConnectError
	if state := stateOf(err); state != "" {
		if m, ok = faults[state]; !ok {
			m, ok = faultClasses[state[:2]]
		}
		return m, ok
	}
	switch {
	case errors.Is(err, context.Canceled):
		return m, false
	case errors.As(err, &unmade):
		return unreachable, true
	case isLost(err):
		return connectionLost, true
	}
	return m, false
}

// stateOf is the SQLSTATE of an error, or empty if the server did not say it.
func stateOf(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) && len(said.Code) == 5 {
		return said.Code
	}
	return ""
}

// isLost says that a connection broke, whatever was on its way.
func isLost(err error) bool {
	var network net.Error
	return errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network) && !errors.Is(err, context.DeadlineExceeded)
}

// What several errors mean.
var (
	unreachable    = faultInfo{rota.Unavailable, "PostgreSQL cannot be reached", "see that it runs, and that the store's URL is right"}
	connectionLost = faultInfo{rota.Unavailable, "the connection to PostgreSQL was lost", "send it again: what was done is found and not done twice"}
	serverStopping = faultInfo{rota.Unavailable, "PostgreSQL is stopping, or somebody ended the connection", "send it again when it runs: what was done is found and not done twice"}
	contended      = faultInfo{rota.Busy, "others keep changing the same rows", "send it again"}
	loginRefused   = faultInfo{rota.Unavailable, "PostgreSQL refused the login", "see the user and the password in the store's URL, or give it by PGPASSWORD or in ~/.pgpass; and see the server's pg_hba.conf"}
	schemaMismatch = faultInfo{rota.Internal, "its tables are not as Rota made them", "look with rota verify, and restore a backup"}
	preparedLost   = faultInfo{rota.Unavailable, "prepared statements get lost, as behind a pooler", "say so in the store's URL: poll=true"}
	badCharacter   = faultInfo{rota.Invalid, "the database cannot keep a character of it", "leave out characters of code 0, and see that the database's encoding is UTF8"}
)

// faults are by SQLSTATE.
var faults = map[string]faultInfo{
	"08P01": {rota.Unavailable, "PostgreSQL, or the pooler before it, does not take what the store's URL says", "leave out of the URL what it names, or have pgbouncer pass over it with ignore_startup_parameters; else see its log"},
	"22021": badCharacter,
	"22P05": badCharacter,
	"25006": {rota.Unavailable, "this server can only be read", "name the primary in the store's URL, or add target_session_attrs=read-write to it"},
	"25P03": {rota.Unavailable, "PostgreSQL ended a transaction in which nothing happened for too long", "send it again; see whether this machine is overloaded"},
	"26000": preparedLost,
	"3D000": {rota.Unavailable, "there is no such database", "make it with CREATE DATABASE, or name another in the store's URL"},
	"3F000": schemaMismatch,
	"40001": contended,
	"40P01": contended,
	"42501": {rota.Unavailable, "the role may not do this", "let the role that made the store's schema use it, or GRANT this one the rights"},
	"42703": schemaMismatch,
	"42704": {rota.Invalid, "a parameter in the store's URL is not known to PostgreSQL", "see how it is written: schema, pool_max_conns and poll are Rota's, all others PostgreSQL's"},
	"42883": schemaMismatch,
	"42P01": schemaMismatch,
	"42P05": preparedLost,
	"53100": {rota.Unavailable, "the server's disk is full", "free some space and try again; what was answered is safe"},
	"53200": {rota.Unavailable, "the server has not enough memory", ""},
	"53300": {rota.Unavailable, "the server has no connection left", "raise its max_connections, open the store with fewer, or put a pooler between"},
	"55P03": {rota.Busy, "somebody else holds what it needs", "send it again; look into pg_stat_activity for who holds locks for long"},
	"57014": {rota.Unavailable, "PostgreSQL ended it, since it took too long", "send it again; see whether the server is overloaded"},
	"57P01": serverStopping,
	"57P02": serverStopping,
	"57P03": {rota.Unavailable, "PostgreSQL is starting or stopping", "try again in a moment"},
	"57P05": connectionLost,
	"58030": {rota.Unavailable, "the server's disk failed", "see its log; send it again when it works"},
	"XX001": {rota.Internal, "the server's data is damaged", "stop, keep a copy of it, and restore a backup"},
	"XX002": {rota.Internal, "an index is damaged", "stop, keep a copy of the server's data, and REINDEX or restore a backup"},
}

// faultClasses are by the first two characters of the SQLSTATE.
var faultClasses = map[string]faultInfo{
	"08": connectionLost,
	"28": loginRefused,
	"53": {rota.Unavailable, "the server is short of something", "see its log"},
	"57": connectionLost,
	"58": {rota.Unavailable, "the server's system failed", "see its log; send it again when it works"},
}

// isConstraint reports whether the database itself refused what was to be
// written: by a constraint or a trigger, or since it cannot keep it. It is asked
// when trying again is over: whoever is still not the first to write a key then
// has no rule that sees who was.
func isConstraint(err error) bool {
	if state := stateOf(err); state != "" {
		class := state[:2]
		return class == "23" || class == "22" || class == "54"
	}
	return false
}

// errReadSetChanged is what PostgreSQL answers when what was read has moved.
var errReadSetChanged = &pgconn.PgError{Severity: "ERROR", Code: "40001", Message: "rota: what was read is to be read again"}

// isRetryable reports whether somebody else was first: what was decided on is not so
// any more, and is to be decided again.
func isRetryable(err error) bool {
	switch stateOf(err) {
	case "40001", // what was read has moved
		"40P01", // two waited for each other
		"23505", // a key was taken
		"23P01":
		return true
	}
	return false
}
