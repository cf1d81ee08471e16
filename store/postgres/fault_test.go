package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rotajobs/rota"
)

func pgError(state string) error {
	return &pgconn.PgError{Code: state, Message: "no", Severity: "ERROR"}
}

// TestFault checks that each SQLSTATE is explained with a reason and a remedy, also if the error is
// wrapped.
func TestFault(t *testing.T) {
	for _, test := range []struct {
		state, reason, hint string
		code                rota.Code
	}{
		{"08006", "connection", "retry", rota.Unavailable},
		{"22021", "character", "UTF8", rota.Invalid},
		{"22003", "", "", rota.Internal},
		{"23514", "", "", rota.Internal},
		{"25006", "read-only", "primary", rota.Unavailable},
		{"25P03", "too long", "retry", rota.Unavailable},
		{"26000", "pooler", "poll=true", rota.Unavailable},
		{"28P01", "login", "password", rota.Unavailable},
		{"08P01", "rejects a parameter", "ignore_startup_parameters", rota.Unavailable},
		{"42704", "does not know", "pool_max_conns", rota.Invalid},
		{"28000", "login", "pg_hba.conf", rota.Unavailable},
		{"3D000", "does not exist", "CREATE DATABASE", rota.Unavailable},
		{"40001", "keep changing", "retry", rota.Busy},
		{"40P01", "keep changing", "retry", rota.Busy},
		{"42501", "privilege", "GRANT", rota.Unavailable},
		{"42P01", "differ from those that Rota created", "verify", rota.Internal},
		{"53100", "disk is full", "space", rota.Unavailable},
		{"53300", "no free connection", "max_connections", rota.Unavailable},
		{"53400", "short of a resource", "log", rota.Unavailable},
		{"55P03", "another transaction holds", "pg_stat_activity", rota.Busy},
		{"57014", "took too long", "retry", rota.Unavailable},
		{"57P01", "stopping", "retry", rota.Unavailable},
		{"57P03", "starting", "moment", rota.Unavailable},
		{"58030", "disk failed", "log", rota.Unavailable},
		{"XX001", "damaged", "backup", rota.Internal},
		{"P0001", "", "", rota.Internal},
	} {
		for _, err := range []error{pgError(test.state), fmt.Errorf("migration: %w", pgError(test.state))} {
			var e *rota.Error
			if !errors.As(fault("claim", err), &e) {
				t.Fatalf("%s is %v", test.state, fault("claim", err))
			}
			if e.Code != test.code || !strings.Contains(e.Reason, test.reason) || !strings.Contains(e.Hint, test.hint) || e.Err != err {
				t.Errorf("%s is %s %q %q", test.state, e.Code, e.Reason, e.Hint)
			}
			if !strings.HasPrefix(e.Error(), "postgres: claim: ") || !strings.Contains(e.Error(), "SQLSTATE "+test.state) {
				t.Errorf("%s reads %q", test.state, e)
			}
		}
	}
}

// TestFaultOfBrokenConnection checks an unreachable server and connections that break.
func TestFaultOfBrokenConnection(t *testing.T) {
	_, refused := pgconn.Connect(t.Context(), "postgres://eve:secret@127.0.0.1:1/rota?sslmode=disable")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	within, done := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer done()
	_, unanswered := pgconn.Connect(within, "postgres://eve:secret@"+listener.Addr().String()+"/rota?sslmode=disable")
	for _, test := range []struct {
		name   string
		err    error
		reason string
	}{
		{"no listener", refused, "cannot be reached"},
		{"no answer", unanswered, "cannot be reached"},
		{"closed before", pgconn.ErrConnClosed, "was lost"},
		{"end of stream", io.ErrUnexpectedEOF, "was lost"},
		{"reset", &net.OpError{Op: "read", Err: errors.New("connection reset by peer")}, "was lost"},
	} {
		got := fault("claim", test.err)
		if rota.CodeOf(got) != rota.Unavailable || !strings.Contains(got.Error(), test.reason) || strings.Contains(got.Error(), "secret") {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestFaultKeepsKnownErrors checks that a rota.Error and the error of an ended context stay as they
// are.
func TestFaultKeepsKnownErrors(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, cancelled := pgconn.Connect(ctx, "postgres://eve@127.0.0.1:1/rota?sslmode=disable")
	for _, err := range []error{
		nil, rota.Invalidf("type", "is empty"), context.Canceled, fmt.Errorf("timeout: %w", context.DeadlineExceeded), cancelled,
	} {
		if got := fault("claim", err); got != err {
			t.Errorf("%v became %v", err, got)
		}
	}
	if got := fault("claim", errPipeline); rota.CodeOf(got) != rota.Internal || !errors.Is(got, errPipeline) {
		t.Errorf("an unknown error becomes %v", got)
	}
}

// TestRetryableOrConstraint checks which errors Apply retries and which it reports as a refusal. A
// unique violation is both.
func TestRetryableOrConstraint(t *testing.T) {
	for state, want := range map[string]struct{ retryable, refused bool }{
		"40001": {true, false}, "40P01": {true, false}, "23505": {true, true}, "23P01": {true, true},
		"23514": {false, true}, "23502": {false, true}, "23503": {false, true}, "22021": {false, true}, "54000": {false, true},
		"55P03": {}, "57014": {}, "08006": {},
	} {
		for _, err := range []error{pgError(state), fault("apply", pgError(state))} {
			if isRetryable(err) != want.retryable || isConstraint(err) != want.refused {
				t.Errorf("%s: moved %t, refused %t", state, isRetryable(err), isConstraint(err))
			}
		}
	}
	for _, err := range []error{nil, io.EOF, context.Canceled} {
		if isRetryable(err) || isConstraint(err) {
			t.Errorf("%v is retryable or a constraint", err)
		}
	}
}
