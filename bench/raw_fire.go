package main

import (
	"context"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

const (
	rawDue = `
SELECT name, state, reason, anchor, next_fire, last_fire, version, created_by, created_at, updated_at, spec, moved_at
FROM rota_schedules INDEXED BY rota_schedules_due
WHERE state = 'ENABLED' AND next_fire <= ?
ORDER BY next_fire, name
LIMIT +?`
	rawPlanned = `
INSERT OR ROLLBACK INTO rota_jobs (
  id, type, priority, position, max_attempts, backoff, timeout, created_at, queued_at, params,
  plan_time, name, template, schedule, counts_at, owner)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'admin')`
	rawFire = `
UPDATE OR ROLLBACK rota_schedules
SET next_fire = ?, last_fire = ?, moved_at = ?
WHERE name = ?`
)

// rawFirer makes the row changes of a fire without any rules: the next fire of every schedule is a day later.
type rawFirer struct {
	*raw
	now                 int64
	due, planned, moved *sqlite.Stmt
}

func openRawFirer(path string, now time.Time) (*rawFirer, error) {
	r, err := openRaw(path)
	if err != nil {
		return nil, err
	}
	f := &rawFirer{raw: r, now: now.UnixMicro()}
	for sql, stmt := range map[string]**sqlite.Stmt{rawDue: &f.due, rawPlanned: &f.planned, rawFire: &f.moved} {
		if *stmt, err = r.conn.Prepare(sql); err != nil {
			_ = r.close()
			return nil, err
		}
	}
	return f, nil
}

// rawSchedule holds the columns of a schedule that are needed to fire it.
type rawSchedule struct {
	name, state, reason, createdBy string
	numbers                        [6]int64
	version                        rota.ID
	spec                           []byte
}

const rawNextFire = 1 // index in numbers

// fire fires schedules that are due, in one transaction.
func (f *rawFirer) fire(_ context.Context, limit int) (int, error) {
	if err := do(f.begin); err != nil {
		return 0, err
	}
	schedules, err := f.readDue(limit)
	if err != nil {
		return 0, err
	}
	params := paramsText()
	for i := range schedules {
		if err := f.fireOne(&schedules[i], params); err != nil {
			return 0, err
		}
	}
	return len(schedules), do(f.commit)
}

func (f *rawFirer) readDue(limit int) ([]rawSchedule, error) {
	all := make([]rawSchedule, 0, limit)
	f.due.BindInt64(1, f.now)
	f.due.BindInt64(2, int64(limit))
	for {
		more, err := f.due.Step()
		if err != nil {
			return nil, err
		}
		if !more {
			return all, f.due.Reset()
		}
		all = append(all, scanRawSchedule(f.due))
	}
}

func scanRawSchedule(s *sqlite.Stmt) (one rawSchedule) {
	one.name, one.state, one.reason, one.createdBy = s.ColumnText(0), s.ColumnText(1), s.ColumnText(2), s.ColumnText(7)
	for i, col := range [...]int{3, 4, 5, 8, 9, 11} {
		one.numbers[i] = s.ColumnInt64(col)
	}
	s.ColumnBytes(6, one.version[:])
	one.spec = make([]byte, s.ColumnLen(10))
	s.ColumnBytes(10, one.spec)
	return one
}

func (f *rawFirer) fireOne(one *rawSchedule, params string) error {
	f.tail += rota.PositionGap
	id, at, s := rota.NewID(), one.numbers[rawNextFire], f.planned
	s.BindBytes(1, id[:])
	s.BindText(2, jobType)
	s.BindInt64(3, 0)
	s.BindInt64(4, f.tail)
	s.BindInt64(5, rota.DefaultMaxRetries+1)
	s.BindInt64(6, rota.DefaultBackoff.Microseconds())
	s.BindInt64(7, rota.DefaultTimeout.Microseconds())
	s.BindInt64(8, f.now)
	s.BindInt64(9, f.now)
	s.BindText(10, params)
	s.BindInt64(11, at)
	s.BindText(12, one.name)
	s.BindText(13, scheduleTemplate)
	s.BindText(14, one.name)
	s.BindInt64(15, at)
	if err := do(s); err != nil {
		return err
	}
	s = f.moved
	s.BindInt64(1, at+(24*time.Hour).Microseconds())
	s.BindInt64(2, at)
	s.BindInt64(3, f.now)
	s.BindText(4, one.name)
	return do(s)
}
