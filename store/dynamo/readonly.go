package dynamo

import (
	"context"
	"iter"

	"github.com/rotajobs/rota"
)

// noStore is the error of a table that would have to be created.
func noStore(table string) error {
	return &rota.Error{
		Code: rota.NotFound, Act: "dynamodb: open", Reason: "the table " + table + " holds no store",
		Hint: "check the name of the table, the region and the endpoint; rota serve creates the store",
	}
}

func errReadOnly(act string) error {
	return &rota.Error{
		Code: rota.Conflict, Act: "dynamodb: " + act, Reason: "the store is opened read-only",
		Hint: "open it without ReadOnly to change it",
	}
}

// VerifyProgress checks every invariant on the replica, as it is after all slots that were taken before the call.
func (s *Store) VerifyProgress(ctx context.Context, report func(rota.Checked)) iter.Seq2[rota.Violation, error] {
	return s.log.replica.VerifyProgress(ctx, report)
}

// Backup writes a copy of all that was committed before the call to a file that does not exist. The copy is an SQLite
// store of its own.
func (s *Store) Backup(ctx context.Context, path string, progress func(done, total int64)) error {
	return s.log.replica.Backup(ctx, path, progress)
}
