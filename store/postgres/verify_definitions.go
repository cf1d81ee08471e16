package postgres

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/verify"
)

const (
	// Each intent with whether its subject exists. The name of a group intent is the group's id,
	// unless it was not written by Rota.
	sqlVerifyIntents = `
SELECT i.kind, i.name, CASE i.kind
  WHEN 'group' THEN CASE WHEN i.name ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
    THEN EXISTS (SELECT FROM rota_groups g WHERE g.id = i.name::uuid)
    ELSE false END
  WHEN 'template' THEN EXISTS (SELECT FROM rota_templates t WHERE t.name = i.name)
  WHEN 'drop' THEN EXISTS (SELECT FROM rota_dropped d WHERE d.schedule = i.name)
  ELSE i.name <> '' END
FROM rota_intents i
ORDER BY i.kind, i.name`
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
SELECT schedule, depends_on
FROM rota_edges
ORDER BY schedule, depends_on`
	sqlVerifyOrphanEdges = `
SELECT e.schedule, e.depends_on
FROM rota_edges e
WHERE NOT EXISTS (SELECT FROM rota_schedules s WHERE s.name = e.schedule)
ORDER BY e.schedule, e.depends_on`
)

// definitions checks definitions, limits, webhooks and intents. The check of a spec also reports
// one that cannot be decoded, so the error of the scan is ignored.
func (in *inspection) definitions() error {
	for _, check := range []func() error{
		in.intents,
		in.throttle,
		in.webhooks,
		in.buckets,
		in.types,
		in.templates,
		in.schedules,
		in.orphanEdges,
	} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (in *inspection) intents() error {
	return in.each(sqlVerifyIntents, func(r row) error {
		in.Intent(rules.Intent{Kind: r.Text(0), Name: r.Text(1)}, r.Bool(2))
		return nil
	})
}

func (in *inspection) throttle() error {
	return in.each(sqlThrottle, func(r row) error {
		in.Throttle(scanThrottleHead(r), r.JSON(3))
		return nil
	})
}

func (in *inspection) webhooks() error {
	return in.each(sqlWebhooks, func(r row) error {
		in.Webhooks(scanWebhooksHead(r), r.JSON(3))
		return nil
	})
}

func (in *inspection) buckets() error {
	return in.each(sqlVerifyBuckets, func(r row) error {
		b, err := scanBucket(r)
		if err != nil {
			in.UnreadableBucket("starts of type "+b.Type, err)
			return nil
		}
		in.Bucket(b)
		return nil
	})
}

func (in *inspection) types() error {
	return in.each(sqlVerifyTypes, func(r row) error {
		t, _ := scanType(r)
		in.Type(t, r.JSON(6))
		return nil
	})
}

func (in *inspection) templates() error {
	return in.each(sqlVerifyTemplates, func(r row) error {
		t, _ := scanTemplate(r)
		in.Template(t, r.Text(7), int(r.Int(8)), r.JSON(6))
		return nil
	})
}

// schedules reads the edges first and keeps them in memory.
func (in *inspection) schedules() error {
	edges := map[string][]string{}
	err := in.each(sqlVerifyEdges, func(r row) error {
		edges[r.Text(0)] = append(edges[r.Text(0)], r.Text(1))
		return nil
	})
	if err != nil {
		return err
	}
	return in.each(sqlVerifySchedules, func(r row) error {
		one, _ := scanSchedule(r)
		in.Schedule(verify.ScheduleRow{Schedule: one, Template: r.Text(len(r) - 1), Edges: edges[one.Name], Spec: r.JSON(10)})
		return nil
	})
}

func (in *inspection) orphanEdges() error {
	return in.each(sqlVerifyOrphanEdges, func(r row) error {
		in.OrphanEdge(r.Text(0), r.Text(1))
		return nil
	})
}
