package sqlite

import (
	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
)

const (
	sqlVerifyOverlapTurns = `
SELECT id, schedule, scope_kind, scope_id, hold, plan_time
FROM rota_jobs
WHERE schedule IS NOT NULL AND sequel IS NULL
ORDER BY schedule, scope_kind, scope_id, id`
	sqlVerifyKeyQueues = `
SELECT id, concurrency_key, status, hold, priority, position, created_at, type
FROM rota_jobs
WHERE concurrency_key IS NOT NULL AND sequel IS NULL
ORDER BY concurrency_key`
	sqlVerifyRedrives = `
SELECT id
FROM rota_jobs
WHERE redrive_of IS NOT NULL AND retry_of IS NULL
ORDER BY redrive_of, id`
	sqlVerifyRetry = `
SELECT id
FROM rota_jobs
WHERE retry_of = ?`
	sqlVerifyGroups = groupColumns + `
ORDER BY id`
	sqlVerifyMembers = `
SELECT ` + leanColumns + `
FROM rota_jobs j
WHERE j.group_id = ?
ORDER BY j.group_position, j.attempt`
	sqlVerifyOrphanMembers = `
SELECT j.group_id, min(j.id)
FROM rota_jobs j
WHERE j.group_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rota_groups WHERE id = j.group_id)
GROUP BY j.group_id
ORDER BY j.group_id`
	sqlVerifyReservations = reservationColumns + `
ORDER BY id`
)

// relations checks rows that relate to each other.
func (in *inspection) relations() error {
	return firstError(
		in.overlapTurns,
		in.queues,
		in.redrives,
		in.groups,
		in.orphanMembers,
		in.reservations,
	)
}

func (in *inspection) overlapTurns() error {
	turns := in.Turns()
	err := in.each(sqlVerifyOverlapTurns, nil, func(s *sqlite.Stmt) error {
		turns.Next(&rota.Job{
			ID: scanID(s, 0), Schedule: s.ColumnText(1), ScopeKind: s.ColumnText(2), ScopeID: s.ColumnText(3),
			Hold: rota.Hold(s.ColumnInt64(4)), PlanTime: scanTime(s, 5),
		})
		return nil
	})
	if err == nil {
		turns.End()
	}
	return err
}

func (in *inspection) queues() error {
	queues := in.KeyQueues()
	err := in.each(sqlVerifyKeyQueues, nil, func(s *sqlite.Stmt) error {
		queues.Next(&rota.Job{
			ID: scanID(s, 0), ConcurrencyKey: s.ColumnText(1), Status: rota.Status(s.ColumnText(2)),
			Hold: rota.Hold(s.ColumnInt64(3)), Priority: int(s.ColumnInt64(4)), Position: s.ColumnInt64(5), CreatedAt: scanTime(s, 6), Type: s.ColumnText(7),
		})
		return nil
	})
	if err == nil {
		queues.End()
	}
	return err
}

func (in *inspection) redrives() error {
	redrives := in.Redrives()
	return in.each(sqlVerifyRedrives, nil, func(s *sqlite.Stmt) error {
		j, tail, err := in.chain(scanID(s, 0))
		if err != nil || j == nil {
			return err
		}
		first, err := in.job(j.RedriveOf)
		if err == nil {
			redrives.Next(j, tail, first)
		}
		return err
	})
}

// chain returns a job and the last attempt of its chain of retries, or nil if the job does not
// exist. It stops after MaxRetriesMax attempts, in case the chain is a cycle.
func (in *inspection) chain(id rota.ID) (first, last *rota.Job, err error) {
	first, err = in.job(id)
	last = first
	for i := 0; err == nil && last != nil && last.Sequel == rota.SequelRetry && i < rota.MaxRetriesMax; i++ {
		next := rota.ID{}
		err = in.each(sqlVerifyRetry, func(s *sqlite.Stmt) { s.BindBytes(1, last.ID[:]) }, func(s *sqlite.Stmt) error {
			next = scanID(s, 0)
			return nil
		})
		if err != nil || next.IsZero() {
			break
		}
		last, err = in.job(next)
	}
	return first, last, err
}

func (in *inspection) groups() error {
	return in.each(sqlVerifyGroups, nil, func(s *sqlite.Stmt) error {
		g, err := scanGroup(s)
		in.checkWidth(s, 0, "group "+g.ID.String(), "id")
		if err != nil {
			in.UnreadableBucket("group "+g.ID.String(), err)
			return nil
		}
		walk := in.Group(g)
		err = in.each(sqlVerifyMembers, func(s *sqlite.Stmt) { s.BindBytes(1, g.ID[:]) }, func(s *sqlite.Stmt) error {
			walk.Next(scanJob(s))
			return nil
		})
		if err == nil {
			walk.End()
		}
		return err
	})
}

func (in *inspection) orphanMembers() error {
	return in.each(sqlVerifyOrphanMembers, nil, func(s *sqlite.Stmt) error {
		in.OrphanMember(scanID(s, 0), scanID(s, 1))
		return nil
	})
}

func (in *inspection) reservations() error {
	return in.each(sqlVerifyReservations, nil, func(s *sqlite.Stmt) error {
		r, err := scanReservation(s)
		if err != nil {
			return err
		}
		for _, c := range []struct {
			col  int
			name string
		}{{0, "id"}, {2, "life"}, {8, "job_id"}} {
			in.checkWidth(s, c.col, "reservation "+r.ID.String(), c.name)
		}
		var job *rota.Job
		if !r.JobID.IsZero() {
			job, err = in.job(r.JobID)
		}
		if err == nil {
			in.Reservation(r, job)
		}
		return err
	})
}
