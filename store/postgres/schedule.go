package postgres

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

var (
	// Every row contains the clock's time, and a row of its own if nothing is due, so that both are
	// of one reading of the clock.
	sqlDueSchedules = `
SELECT s.*, c.now
FROM (SELECT ` + clockHere + ` AS now) c
LEFT JOIN LATERAL (` + storekit.Schedules.Select() + `
  WHERE state = 'ENABLED' AND next_fire <= c.now
  ORDER BY next_fire, name
  LIMIT $2
) s ON true
ORDER BY s.next_fire, s.name`
	sqlNextDue = `
SELECT ` + clockHere + `,
  (SELECT min(run_at) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 1 <> 0),
  (SELECT min(next_fire) FROM rota_schedules WHERE state = 'ENABLED' AND next_fire IS NOT NULL),
  (SELECT min(wait_until) FROM rota_jobs WHERE status = 'QUEUED' AND hold & 4 <> 0),
  (SELECT expires_at FROM rota_reservations WHERE status = 'ACTIVE'),
  EXISTS (SELECT FROM rota_intents)`
	sqlTemplateSchedules = `
SELECT name
FROM rota_schedules
WHERE template = $1 AND ($2 OR state <> 'DISABLED')
ORDER BY name
LIMIT $3`
	sqlFireSchedules = `
UPDATE rota_schedules s
SET next_fire = v.next_fire, last_fire = v.last_fire, moved_at = v.moved_at
FROM unnest($1, $2, $3, $4) AS v (name, next_fire, last_fire, moved_at)
WHERE s.name = ANY (ARRAY[v.name])`
)

// Schedules by their next fire. ENABLED and PAUSED schedules each have an index in this order, and
// a page merges them. DISABLED schedules have no next fire. A template has few schedules, which are
// sorted.
var (
	nextEnabled = storekit.Schedules.Select() + `
WHERE state = 'ENABLED' AND next_fire IS NOT NULL` + nextIn
	nextPaused = storekit.Schedules.Select() + `
WHERE state = 'PAUSED' AND next_fire IS NOT NULL` + nextIn
	nextIn    = ` AND (next_fire, name) > ($3, $1) AND next_fire <= $4`
	nextFirst = `
ORDER BY next_fire, name
LIMIT $2`

	sqlSchedulesNextEnabled = nextEnabled + nextFirst
	sqlSchedulesNextPaused  = nextPaused + nextFirst
	sqlSchedulesNext        = `
(` + nextEnabled + nextFirst + `
) UNION ALL (` + nextPaused + nextFirst + `
)` + nextFirst
	sqlSchedulesNextOf = storekit.Schedules.Select() + `
WHERE template = $5 AND ($6 IS NULL OR state = $6) AND next_fire IS NOT NULL` + nextIn + nextFirst
)

// fireSchedules writes the schedules that only fired, which mostly are many, in one statement.
func (t *tx) fireSchedules(all []rules.Change[string, rota.Schedule]) {
	names, nexts := newColumn(oidTexts, len(all)), newColumn(oidInts, len(all))
	lasts, moved := newColumn(oidInts, len(all)), newColumn(oidInts, len(all))
	for _, c := range all {
		if storekit.OnlyFired(c.Was, c.Is) {
			names.Text(c.Key)
			nexts.time(c.Is.NextFire)
			lasts.time(c.Is.LastFire)
			moved.time(c.Is.MovedAt)
		}
	}
	if names.count > 0 {
		t.write(statement{sql: sqlFireSchedules, params: []param{names.param(), nexts.param(), lasts.param(), moved.param()}})
	}
}
