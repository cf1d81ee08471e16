package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

const pageDefault = 100

// Job returns a job with its run.
func (s *reader) Job(ctx context.Context, id rota.ID) (*rota.Job, error) {
	jobs, err := s.list(ctx, sqlShownJob, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) })
	if err != nil {
		return nil, err
	}
	if len(jobs) == 0 {
		return nil, noJob(id)
	}
	return jobs[0], nil
}

// Execution lists the attempts of an execution, first to last.
func (s *reader) Execution(ctx context.Context, id rota.ID) ([]*rota.Job, error) {
	var attempts []*rota.Job
	err := s.withSnapshot(ctx, "execution", func(conn *sqlite.Conn) error {
		named, err := queryJobs(conn, sqlFullJob, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, id[:]) })
		if err != nil || len(named) == 0 {
			return err
		}
		tail := rota.ID{}
		for next := named[0].ExecutionID; !next.IsZero(); {
			jobs, err := queryJobs(conn, sqlFullJob, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, next[:]) })
			if err != nil {
				return err
			}
			attempts, tail = append(attempts, jobs...), next
			if next, err = queryRetry(conn, next); err != nil {
				return err
			}
		}
		shown, err := isShown(conn, tail)
		if !shown {
			attempts = nil
		}
		return err
	})
	if err == nil && len(attempts) == 0 {
		return nil, noJob(id)
	}
	return attempts, err
}

func (s *reader) list(ctx context.Context, sql string, bind func(*sqlite.Stmt)) (jobs []*rota.Job, err error) {
	err = s.withSnapshot(ctx, "list", func(conn *sqlite.Conn) error {
		jobs, err = queryJobs(conn, sql, bind)
		return err
	})
	return jobs, err
}

// queryJobs reads jobs without their lease tokens.
func queryJobs(conn *sqlite.Conn, sql string, bind func(*sqlite.Stmt)) (jobs []*rota.Job, err error) {
	err = query(conn, sql, bind, func(stmt *sqlite.Stmt) {
		j := scanJob(stmt)
		if j.Run != nil {
			j.Run.Token = rota.Token{}
		}
		jobs = append(jobs, j)
	})
	return jobs, err
}

func queryRetry(conn *sqlite.Conn, of rota.ID) (id rota.ID, err error) {
	return id, query(conn, sqlRetry, func(stmt *sqlite.Stmt) { stmt.BindBytes(1, of[:]) },
		func(stmt *sqlite.Stmt) { id = scanID(stmt, 0) })
}

func query(conn *sqlite.Conn, sql string, bind, each func(*sqlite.Stmt)) error {
	stmt, err := conn.Prepare(sql)
	if err != nil {
		return err
	}
	if bind != nil {
		bind(stmt)
	}
	return rows(stmt, func(s *sqlite.Stmt) error {
		each(s)
		return nil
	})
}

func pageLimit(limit int) (int64, error) {
	switch {
	case limit == 0:
		return pageDefault, nil
	case limit < 0 || limit > rota.PageMax:
		return 0, rota.Invalidf("limit", "is %d; allowed are 1 to %d, or 0 for %d", limit, rota.PageMax, pageDefault)
	}
	return int64(limit), nil
}

func noJob(id rota.ID) *rota.Error {
	return &rota.Error{
		Code: rota.NotFound, Act: "job", Reason: "there is no job " + id.String(),
		Hint: "check the id; the job may have been pruned; rota job list shows the jobs",
	}
}
