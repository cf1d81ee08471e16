package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	selectMembers = `
SELECT ` + storekit.FullJob + `
FROM rota_jobs j INDEXED BY rota_jobs_member
WHERE j.group_id = $1 AND j.sequel IS NULL`
	byGroupPosition = `
ORDER BY j.group_position, j.id
LIMIT $2`
	sqlMembersLive   = selectMembers + byGroupPosition
	sqlMembersQueued = selectMembers + ` AND j.status = 'QUEUED'` + byGroupPosition
	sqlMembersEnding = selectMembers + `
  AND (j.status = 'QUEUED' OR (j.runner IS NOT NULL AND j.outcome IS NULL AND j.cancel_at IS NULL))` + byGroupPosition
	sqlMembersFirst = `
SELECT ` + storekit.FullJob + `
FROM rota_jobs j INDEXED BY rota_jobs_group
WHERE j.group_id = $1 AND j.attempt = 1
ORDER BY j.group_position
LIMIT $2`

	// Each group with each of its members.
	sqlGroup = `
SELECT g.*, j.id IS NOT NULL, ` + storekit.AttemptJob + `
FROM (` + storekit.Groups.ByKey() + `) g` + withMembers
	sqlGroups = `
SELECT g.*, j.id IS NOT NULL, ` + storekit.AttemptJob + `
FROM (` + storekit.Groups.Select() + `
  WHERE id < $1
  ORDER BY id DESC
  LIMIT $2) g` + withMembers + `
ORDER BY g.id DESC`
	withMembers = `
LEFT JOIN rota_jobs j INDEXED BY rota_jobs_group ON j.group_id = g.id AND j.sequel IS NOT 'retry'`
)

var membersSQL = map[rules.MemberKind]string{
	rules.MembersLive: sqlMembersLive, rules.MembersQueued: sqlMembersQueued,
	rules.MembersEnding: sqlMembersEnding, rules.MembersFirst: sqlMembersFirst,
}
