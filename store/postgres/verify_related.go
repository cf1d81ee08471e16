package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/verify"
)

const (
	sqlVerifyOverlapTurns = `
SELECT id, schedule, scope_kind, scope_id, hold, plan_time
FROM rota_jobs
WHERE schedule IS NOT NULL AND sequel IS NULL
ORDER BY schedule, coalesce(scope_kind, ''), coalesce(scope_id, ''), id`
	sqlVerifyKeyQueues = `
SELECT id, concurrency_key, status, hold, priority, position, created_at, type
FROM rota_jobs
WHERE concurrency_key IS NOT NULL AND sequel IS NULL
ORDER BY concurrency_key`
	// Each redrive with its own last attempt and with the first attempt of the redriven execution.
	// $1 limits the chain, which in a damaged store may be a cycle.
	sqlVerifyRedrives = `
SELECT j.id, j.redrive_of, t.status, t.outcome, f.id, f.retry_of
FROM rota_jobs j
CROSS JOIN LATERAL (
  WITH RECURSIVE chain (id, sequel, n) AS (
    SELECT j.id, j.sequel, 0
    UNION ALL
    SELECT a.id, a.sequel, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
    WHERE chain.sequel = 'retry' AND chain.n < $1
  )
  SELECT chain.id
  FROM chain
  ORDER BY chain.n DESC
  LIMIT 1
) last
JOIN rota_jobs t ON t.id = last.id
LEFT JOIN rota_jobs f ON f.id = j.redrive_of
WHERE j.redrive_of IS NOT NULL AND j.retry_of IS NULL
ORDER BY j.redrive_of, j.id`
	// Each group with each of its members, by position and attempt.
	sqlVerifyGroups = `
SELECT g.id, g.name, g.mode, g.on_failure, g.size, g.ending, g.ending_reason, g.ending_by, g.created_by, g.created_at, g.pruned,
  j.id, j.retry_of, j.group_position, j.sequel, j.status, j.hold, j.runner, j.outcome, j.cancel_at
FROM rota_groups g
LEFT JOIN rota_jobs j ON j.group_id = g.id
ORDER BY g.id, j.group_position NULLS FIRST, j.attempt`
	sqlVerifyOrphanMembers = `
SELECT DISTINCT ON (j.group_id) j.group_id, j.id
FROM rota_jobs j
WHERE j.group_id IS NOT NULL AND NOT EXISTS (SELECT FROM rota_groups g WHERE g.id = j.group_id)
ORDER BY j.group_id, j.id`
	sqlVerifyReservations = `
SELECT r.id, r.node, r.life, r.status, r.reserved_by, r.reserved_at, r.expires_at, r.ended_at, r.job_id, ` + leanColumns + `
FROM rota_reservations r
LEFT JOIN rota_jobs j ON j.id = r.job_id
ORDER BY r.id`
)

// relations checks rows that relate to each other.
func (in *inspection) relations() error {
	for _, check := range []func() error{
		in.overlapTurns,
		in.queues,
		in.redrives,
		in.groups,
		in.orphanMembers,
		in.reservations,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) overlapTurns() error {
	turns := in.Turns()
	err := in.each(sqlVerifyOverlapTurns, func(r row) error {
		turns.Next(&rota.Job{
			ID: r.ID(0), Schedule: r.Text(1), ScopeKind: r.Text(2), ScopeID: r.Text(3),
			Hold: rota.Hold(r.Int(4)), PlanTime: r.Time(5),
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
	err := in.each(sqlVerifyKeyQueues, func(r row) error {
		queues.Next(&rota.Job{
			ID: r.ID(0), ConcurrencyKey: r.Text(1), Status: rota.Status(r.Text(2)),
			Hold: rota.Hold(r.Int(3)), Priority: int(r.Int(4)), Position: r.Int(5), CreatedAt: r.Time(6), Type: r.Text(7),
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
	return in.each(sqlVerifyRedrives, func(r row) error {
		j, tail := &rota.Job{ID: r.ID(0), RedriveOf: r.ID(1)}, &rota.Job{Status: rota.Status(r.Text(2))}
		if !r.Null(3) {
			tail.Run = &rota.Run{Outcome: rota.Outcome(r.Text(3))}
		}
		var first *rota.Job
		if !r.Null(4) {
			first = &rota.Job{ID: r.ID(4), RetryOf: r.ID(5)}
		}
		redrives.Next(j, tail, first)
		return nil
	}, intParam(rota.MaxRetriesMax))
}

// groups checks each group with its members.
func (in *inspection) groups() error {
	const colMember = 11
	var group rota.ID
	var walk *verify.GroupWalk // nil: the group cannot be decoded
	end := func() {
		if walk != nil {
			walk.End()
		}
	}
	begun := false
	err := in.each(sqlVerifyGroups, func(r row) error {
		if id := r.ID(0); !begun || id != group {
			end()
			begun, group, walk = true, id, nil
			g, err := scanGroup(r[:colMember])
			if err != nil {
				in.UnreadableBucket("group "+g.ID.String(), err)
				return nil
			}
			walk = in.Group(g)
		}
		if walk != nil && !r.Null(colMember) {
			walk.Next(scanMember(r[colMember:]))
		}
		return nil
	})
	if err == nil {
		end()
	}
	return err
}

func scanMember(r row) *rota.Job {
	j := &rota.Job{
		ID: r.ID(0), RetryOf: r.ID(1), GroupPosition: int(r.Int(2)), Sequel: rota.Sequel(r.Text(3)),
		Status: rota.Status(r.Text(4)), Hold: rota.Hold(r.Int(5)),
	}
	if !r.Null(6) {
		j.Run = &rota.Run{Runner: r.Text(6), Outcome: rota.Outcome(r.Text(7)), CancelAt: r.Time(8)}
	}
	return j
}

func (in *inspection) orphanMembers() error {
	return in.each(sqlVerifyOrphanMembers, func(r row) error {
		in.OrphanMember(r.ID(0), r.ID(1))
		return nil
	})
}

func (in *inspection) reservations() error {
	const colJob = 9
	return in.each(sqlVerifyReservations, func(r row) error {
		one, err := scanReservation(r[:colJob])
		if err != nil {
			return err
		}
		var job *rota.Job
		if !r.Null(colJob) {
			job = scanJob(r[colJob:])
		}
		in.Reservation(one, job)
		return nil
	})
}
