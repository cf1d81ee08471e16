package main

import (
	"crypto/rand"
	"time"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// background is the number of jobs in a file besides those that are claimed. The blocked jobs wait for a delayed one,
// so there must be one delayed job for each backgroundGroup blocked jobs.
type background struct{ delayed, blocked, finished, foreign int }

// thirds returns n jobs of the claimed type that no claim takes.
func thirds(n int) background {
	return background{delayed: n - 2*(n/3), blocked: n / 3, finished: n / 3}
}

func (c background) counts() counts {
	return counts{queued: c.delayed + c.blocked + c.foreign, completed: c.finished, blocked: c.blocked}
}

const (
	backgroundJob = `
INSERT INTO rota_jobs (
  id, type, status, hold, priority, position, max_attempts, backoff, timeout, params,
  created_at, queued_at, run_at, started_at, finished_at, run_id, sequel, group_id, group_position,
  token, runner, life, heartbeat_at, stale_after, ended_at, outcome, schedule, counts_at)
VALUES (?, ?, ?, ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	backgroundGroups = `
INSERT INTO rota_groups (id, mode, on_failure, size, created_at)
VALUES (?, 'sequential', 'continue', ?, ?)`
	backgroundTriggers = `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`
)

// make writes the jobs into the file of a new store.
func (c background) make(path string) error { return writeDirectly(path, c.fill) }

// writeDirectly writes rows into the file of a new store, without using the store. The triggers refuse ended rows, so
// writeDirectly drops the triggers and creates them again.
func writeDirectly(path string, fill func(*sqlite.Conn) error) error {
	if err := create(path); err != nil {
		return err
	}
	if err := writeRows(path, fill); err != nil {
		return err
	}
	return create(path) // seals the audit, so that no measured open has to
}

func writeRows(path string, fill func(*sqlite.Conn) error) (err error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := conn.Close(); err == nil {
			err = closeErr
		}
	}()
	restore, err := dropTriggers(conn)
	if err != nil {
		return err
	}
	// No other process reads the file before it is complete.
	before := []string{"PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF", "PRAGMA cache_size = -65536", "BEGIN"}
	if err := script(conn, before...); err != nil {
		return err
	}
	if err := fill(conn); err != nil {
		return err
	}
	return script(conn, append(append([]string{"COMMIT"}, restore...), "PRAGMA journal_mode = WAL")...)
}

func script(conn *sqlite.Conn, statements ...string) error {
	for _, sql := range statements {
		if err := sqlitex.ExecuteTransient(conn, sql, nil); err != nil {
			return err
		}
	}
	return nil
}

// dropTriggers drops the triggers and returns the statements that create them again.
func dropTriggers(conn *sqlite.Conn) (restore []string, err error) {
	var drop []string
	err = sqlitex.ExecuteTransient(conn, backgroundTriggers, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite.Stmt) error {
		drop = append(drop, "DROP TRIGGER "+s.ColumnText(0))
		restore = append(restore, s.ColumnText(1))
		return nil
	}})
	if err != nil {
		return nil, err
	}
	return restore, script(conn, drop...)
}

// fill adds the kinds of jobs in turns, so that they are mixed in the file.
func (c background) fill(conn *sqlite.Conn) error {
	w, err := newBackgroundWriter(conn, c.blocked)
	if err != nil {
		return err
	}
	for c != (background{}) {
		for _, kind := range []struct {
			left *int
			add  func() error
		}{{&c.finished, w.addFinished}, {&c.delayed, w.addDelayed}, {&c.blocked, w.addBlocked}, {&c.foreign, w.addForeign}} {
			if *kind.left == 0 {
				continue
			}
			*kind.left--
			if err := kind.add(); err != nil {
				return err
			}
		}
	}
	return nil
}

// backgroundGroup is how many jobs of a group wait for its first job.
const backgroundGroup = 99

type backgroundWriter struct {
	job, group    *sqlite.Stmt
	params        string
	position, now int64

	waiting       int     // blocked jobs that have no group yet
	groupID       rota.ID // group that is being filled
	place, places int     // last position taken, and number of positions
}

func newBackgroundWriter(conn *sqlite.Conn, blocked int) (*backgroundWriter, error) {
	w := &backgroundWriter{params: paramsText(), now: time.Now().UnixMicro(), waiting: blocked}
	for sql, stmt := range map[string]**sqlite.Stmt{backgroundJob: &w.job, backgroundGroups: &w.group} {
		var err error
		if *stmt, err = conn.Prepare(sql); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// begin binds the columns that all jobs have, and returns the id of the new job.
func (w *backgroundWriter) begin(jobType string, status rota.Status, hold int64) (rota.ID, error) {
	if err := w.job.ClearBindings(); err != nil {
		return rota.ID{}, err
	}
	w.position += rota.PositionGap
	id, s := rota.NewID(), w.job
	s.BindBytes(1, id[:])
	s.BindText(2, jobType)
	s.BindText(3, string(status))
	s.BindInt64(4, hold)
	s.BindInt64(5, w.position)
	s.BindInt64(6, rota.DefaultMaxRetries+1)
	s.BindInt64(7, rota.DefaultBackoff.Microseconds())
	s.BindInt64(8, rota.DefaultTimeout.Microseconds())
	s.BindText(9, w.params)
	s.BindInt64(10, w.now)
	return id, nil
}

// addDelayed adds a job that is not due yet. If the current group is full and blocked jobs remain, the job is the first
// of a new group.
func (w *backgroundWriter) addDelayed() error {
	_, err := w.begin(jobType, rota.StatusQueued, int64(rota.HoldDelay))
	if err != nil {
		return err
	}
	w.job.BindInt64(12, w.now+w.position+time.Hour.Microseconds())
	if w.waiting > 0 && w.place == w.places {
		if err := w.openGroup(); err != nil {
			return err
		}
		w.join()
	}
	return do(w.job)
}

// addBlocked adds a job that waits for an earlier member of its group.
func (w *backgroundWriter) addBlocked() error {
	if _, err := w.begin(jobType, rota.StatusQueued, int64(rota.HoldGroup)); err != nil {
		return err
	}
	w.join()
	return do(w.job)
}

// openGroup creates a group for the next blocked jobs.
func (w *backgroundWriter) openGroup() error {
	behind := min(w.waiting, backgroundGroup)
	w.waiting -= behind
	w.groupID, w.place, w.places = rota.NewID(), 0, behind+1
	w.group.BindBytes(1, w.groupID[:])
	w.group.BindInt64(2, int64(w.places))
	w.group.BindInt64(3, w.now)
	return do(w.group)
}

// join binds the next position of the group to the job that is being written.
func (w *backgroundWriter) join() {
	w.place++
	w.job.BindBytes(17, w.groupID[:])
	w.job.BindInt64(18, int64(w.place))
}

func (w *backgroundWriter) addForeign() error {
	if _, err := w.begin("foreign", rota.StatusQueued, 0); err != nil {
		return err
	}
	w.job.BindInt64(11, w.now)
	return do(w.job)
}

func (w *backgroundWriter) addFinished() error { return w.addRun("") }

// addRun adds a job that has run, of the given schedule if it is not empty.
func (w *backgroundWriter) addRun(schedule string) error {
	if _, err := w.begin(jobType, rota.StatusRunning, 0); err != nil {
		return err
	}
	run := rota.NewID()
	for _, column := range []int{11, 13, 14, 22, 23, 24} {
		w.job.BindInt64(column, w.now)
	}
	w.job.BindBytes(15, run[:])
	w.job.BindText(16, string(rota.SequelNone))
	var token rota.Token
	_, _ = rand.Read(token[:]) // never fails
	w.job.BindBytes(19, token[:])
	w.job.BindText(20, worker)
	w.job.BindBytes(21, incarnation[:])
	w.job.BindText(25, string(rota.OutcomeCompleted))
	if schedule != "" {
		w.job.BindText(26, schedule)
		w.job.BindInt64(27, w.now)
	}
	return do(w.job)
}
