package sqlite

import (
	"context"
	"errors"
	"iter"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/verify"
	"zombiezen.com/go/sqlite"
)

// checkedEvery is the number of jobs between two progress reports.
const checkedEvery = 10_000

// Verify checks every invariant of rota.Checks on one snapshot of the file, while other
// transactions continue to write.
func (s *Store) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.VerifyProgress(ctx, func(rota.Checked) {})
}

// VerifyProgress is Verify with progress reports: it reports how many rows it has checked, at
// intervals and at the end.
func (s *Store) VerifyProgress(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return s.inspect(ctx, progress, (*inspection).checkAll)
}

// verifyOpen checks only jobs that run, and jobs that ended and are not settled: an unclean stop
// can leave only these incomplete.
func (s *Store) verifyOpen(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.inspect(ctx, func(rota.Checked) {}, func(in *inspection) error { return in.jobs(sqlVerifyOpen) })
}

// inspection is one run of Verify on one connection.
type inspection struct {
	*verify.Verifier
	conn     *sqlite.Conn
	progress func(rota.Checked)
	checked  rota.Checked
	report   func(rota.Violation)
	stopped  bool // the caller's loop has ended
}

// errStopped ends an inspection after the caller's loop has ended.
var errStopped = errors.New("stopped")

func (s *Store) inspect(
	ctx context.Context, progress func(rota.Checked), check func(*inspection) error,
) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {
		in := &inspection{progress: progress}
		in.report = func(v rota.Violation) { in.stopped = in.stopped || !yield(v, nil) }
		in.Verifier = verify.NewVerifier(in.report)
		err := s.withOwnConn(ctx, "verify", func(conn *sqlite.Conn) error {
			in.conn = conn
			return in.damage(check(in))
		})
		switch {
		case in.stopped || err == nil:
		case ctx.Err() != nil:
			yield(rota.Violation{}, ctx.Err())
		default:
			yield(rota.Violation{}, err)
		}
	}
}

// damage turns an error about a damaged file into a violation, because that is what Verify looks
// for.
func (in *inspection) damage(err error) error {
	switch sqlite.ErrCode(err).ToPrimary() {
	case sqlite.ResultCorrupt, sqlite.ResultNotADB:
		in.reportFile("it cannot be read completely: " + err.Error())
		return nil
	}
	return err
}

func (in *inspection) checkAll() error {
	in.progress(in.checked)
	err := firstError(
		in.integrity,
		in.schema,
		in.definitions,
		func() error { return in.jobs(sqlVerifyJobs) },
		in.recheck,
		in.orphanParams,
		in.relations,
		in.references,
		in.keys,
		in.audit,
		func() error { return in.order(sqlVerifyQueue, in.QueueOrder()) },
		func() error { return in.order(sqlVerifyClaim, in.ClaimOrder()) },
	)
	if err == nil {
		in.progress(in.checked)
	}
	return err
}

func (in *inspection) references() error {
	in.References()
	return nil
}

// each executes a query and resets its statement, also if the caller's loop ends by a panic.
func (in *inspection) each(sql string, bind func(*sqlite.Stmt), check func(*sqlite.Stmt) error) error {
	stmt, err := in.conn.Prepare(sql)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	if bind != nil {
		bind(stmt)
	}
	return rows(stmt, func(s *sqlite.Stmt) error {
		if err := check(s); err != nil || !in.stopped {
			return err
		}
		return errStopped
	})
}
