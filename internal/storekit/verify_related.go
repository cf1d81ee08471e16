package storekit

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/verify"
)

var (
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
	// Each redrive with its own last attempt, with the first attempt of the redriven execution, and
	// whether that execution completed. $1 limits the chain, which in a damaged store may be a cycle.
	sqlVerifyRedrives = `
SELECT j.id, j.redrive_of, t.status, t.outcome, t.error_code, t.cancel_at, f.id, f.retry_of, (
  WITH RECURSIVE chain (id, outcome, n) AS (
    SELECT f.id, f.outcome, 0
    UNION ALL
    SELECT a.id, a.outcome, chain.n + 1
    FROM chain
    JOIN rota_jobs a ON a.retry_of = chain.id
    WHERE chain.n < $1
  )
  SELECT count(*)
  FROM chain
  WHERE chain.outcome = 'COMPLETED')
FROM rota_jobs j
JOIN rota_jobs t ON t.id = (
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
  LIMIT 1)
LEFT JOIN rota_jobs f ON f.id = j.redrive_of
WHERE j.redrive_of IS NOT NULL AND j.retry_of IS NULL
ORDER BY j.redrive_of, j.id`
	// Each group with each of its members, by position and attempt.
	sqlVerifyGroups = `
SELECT g.*, j.id, j.retry_of, j.group_position, j.sequel, j.status, j.hold, j.runner, j.outcome, j.cancel_at
FROM (` + Groups.Select() + `) g
LEFT JOIN rota_jobs j ON j.group_id = g.id
ORDER BY g.id, j.group_position NULLS FIRST, j.attempt`
	sqlVerifyOrphanMembers = `
SELECT j.group_id, j.id
FROM rota_jobs j
WHERE j.group_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM rota_groups g WHERE g.id = j.group_id)
ORDER BY j.group_id, j.id`
	sqlVerifyReservations = `
SELECT r.*, ` + LeanJob + `
FROM (` + Reservations.Select() + `) r
LEFT JOIN rota_jobs j ON j.id = r.job_id
ORDER BY r.id`
)

func (in *Inspection) overlapTurns() error {
	turns := in.Turns()
	err := in.each(sqlVerifyOverlapTurns, func(r Row) {
		turns.Next(&rota.Job{
			ID: r.ID(0), Schedule: r.Text(1), ScopeKind: r.Text(2), ScopeID: r.Text(3),
			Hold: rota.Hold(r.Int(4)), PlanTime: r.Time(5),
		})
	})
	if err == nil {
		turns.End()
	}
	return err
}

func (in *Inspection) queues() error {
	queues := in.KeyQueues()
	err := in.each(sqlVerifyKeyQueues, func(r Row) {
		queues.Next(&rota.Job{
			ID: r.ID(0), ConcurrencyKey: r.Text(1), Status: rota.Status(r.Text(2)), Hold: rota.Hold(r.Int(3)),
			Priority: int(r.Int(4)), Position: r.Int(5), CreatedAt: r.Time(6), Type: r.Text(7),
		})
	})
	if err == nil {
		queues.End()
	}
	return err
}

func (in *Inspection) redrives() error {
	redrives := in.Redrives()
	return in.each(sqlVerifyRedrives, func(r Row) {
		j, tail := &rota.Job{ID: r.ID(0), RedriveOf: r.ID(1)}, &rota.Job{Status: rota.Status(r.Text(2))}
		if !r.Null(3) {
			tail.Run = &rota.Run{Outcome: rota.Outcome(r.Text(3)), ErrorCode: r.Text(4), CancelAt: r.Time(5)}
		}
		var first *rota.Job
		if !r.Null(6) {
			first = &rota.Job{ID: r.ID(6), RetryOf: r.ID(7)}
		}
		redrives.Next(j, tail, first, r.Int(8) > 0)
	}, rota.MaxRetriesMax)
}

// groups checks each group with its members.
func (in *Inspection) groups() error {
	colMember := len(Groups.read)
	var group rota.ID
	var walk *verify.GroupWalk // nil: the group cannot be decoded
	end := func() {
		if walk != nil {
			walk.End()
		}
	}
	begun := false
	err := in.each(sqlVerifyGroups, func(r Row) {
		if id := r.ID(0); !begun || id != group {
			end()
			begun, group, walk = true, id, nil
			g, err := Groups.Scan(r)
			checkWidths(in, Groups, r, "group "+g.ID.String())
			if err != nil {
				in.UnreadableBucket("group "+g.ID.String(), err)
				return
			}
			walk = in.Group(g)
		}
		if walk != nil && !r.Null(colMember) {
			walk.Next(scanMember(From(r, colMember)))
		}
	})
	if err == nil {
		end()
	}
	return err
}

func scanMember(r Row) *rota.Job {
	j := &rota.Job{
		ID: r.ID(0), RetryOf: r.ID(1), GroupPosition: int(r.Int(2)), Sequel: rota.Sequel(r.Text(3)),
		Status: rota.Status(r.Text(4)), Hold: rota.Hold(r.Int(5)),
	}
	if !r.Null(6) {
		j.Run = &rota.Run{Runner: r.Text(6), Outcome: rota.Outcome(r.Text(7)), CancelAt: r.Time(8)}
	}
	return j
}

// orphanMembers reports one member of each group that does not exist.
func (in *Inspection) orphanMembers() error {
	var last rota.ID
	return in.each(sqlVerifyOrphanMembers, func(r Row) {
		if group := r.ID(0); group != last {
			last = group
			in.OrphanMember(group, r.ID(1))
		}
	})
}

func (in *Inspection) reservations() error {
	colJob := len(Reservations.read)
	return in.each(sqlVerifyReservations, func(r Row) {
		one, _ := Reservations.Scan(r) // it has no document
		checkWidths(in, Reservations, r, "reservation "+one.ID.String())
		var job *rota.Job
		if !r.Null(colJob) {
			job = ScanJob(From(r, colJob))
		}
		in.Reservation(one, job)
	})
}
