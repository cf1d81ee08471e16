package sqlite

import (
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"
)

// statements holds the prepared statements. Those that change rows use OR ROLLBACK, so that SQLite
// needs no statement journal for a table with a trigger and a constraint.
type statements struct {
	byText    map[string]*sqlite.Stmt
	jobUpdate map[jobUpdate]*sqlite.Stmt
	heads     []*sqlite.Stmt // one for each type queue that a claim reads at the same time
}

// prepare prepares the statements that every command needs, so that Open detects a missing table or
// index.
func (w *writer) prepare() error {
	w.stmts = statements{
		byText:    map[string]*sqlite.Stmt{},
		jobUpdate: map[jobUpdate]*sqlite.Stmt{},
	}
	for _, sql := range []string{
		sqlBegin, sqlCommit, sqlDataVersion, sqlInsertJob, sqlInsertParams, sqlInsertAudit, sqlLease, sqlTail, sqlClaimedBefore,
		sqlDue, sqlStale, sqlUnsettled, sqlOrderAhead, sqlKeyGet, sqlPlan, sqlRetry,
		sqlType, sqlTemplate, sqlSchedule, sqlDueSchedules, sqlUsing, sqlDependents, sqlLatest, sqlExpiredWaits, sqlJobsOf,
		sqlGroup, sqlMembersLive, sqlMembersFirst, sqlThrottle, sqlBucket, sqlKeyQueueOpen, sqlReservation, sqlActive,
		sqlIntents, sqlRedriven, sqlListSchedule, sqlListDead, sqlRequest, sqlExpiredRequests, sqlWebhooks, sqlTemplateWebhooks,
		sqlStatsReady, sqlStatsHeld, sqlStatsSchedules, sqlSchedulesNext, sqlCountEnded,
	} {
		if _, err := w.stmt(sql); err != nil {
			return err
		}
	}
	_, err := w.headStmt(0)
	return err
}

func (s *statements) finalize() {
	all := slices.Collect(maps.Values(s.byText))
	all = slices.AppendSeq(all, maps.Values(s.jobUpdate))
	for _, stmt := range append(all, s.heads...) {
		_ = stmt.Finalize() // repeats the error of its last step
	}
}

// stmt returns the prepared statement of an SQL text, with its parameters cleared.
func (w *writer) stmt(sql string) (*sqlite.Stmt, error) {
	if s := w.stmts.byText[sql]; s != nil {
		return s, s.ClearBindings()
	}
	s, _, err := w.conn.PrepareTransient(sql)
	if err != nil {
		return nil, err
	}
	w.stmts.byText[sql] = s
	return s, nil
}

// exec executes a statement without parameters and rows.
func (w *writer) exec(sql string) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	return w.step(s)
}

// step executes a bound statement without rows.
func (w *writer) step(s *sqlite.Stmt) error {
	_, err := s.Step()
	if resetErr := s.Reset(); err == nil {
		err = resetErr
	}
	return err
}

// write executes a bound statement that changes rows.
func (w *writer) write(s *sqlite.Stmt) error {
	if w.injectFault != nil {
		w.writes++
		if err := w.injectFault(w.writes); err != nil {
			return err
		}
	}
	return w.step(s)
}

// query executes a query of the rules.
func (w *writer) query(sql string, bind func(*sqlite.Stmt), each func(*sqlite.Stmt) error) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	if bind != nil {
		bind(s)
	}
	return rows(s, each)
}

// change binds and executes a statement that changes rows.
func (w *writer) change(sql string, bind func(*sqlite.Stmt)) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	bind(s)
	return w.write(s)
}

// rows executes a bound query.
func rows(s *sqlite.Stmt, each func(*sqlite.Stmt) error) error {
	for {
		more, err := s.Step()
		if err == nil && more {
			err = each(s)
		}
		if err != nil || !more {
			if resetErr := s.Reset(); err == nil {
				err = resetErr
			}
			return err
		}
	}
}
