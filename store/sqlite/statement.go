package sqlite

import (
	"maps"
	"slices"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

// statements holds the prepared statements.
type statements struct {
	byText    map[string]*sqlite.Stmt
	jobUpdate map[updateKey]jobUpdate
	heads     []*sqlite.Stmt // one for each type queue that a claim reads at the same time
}

// prepare prepares the statements that every command needs, so that Open detects a missing table or
// index.
func (w *writer) prepare() error {
	w.stmts = statements{
		byText:    map[string]*sqlite.Stmt{},
		jobUpdate: map[updateKey]jobUpdate{},
	}
	list := func(q rota.JobQuery) string {
		sql, _ := reads.ListSQL(&q, 1)
		return sql
	}
	for _, sql := range []string{
		sqlBegin, sqlCommit, sqlDataVersion, sqlInsertJob, sqlInsertParams, sqlInsertAudit, sqlLease, sqlTail, sqlClaimedBefore,
		sqlDue, sqlStale, sqlUnsettled, sqlOrderAhead, sqlPlan, sqlRetry, sqlDueSchedules, sqlTemplateSchedules, sqlDependents,
		sqlLatestJobs, sqlExpiredWaits, sqlLiveJobs, sqlMembersLive, sqlMembersFirst, sqlKeyQueueOpen, sqlKeyQueueOpenOf, sqlLiveKeys, sqlActive, sqlRedrives,
		sqlExpiredRequests, sqlTemplateWebhooks, sqlStats, sqlSchedulesNext, sqlCountEnded,
		storekit.UniqueKeys.ByKey(), storekit.Types.ByKey(), storekit.Templates.ByKey(), storekit.Schedules.ByKey(),
		storekit.Groups.ByKey(), storekit.Throttle.ByKey(), storekit.Buckets.ByKey(), storekit.Reservations.ByKey(),
		storekit.Requests.ByKey(), storekit.Webhooks.ByKey(), storekit.Intents.ByKey(),
		list(rota.JobQuery{Schedule: "x"}), list(rota.JobQuery{Dead: true}),
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
	for _, u := range s.jobUpdate {
		all = append(all, u.stmt)
	}
	for _, stmt := range append(all, s.heads...) {
		_ = stmt.Finalize() // repeats the error of its last step
	}
}

// stmt returns the prepared statement of an SQL text, with its parameters cleared.
func (w *writer) stmt(sql string) (*sqlite.Stmt, error) {
	if s := w.stmts.byText[sql]; s != nil {
		return s, s.ClearBindings()
	}
	s, _, err := w.conn.PrepareTransient(rewrite(sql))
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

// Read executes a query of the rules.
func (w *writer) Read(sql string, each func(storekit.Row) error, args ...any) error {
	if w.caller != nil {
		return w.caller.read(sql, each, args)
	}
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	if err := bind(s, sql, args); err != nil {
		return err
	}
	return rows(s, each)
}

// change executes a statement that changes rows.
func (w *writer) change(sql string, args ...any) error {
	if w.caller != nil {
		return w.caller.change(sql, args)
	}
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	if err := bind(s, sql, args); err != nil {
		return err
	}
	return w.write(s)
}

// changeRows executes a statement that changes rows and whose parameters bind passes.
func (w *writer) changeRows(sql string, bind func(storekit.Param)) error {
	if w.caller != nil {
		return w.caller.changeRows(sql, bind)
	}
	s, err := w.stmt(sql)
	if err != nil {
		return err
	}
	bind(&binder{stmt: s})
	return w.write(s)
}

// changed returns how many rows the last statement has changed.
func (w *writer) changed() int {
	if w.caller != nil {
		return w.caller.changed
	}
	return w.conn.Changes()
}

// rows executes a bound query.
func rows(s *sqlite.Stmt, each func(storekit.Row) error) error {
	for {
		more, err := s.Step()
		if err == nil && more {
			err = each(row{s})
		}
		if err != nil || !more {
			if resetErr := s.Reset(); err == nil {
				err = resetErr
			}
			return err
		}
	}
}
