package sqlite

import (
	"maps"
	"slices"

	"zombiezen.com/go/sqlite"
)

// statements are prepared once and kept. Those that change rows say OR
// ROLLBACK, which spares SQLite the statement journal that a trigger beside a
// constraint would otherwise make it keep.
type statements struct {
	byText    map[string]*sqlite.Stmt
	jobUpdate map[jobUpdate]*sqlite.Stmt
	heads     []*sqlite.Stmt // one for each lane that a claim walks at once
}

// prepare also finds out, before anything is accepted, whether the tables and
// indexes that every verb needs are there.
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
		_ = stmt.Finalize() // repeats the error of its last step, if any
	}
}

// stmt returns the statement for a constant of SQL, ready to be bound.
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

// exec runs a statement that neither takes nor gives anything.
func (w *writer) exec(sql string) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	return w.step(s)
}

// step runs a bound statement that gives nothing.
func (w *writer) step(s *sqlite.Stmt) error {
	_, err := s.Step()
	if resetErr := s.Reset(); err == nil {
		err = resetErr
	}
	return err
}

// write runs a bound statement that changes rows.
func (w *writer) write(s *sqlite.Stmt) error {
	if w.injectFault != nil {
		w.writes++
		if err := w.injectFault(w.writes); err != nil {
			return err
		}
	}
	return w.step(s)
}

// query runs a query of the law.
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

// change runs a statement that changes rows.
func (w *writer) change(sql string, bind func(*sqlite.Stmt)) error {
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	bind(s)
	return w.write(s)
}

// rows runs a bound query.
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
