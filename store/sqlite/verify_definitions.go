package sqlite

import (
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
	"zombiezen.com/go/sqlite"
)

const (
	sqlVerifyIntents = `
SELECT kind, name
FROM rota_intents
ORDER BY kind, name`
	sqlVerifyBuckets = `
SELECT type, slot, starts
FROM rota_buckets
ORDER BY type`
	sqlVerifyTypes = typeColumns + `
ORDER BY name`
	// The columns beside the spec come last, after those that the scan functions read.
	sqlVerifyTemplates = `
SELECT name, state, version, created_by, created_at, updated_at, spec, type, webhooks
FROM rota_templates
ORDER BY name`
	sqlVerifySchedules = `
SELECT name, state, reason, anchor, next_fire, last_fire, version, created_by, created_at, updated_at, spec, moved_at, template
FROM rota_schedules
ORDER BY name`
	sqlVerifyEdges = `
SELECT depends_on
FROM rota_edges
WHERE schedule = ?
ORDER BY depends_on`
	sqlVerifyOrphanEdges = `
SELECT e.schedule, e.depends_on
FROM rota_edges e
WHERE NOT EXISTS (SELECT 1 FROM rota_schedules WHERE name = e.schedule)
ORDER BY e.schedule, e.depends_on`
)

// definitions checks definitions, limits, webhooks and intents. The check of a spec also reports
// one that cannot be decoded, so the error of the scan is ignored.
func (in *inspection) definitions() error {
	return firstError(
		in.intents,
		in.throttle,
		in.webhooks,
		in.buckets,
		in.types,
		in.templates,
		in.schedules,
		in.orphanEdges,
	)
}

func (in *inspection) intents() error {
	return in.each(sqlVerifyIntents, nil, func(s *sqlite.Stmt) error {
		i := rules.Intent{Kind: s.ColumnText(0), Name: s.ColumnText(1)}
		exists, err := in.exists(i)
		if err == nil {
			in.Intent(i, exists)
		}
		return err
	})
}

// exists reports whether the row that an intent names exists.
func (in *inspection) exists(i rules.Intent) (found bool, err error) {
	markFound := func(*sqlite.Stmt) error {
		found = true
		return nil
	}
	switch i.Kind {
	case rules.IntentGroup:
		if id, parseErr := rota.ParseID(i.Name); parseErr == nil {
			err = in.each(sqlGroup, func(s *sqlite.Stmt) { s.BindBytes(1, id[:]) }, markFound)
		}
	case rules.IntentTemplate:
		err = in.each(sqlTemplate, func(s *sqlite.Stmt) { s.BindText(1, i.Name) }, markFound)
	case rules.IntentDrop:
		err = in.each(sqlDropped, func(s *sqlite.Stmt) { s.BindText(1, i.Name) }, markFound)
	default:
		found = i.Name != ""
	}
	return found, err
}

func (in *inspection) throttle() error {
	return in.each(sqlThrottle, nil, func(s *sqlite.Stmt) error {
		in.checkWidth(s, 0, "limits", "version")
		in.Throttle(scanThrottleHead(s), scanJSON(s, 3))
		return nil
	})
}

func (in *inspection) webhooks() error {
	return in.each(sqlWebhooks, nil, func(s *sqlite.Stmt) error {
		in.checkWidth(s, 0, "webhooks", "version")
		in.Webhooks(scanWebhooksHead(s), scanJSON(s, 3))
		return nil
	})
}

func (in *inspection) buckets() error {
	return in.each(sqlVerifyBuckets, nil, func(s *sqlite.Stmt) error {
		b, err := scanBucket(s)
		if err != nil {
			in.UnreadableBucket("starts of type "+b.Type, err)
			return nil
		}
		in.Bucket(b)
		return nil
	})
}

func (in *inspection) types() error {
	return in.each(sqlVerifyTypes, nil, func(s *sqlite.Stmt) error {
		t, _ := scanType(s)
		in.checkWidth(s, 2, "type "+t.Name, "version")
		in.Type(t, scanJSON(s, 6))
		return nil
	})
}

func (in *inspection) templates() error {
	return in.each(sqlVerifyTemplates, nil, func(s *sqlite.Stmt) error {
		t, _ := scanTemplate(s)
		in.checkWidth(s, 2, "template "+t.Name, "version")
		in.Template(t, s.ColumnText(7), int(s.ColumnInt64(8)), scanJSON(s, 6))
		return nil
	})
}

func (in *inspection) schedules() error {
	return in.each(sqlVerifySchedules, nil, func(s *sqlite.Stmt) error {
		one, _ := scanSchedule(s)
		in.checkWidth(s, 6, "schedule "+one.Name, "version")
		row := verify.ScheduleRow{Schedule: one, Template: s.ColumnText(s.ColumnCount() - 1), Spec: scanJSON(s, 10)}
		err := in.each(sqlVerifyEdges, func(s *sqlite.Stmt) { s.BindText(1, one.Name) }, func(s *sqlite.Stmt) error {
			row.Edges = append(row.Edges, s.ColumnText(0))
			return nil
		})
		if err == nil {
			in.Schedule(row)
		}
		return err
	})
}

func (in *inspection) orphanEdges() error {
	return in.each(sqlVerifyOrphanEdges, nil, func(s *sqlite.Stmt) error {
		in.OrphanEdge(s.ColumnText(0), s.ColumnText(1))
		return nil
	})
}
