package storekit

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/verify"
)

// Verified is one snapshot of a store that Verify checks.
type Verified interface {
	// Each executes a query and calls check with each row as it arrives. check executes no query.
	Each(sql string, check func(Row) error, args ...any) error
	// CheckDatabase checks what only this kind of database has: files, schema, tables of its own.
	CheckDatabase(report func(rota.Violation)) error
	// EachInIndex reads an index of QUEUED jobs in its order: type, priority, position, time of
	// creation, id. It returns false if the index does not exist, which CheckDatabase has reported.
	EachInIndex(index Index, check func(Row) error) (exists bool, err error)
	// EachWrongAuditID calls check with the id of each audit entry whose id does not have 16 bytes.
	EachWrongAuditID(check func(Row) error) error
	// AuditEntries reads the audit entries that have one of some ids, in any order, with the columns of
	// Audit.
	AuditEntries(ids []rota.ID, each func(Row) error) error
	// Damage returns a description of a damaged database if err reports one, and "" otherwise.
	Damage(err error) (database, detail string)
}

// Index is an index of the queue.
type Index int

// The indexes that Verify reads.
const (
	QueueIndex Index = iota // all QUEUED jobs in the order of the queue; the type is empty
	ClaimIndex              // all ready jobs in the order of the type queues
)

// CheckedEvery is the number of jobs between two progress reports.
const CheckedEvery = 10_000

// errStopped ends an inspection after the caller's loop has ended.
var errStopped = errors.New("stopped")

// Inspection is one run of Verify.
type Inspection struct {
	*verify.Verifier
	on       Verified
	progress func(rota.Checked)
	checked  rota.Checked
	report   func(rota.Violation)
	stopped  bool // the caller's loop has ended
}

// Inspect returns the violations that check finds. withSnapshot calls use with a snapshot.
func Inspect(
	ctx context.Context, progress func(rota.Checked), withSnapshot func(use func(Verified) error) error,
	check func(*Inspection) error,
) iter.Seq2[rota.Violation, error] {
	return func(yield func(rota.Violation, error) bool) {
		in := &Inspection{progress: progress}
		in.report = func(v rota.Violation) { in.stopped = in.stopped || !yield(v, nil) }
		in.Verifier = verify.NewVerifier(in.report)
		err := withSnapshot(func(on Verified) error {
			in.on = on
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

// damage turns an error about a damaged database into a violation, because that is what Verify
// looks for.
func (in *Inspection) damage(err error) error {
	if err == nil {
		return nil
	}
	database, detail := in.on.Damage(err)
	if database == "" {
		return err
	}
	in.report(rota.Violation{Check: rota.CheckFile, Rows: []string{database}, Detail: "it cannot be read completely: " + detail})
	return nil
}

// CheckAll checks every invariant of rota.Checks.
func (in *Inspection) CheckAll() error {
	in.progress(in.checked)
	err := firstError(
		func() error { return in.on.CheckDatabase(in.report) },
		in.intents, in.limits, in.webhooks, in.buckets, in.types, in.templates, in.schedules, in.orphanEdges, in.principals, in.accessTokens, in.accessState,
		in.secrets, in.secretKeys,
		func() error { return in.jobs("", "") },
		in.recheck,
		in.overlapTurns, in.queues, in.redrives, in.groups, in.orphanMembers, in.reservations,
		func() error {
			in.References()
			return nil
		},
		in.keys, in.audit, in.chain,
		func() error { return in.order(QueueIndex, in.QueueOrder()) },
		func() error { return in.order(ClaimIndex, in.ClaimOrder()) },
	)
	if err == nil {
		in.progress(in.checked)
	}
	return err
}

// CheckOpen checks only jobs that run, and jobs that ended and are not settled: an unclean stop can
// leave only these incomplete. index names the index of these jobs, after FROM rota_jobs j.
func (in *Inspection) CheckOpen(index string) error {
	return in.jobs(index, ` AND j.status = 'RUNNING' AND j.sequel IS NULL`)
}

func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// each checks the rows of a query until the caller's loop ends.
func (in *Inspection) each(sql string, check func(Row), args ...any) error {
	return in.on.Each(sql, in.untilStopped(check), args...)
}

func (in *Inspection) untilStopped(check func(Row)) func(Row) error {
	return func(r Row) error {
		check(r)
		if in.stopped {
			return errStopped
		}
		return nil
	}
}

// checkWidth reports an id that does not have 16 bytes, which a row reads wrongly.
func (in *Inspection) checkWidth(r Row, col int, row, name string) {
	if n := r.Size(col); n != len(rota.ID{}) && !r.Null(col) {
		in.report(rota.Violation{
			Check: rota.CheckIDShape, Rows: []string{row}, Detail: fmt.Sprintf("its %s has %d bytes instead of 16", name, n),
		})
	}
}

// checkWidths checks all ids of a row of a table.
func checkWidths[T any](in *Inspection, t *Table[T], r Row, row string) {
	for col, c := range t.read {
		if c.Kind == ID {
			in.checkWidth(r, col, row, c.Name)
		}
	}
}
