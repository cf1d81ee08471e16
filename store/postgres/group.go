package postgres

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	members = `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.group_id = $1 AND j.sequel IS NULL`
	byGroupPosition = `
ORDER BY j.group_position, j.id
LIMIT $2`

	sqlCountedGroup = `
SELECT g.*, e.*
FROM (` + storekit.Groups.ByKey() + `
) g` + memberCounts
	sqlCountedGroups = `
SELECT g.*, e.*
FROM (` + storekit.Groups.Select() + `
  WHERE id < $1
  ORDER BY id DESC
  LIMIT $2
) g` + memberCounts + `
ORDER BY g.id DESC`
	// Counts the members of the groups g, one row for each state, with the columns of
	// storekit.AttemptJob.
	memberCounts = `
LEFT JOIN LATERAL (
  SELECT count(*), NULL::uuid, j.status, least(j.attempt, 2), j.sequel, min(j.finished_at), j.outcome, NULL, min(j.error_code), min(j.cancel_at)
  FROM rota_jobs j
  WHERE j.group_id = g.id AND j.sequel IS DISTINCT FROM 'retry'
  GROUP BY j.status, least(j.attempt, 2), j.sequel, j.finished_at IS NULL, j.outcome,
    j.error_code IS NOT DISTINCT FROM 'timeout', j.cancel_at IS NULL
) e ON true`
)

var membersSQL = map[rules.MemberKind]string{
	rules.MembersLive:   members + byGroupPosition,
	rules.MembersQueued: members + ` AND j.status = 'QUEUED'` + byGroupPosition,
	rules.MembersEnding: members + `
  AND (j.status = 'QUEUED' OR (j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL))` + byGroupPosition,
	rules.MembersFirst: `
SELECT ` + fullColumns + rowVersion + `
FROM rota_jobs j
WHERE j.group_id = $1 AND j.attempt = 1
ORDER BY j.group_position
LIMIT $2`,
}
