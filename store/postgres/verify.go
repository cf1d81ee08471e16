package postgres

import (
	"context"
	"errors"
	"iter"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/verify"
)

// checkedEvery is the number of jobs between two progress reports.
const checkedEvery = 10_000

// Verify checks every invariant of rota.Checks on one snapshot of the store, while other
// transactions continue to write.
func (s *Store) Verify(ctx context.Context) iter.Seq2[rota.Violation, error] {
	return s.VerifyProgress(ctx, func(rota.Checked) {})
}

// VerifyProgress is Verify with progress reports: it reports how many rows it has checked, at
// intervals and at the end. It releases its connection however the caller's loop ends, also by a
// panic.
func (s *Store) VerifyProgress(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {
		next, stop := iter.Pull2(s.inspect(ctx, progress))
		defer stop()
		for {
			v, err, found := next()
			if !found || !yield(v, err) {
				return
			}
		}
	}
}

func (s *Store) inspect(ctx context.Context, progress func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {
		in := &inspection{progress: progress}
		in.report = func(v rota.Violation) { in.stopped = in.stopped || !yield(v, nil) }
		in.Verifier = verify.NewVerifier(in.report)
		err := s.withSnapshot(ctx, "verify", func(c *session, ctx context.Context) error {
			in.session, in.ctx = c, ctx
			return in.damage(in.checkAll())
		})
		if err != nil && !in.stopped {
			yield(rota.Violation{}, err)
		}
	}
}

// inspection is one run of Verify on one connection.
type inspection struct {
	*verify.Verifier
	*session
	ctx      context.Context
	progress func(rota.Checked)
	checked  rota.Checked
	report   func(rota.Violation)
	stopped  bool // the caller's loop has ended
}

// errStopped ends an inspection after the caller's loop has ended.
var errStopped = errors.New("stopped")

// damage turns an error about a damaged table or index into a violation, because that is what
// Verify looks for.
func (in *inspection) damage(err error) error {
	switch stateOf(err) {
	case "XX001", "XX002":
		in.report(rota.Violation{
			Check: rota.CheckFile, Rows: []string{"database"}, Detail: "it cannot be read completely: " + err.Error(),
		})
		return nil
	}
	return err
}

func (in *inspection) checkAll() error {
	in.progress(in.checked)
	if err := in.send(in.ctx, withoutJIT); err != nil {
		return err
	}
	for _, check := range []func() error{
		in.schema,
		in.definitions,
		in.jobs,
		in.recheck,
		in.relations,
		in.references,
		in.keys,
		in.audit,
		in.indexScansOnly,
		func() error { return in.order(sqlVerifyQueue, in.QueueOrder()) },
		func() error { return in.order(sqlVerifyClaim, in.ClaimOrder()) },
	} {
		if err := check(); err != nil {
			return err
		}
	}
	in.progress(in.checked)
	return nil
}

func (in *inspection) references() error {
	in.References()
	return nil
}

// each executes a statement and checks one row after the other as they arrive.
func (in *inspection) each(sql string, check func(row) error, params ...param) error {
	return in.send(in.ctx, statement{sql: sql, params: params, eachRow: func(r row) error {
		if err := check(r); err != nil || !in.stopped {
			return err
		}
		return errStopped
	}})
}
