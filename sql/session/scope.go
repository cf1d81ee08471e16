package session

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
	"github.com/rotajobs/rota/sql/ddl"
)

// scoped is a store that knows the token of the session.
type scoped interface {
	InScope(context.Context, access.Operation) error
}

// checkScope refuses a statement that the scope of the token excludes. It does so before the statement is planned, because an
// error of planning tells what exists.
func (s *Session) checkScope(ctx context.Context, statement ddl.Statement) error {
	needs := operationOf(statement)
	if needs == access.OwnOperation || s.Status() == Failed { // then checkNotAborted refuses it
		return nil
	}
	if guard, is := rota.StoreAs[scoped](s.store); is {
		return guard.InScope(ctx, needs)
	}
	return nil
}

// operationOf says which tokens may run a statement. One that changes only the session may be run with each.
func operationOf(statement ddl.Statement) access.Operation {
	switch statement.(type) {
	case *ddl.Select, *ddl.ShowJobs, *ddl.ShowCreateJob, *ddl.ShowGrants, *ddl.ShowUsers, *ddl.ShowRoles, *ddl.Show, *ddl.ExplainRun, *ddl.ExplainQuery:
		return access.ReadOperation
	case *ddl.Begin, *ddl.Commit, *ddl.Rollback, *ddl.Savepoint, *ddl.Release, *ddl.RollbackTo,
		*ddl.Set, *ddl.SetMode, *ddl.Reset, *ddl.Discard, *ddl.Deallocate, *ddl.NoOp:
		return access.OwnOperation
	}
	return access.WriteOperation
}
