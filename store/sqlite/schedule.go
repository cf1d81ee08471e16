package sqlite

import "github.com/rotajobs/rota/internal/storekit"

var (
	sqlDueSchedules = storekit.Schedules.Select() + ` INDEXED BY rota_schedules_due
WHERE state = 'ENABLED' AND next_fire <= $1
ORDER BY next_fire, name
LIMIT $2`
	sqlTemplateSchedules = `
SELECT name
FROM rota_schedules INDEXED BY rota_schedules_template
WHERE template = $1 AND ($2 OR state <> 'DISABLED')
ORDER BY name
LIMIT $3`
	sqlNextDue = `
SELECT $1,
  (SELECT min(run_at) FROM rota_jobs INDEXED BY rota_jobs_due WHERE status = 'QUEUED' AND hold & 1),
  (SELECT min(next_fire) FROM rota_schedules INDEXED BY rota_schedules_due WHERE state = 'ENABLED' AND next_fire IS NOT NULL),
  (SELECT min(wait_until) FROM rota_jobs INDEXED BY rota_jobs_wait WHERE status = 'QUEUED' AND hold & 4),
  (SELECT expires_at FROM rota_reservations INDEXED BY rota_reservations_active WHERE status = 'ACTIVE'),
  EXISTS (SELECT 1 FROM rota_intents)`
)

// Schedules by their next fire. ENABLED and PAUSED schedules each have an index in this order, and
// SQLite merges the two as far as the page needs. The schedules of a template are few and are
// sorted.
var (
	selectNextEnabled = storekit.Schedules.Select() + ` INDEXED BY rota_schedules_due
WHERE state = 'ENABLED' AND next_fire IS NOT NULL` + andNextBetween
	selectNextPaused = storekit.Schedules.Select() + ` INDEXED BY rota_schedules_paused
WHERE state = 'PAUSED' AND next_fire IS NOT NULL` + andNextBetween
	andNextBetween  = ` AND (next_fire, name) > ($3, $1) AND next_fire <= $4`
	firstByNextFire = `
ORDER BY next_fire, name
LIMIT $2`

	sqlSchedulesNextEnabled = selectNextEnabled + firstByNextFire
	sqlSchedulesNextPaused  = selectNextPaused + firstByNextFire
	sqlSchedulesNext        = selectNextEnabled + `
UNION ALL` + selectNextPaused + firstByNextFire
	sqlSchedulesNextOf = storekit.Schedules.Select() + ` INDEXED BY rota_schedules_template
WHERE template = $5 AND ($6 IS NULL OR state = $6) AND next_fire IS NOT NULL` + andNextBetween + firstByNextFire
)
